//! Whether the controller runs, and what it says of itself.

use std::collections::BTreeMap;

use futures::future::join;
use serde::Deserialize;
use serde_json::Value;

use super::{
    ask::{Asker, Trouble},
    cluster::not_installed,
    finding::Finding,
    shell::quoted,
};
use crate::{
    ctl::{args::Doctor, server::clean},
    model::{Timestamp, text},
};

/// The Service of deploy/.
const SERVICE: &str = "addon-controller";

/// How long the engine may be silent, in seconds: as long as for its own probe.
const MAX_HEARTBEAT: u64 = 60;

/// How old what it read of the kinds that are served may be, in seconds: it reads every two minutes.
const MAX_DISCOVERY: u64 = 300;

/// Where the controller is asked.
pub(super) enum Place {
    /// In the cluster, through the API server.
    Cluster(Asker),
    /// Where the user says.
    Elsewhere(Asker),
    /// Where the user says, and nothing can be asked there.
    Unusable(String, String),
}

/// What it answered.
pub(super) struct Seen {
    ready: Result<(u16, String), Trouble>,
    watches: Result<Watches, Trouble>,
}

/// `/debug/watches`, as far as it is needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Watches {
    pub version: String,
    pub heartbeat_age: u64,
    pub writes_held: bool,
    pub marker_label: Option<String>,
    pub kinds: BTreeMap<String, usize>,
    pub discovery: Discovered,
    pub watches: Vec<Watch>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Discovered {
    pub age: Option<u64>,
    pub stale_groups: Vec<String>,
    pub error: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Watch {
    pub group: String,
    pub version: String,
    pub resource: String,
    pub state: String,
    pub message: String,
    pub since: Option<Timestamp>,
    pub components: usize,
    pub heard_age: Option<u64>,
    pub drift: u64,
}

impl Watches {
    /// What is known, if anything is.
    pub fn known(seen: &Seen) -> Option<&Self> {
        seen.watches.as_ref().ok()
    }
}

impl Watch {
    /// `gears.gears.example`, as kubectl takes it.
    pub fn name(&self) -> String {
        if self.group.is_empty() {
            self.resource.clone()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }
}

impl Place {
    /// Asks the controller.
    pub async fn watches(&self, args: &Doctor) -> Seen {
        let (asker, root) = match self {
            Self::Cluster(asker) => {
                let service = format!("services/{SERVICE}:http/proxy");
                (asker, format!("/api/v1/namespaces/{}/{service}", args.namespace))
            }
            Self::Elsewhere(asker) => (asker, String::new()),
            Self::Unusable(_, why) => {
                let trouble = Trouble { code: None, message: text::message(why) };
                return Seen { ready: Err(trouble.clone()), watches: Err(trouble) };
            }
        };
        let (ready, watches) = (format!("{root}/readyz?verbose"), format!("{root}/debug/watches"));
        let (ready, watches) = join(asker.fetch(&ready), asker.get(&watches)).await;
        let said = |(code, body): (u16, Vec<u8>)| (code, String::from_utf8_lossy(&body).into_owned());
        Seen { ready: ready.map(said), watches: watches.and_then(read) }
    }
}

fn read(mut value: Value) -> Result<Watches, Trouble> {
    clean(&mut value);
    serde_json::from_value(value).map_err(|error| Trouble {
        code: None,
        message: text::message(&format!("/debug/watches can't be understood: {error}")),
    })
}

/// Whether a Deployment of the controller's service account is available; `None` where the user says that
/// it runs elsewhere.
pub(super) async fn runs(asker: &Asker, place: &Place, args: &Doctor) -> Option<Finding> {
    if !matches!(place, Place::Cluster(_)) {
        return None;
    }
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", args.namespace);
    Some(runs_of(asker.list(&path, Value::clone).await, args))
}

pub(super) fn runs_of(deployments: Result<Vec<Value>, Trouble>, args: &Doctor) -> Finding {
    let check = "controller";
    let (namespace, account) = (&args.namespace, &args.service_account);
    let deployments = match deployments {
        Ok(deployments) => deployments,
        Err(trouble) => {
            return Finding::warn(check, format!("whether it runs in {namespace} can't be told: {trouble}"));
        }
    };
    let runs_as =
        |deployment: &&Value| deployment["spec"]["template"]["spec"]["serviceAccountName"] == **account;
    let Some(found) = deployments.iter().find(runs_as) else {
        let what = format!("no Deployment in {namespace} runs as {account}");
        let hint = "-n, --service-account and --controller URL say where it is instead";
        return not_installed(check, what, args).detail(hint);
    };
    let name = text::name(found["metadata"]["name"].as_str().unwrap_or_default());
    if found["spec"]["replicas"] == 0 {
        let scale = format!("kubectl -n {namespace} scale deployment/{} --replicas=1", quoted(&name));
        return Finding::fail(check, format!("Deployment {namespace}/{name} is scaled to no replicas"))
            .command(scale);
    }
    let conditions = found["status"]["conditions"].as_array().into_iter().flatten();
    let available = conditions.into_iter().find(|condition| condition["type"] == "Available");
    if available.is_some_and(|condition| condition["status"] == "True") {
        return Finding::ok(check, format!("Deployment {namespace}/{name} is available"));
    }
    let why = available.and_then(|condition| condition["message"].as_str()).unwrap_or("it says nothing yet");
    Finding::fail(check, format!("Deployment {namespace}/{name} isn't available: {}", text::message(why)))
        .command(format!("kubectl -n {namespace} describe deployment,pod"))
}

/// Whether the controller answers, is ready and has seen the cluster lately.
pub(super) fn endpoint(place: &Place, seen: &Seen, args: &Doctor) -> Finding {
    let check = "endpoint";
    let watches = match (&seen.watches, place) {
        (Ok(watches), _) => watches,
        (Err(trouble), Place::Cluster(_)) => {
            let what = format!("the controller can't be asked through the API server: {trouble}");
            return Finding::warn(check, what)
                .command(format!("kubectl -n {} port-forward svc/{SERVICE} 8080:80", args.namespace))
                .command(again(args));
        }
        (Err(trouble), Place::Elsewhere(asker)) => {
            let what = format!("{} doesn't tell what it watches: {trouble}", text::message(asker.address()));
            let ask = format!("{}/livez?verbose", asker.address());
            return Finding::fail(check, what).command(format!("curl --max-time 10 {}", quoted(&ask)));
        }
        (Err(trouble), Place::Unusable(url, _)) => {
            return Finding::fail(check, format!("{} can't be asked: {trouble}", text::message(url)));
        }
    };
    let faults = faults(watches, &seen.ready);
    let mut finding = if faults.is_empty() {
        let heard = watches.watches.iter().filter_map(|watch| watch.heard_age).min();
        let heard =
            heard.map_or(String::new(), |age| format!(", last heard from the API server {age} s ago"));
        Finding::ok(check, format!("ready, version {}{heard}", watches.version))
    } else {
        Finding::fail(check, "the controller doesn't see the cluster as it is now").details(faults)
    };
    if watches.version != env!("CARGO_PKG_VERSION") {
        let ours = env!("CARGO_PKG_VERSION");
        finding = finding.detail(format!("it is of version {}, and this program of {ours}", watches.version));
    }
    match (&watches.marker_label, &args.marker) {
        (Some(theirs), None) => {
            finding = finding.detail(format!(
                "it sees only what carries the label {theirs}: --marker-label {theirs} names what doesn't"
            ));
        }
        (Some(theirs), Some(ours)) if theirs == ours.as_str() => {}
        (theirs, Some(ours)) => {
            let theirs = theirs.as_deref().unwrap_or("none");
            finding = finding.detail(format!("its marker label is {theirs}, and not {ours}"));
        }
        (None, None) => {}
    }
    finding
}

/// The same command, for a controller at the end of a port-forward.
fn again(args: &Doctor) -> String {
    let mut command = "addonctl doctor --controller http://127.0.0.1:8080".to_owned();
    for (flag, value) in args.said() {
        command.push_str(&format!(" {flag} {}", quoted(&value)));
    }
    command
}

pub(super) fn faults(watches: &Watches, ready: &Result<(u16, String), Trouble>) -> Vec<String> {
    let mut faults = Vec::new();
    match ready {
        Ok((200, _)) => {}
        Ok((code, said)) => {
            let failed = said.lines().find(|line| line.starts_with("[-]")).unwrap_or(said);
            faults.push(format!("it isn't ready ({code}): {}", text::message(failed)));
        }
        Err(trouble) => faults.push(format!("it isn't ready: {trouble}")),
    }
    if watches.heartbeat_age > MAX_HEARTBEAT {
        faults.push(format!("it has been stuck for {} s", watches.heartbeat_age));
    }
    if watches.writes_held {
        faults.push("Addon objects stay as they are for now: kinds of several API groups fail".to_owned());
    }
    let discovery = &watches.discovery;
    if let Some(error) = &discovery.error {
        faults.push(format!("it can't read which kinds are served: {error}"));
    }
    match discovery.age {
        Some(age) if age > MAX_DISCOVERY => {
            faults.push(format!("it read {age} s ago which kinds are served"));
        }
        None if discovery.error.is_none() => faults.push("it hasn't read which kinds are served".to_owned()),
        _ => {}
    }
    faults
}
