//! The API server, the definitions of our resources, and what is served.

use std::collections::BTreeMap;

use futures::future::join;
use kube::client::APIGroupDiscovery;
use serde_json::Value;

use super::{
    ask::{Asker, Trouble},
    finding::Finding,
    shell::safe,
};
use crate::{
    api::{self, GROUP, VERSION},
    ctl::args::{ACCOUNT, Doctor, NAMESPACE},
    discover::{ResourceName, Selection},
    model::text,
};

/// What installs everything that a cluster needs.
const INSTALL: &str = "kubectl apply --server-side -k deploy/";

/// What is to be known before it is installed so.
const OVERLAY: &str = "deploy/ is for an overlay that says where the image is: docs/install.md";

/// What finds it where it was installed otherwise.
const SEARCH: &str = "kubectl get deployments -A -l app.kubernetes.io/name=addon-controller";

/// What the controller consists of isn't there, and how it comes there; `deploy/` puts it into no other
/// namespace than the usual one.
pub(super) fn not_installed(check: &'static str, what: String, args: &Doctor) -> Finding {
    let finding = Finding::fail(check, what);
    if (&*args.namespace, &*args.service_account) == (NAMESPACE, ACCOUNT) {
        finding.detail(OVERLAY).command(INSTALL)
    } else {
        finding.command(SEARCH)
    }
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Whether the API server can be reached, and whether it answers anything at all.
pub(super) async fn server(asker: &Asker) -> (Finding, bool) {
    let (check, address) = ("server", asker.address());
    match asker.get("/version").await {
        Ok(version) => {
            let version = text::word(version["gitVersion"].as_str().unwrap_or("of an unknown version"));
            (Finding::ok(check, format!("Kubernetes {version} at {address}")), true)
        }
        Err(trouble) if trouble.is(403) => {
            (Finding::warn(check, format!("{address} answers; its version can't be read: {trouble}")), true)
        }
        Err(trouble) if trouble.is(401) => {
            let what = format!("{address} doesn't accept these credentials: {trouble}");
            (Finding::fail(check, what).command("kubectl config get-contexts"), false)
        }
        Err(trouble) => {
            let what = format!("{address} can't be reached, the rest can't be told: {trouble}");
            (Finding::fail(check, what).command("kubectl cluster-info"), false)
        }
    }
}

/// Whether our resources are defined as this program knows them.
pub(super) async fn definitions(asker: &Asker, groups: &[APIGroupDiscovery]) -> Finding {
    let (addons, rules) = join(
        asker.get(&format!("{DEFINITIONS}/addons.{GROUP}")),
        asker.get(&format!("{DEFINITIONS}/statusrules.{GROUP}")),
    )
    .await;
    let ours = [
        ("addons", addons, serde_json::to_value(api::crd())),
        ("statusrules", rules, serde_json::to_value(api::status_rule_crd())),
    ];
    let defects = ours.into_iter().filter_map(|(plural, theirs, ours)| {
        defect(plural, &theirs, &ours.unwrap_or_default(), is_served(groups, plural))
    });
    definitions_of(&defects.collect::<Vec<_>>())
}

pub(super) fn definitions_of(found: &[Defect]) -> Finding {
    let check = "crds";
    let said = found.iter().map(|defect| defect.text().to_owned());
    if found.is_empty() {
        return Finding::ok(check, format!("addons and statusrules of {GROUP}/{VERSION} are served"));
    }
    if found.iter().all(|defect| matches!(defect, Defect::Unseen(_))) {
        let what = format!("addons and statusrules of {GROUP}/{VERSION} are served, more can't be told");
        return Finding::ok(check, what).details(said);
    }
    let is_outdated = found.iter().all(|defect| matches!(defect, Defect::Outdated(_) | Defect::Unseen(_)));
    let what = "the definitions of our resources aren't as they should be";
    let finding = if is_outdated { Finding::warn(check, what) } else { Finding::fail(check, what) };
    finding.details(said).command("kubectl apply --server-side -k crds/")
}

/// What is wrong with a definition.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Defect {
    /// It is of no use.
    Broken(String),
    /// It lacks fields.
    Outdated(String),
    /// It works, and can't be read.
    Unseen(String),
}

impl Defect {
    fn text(&self) -> &str {
        match self {
            Self::Broken(text) | Self::Outdated(text) | Self::Unseen(text) => text,
        }
    }
}

pub(super) fn defect(
    plural: &str,
    theirs: &Result<Value, Trouble>,
    ours: &Value,
    is_served: bool,
) -> Option<Defect> {
    let name = format!("{plural}.{GROUP}");
    let theirs = match theirs {
        Ok(theirs) => theirs,
        Err(trouble) if trouble.is(404) => return Some(Defect::Broken(format!("{name} isn't installed"))),
        Err(trouble) if is_served => return Some(Defect::Unseen(trouble.to_string())),
        Err(trouble) => return Some(Defect::Broken(format!("{name} isn't served: {trouble}"))),
    };
    for wanted in ["Established", "NamesAccepted"] {
        let conditions = theirs["status"]["conditions"].as_array().into_iter().flatten();
        let found = conditions.into_iter().find(|condition| condition["type"] == wanted);
        if found.is_none_or(|condition| condition["status"] != "True") {
            let why = found.and_then(|condition| condition["message"].as_str()).unwrap_or("not yet");
            return Some(Defect::Broken(format!("{name} isn't {wanted}: {}", text::message(why))));
        }
    }
    let Some(version) = version_of(theirs).filter(|version| version["served"] == true) else {
        return Some(Defect::Broken(format!("{name} doesn't serve {VERSION}, the version of this program")));
    };
    let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
    let ours = version_of(ours).map(schema).unwrap_or_default();
    let mut missing = Vec::new();
    missing_fields(&ours, &schema(version), "", &mut missing);
    (!missing.is_empty()).then(|| {
        let fields = missing.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        let more = if missing.len() > 5 { ", ..." } else { "" };
        Defect::Outdated(format!("{name} is of another version and lacks {fields}{more}"))
    })
}

fn version_of(definition: &Value) -> Option<&Value> {
    definition["spec"]["versions"].as_array()?.iter().find(|version| version["name"] == VERSION)
}

/// The fields that `ours` has and `theirs` would prune.
fn missing_fields(ours: &Value, theirs: &Value, path: &str, missing: &mut Vec<String>) {
    if theirs["x-kubernetes-preserve-unknown-fields"] == true {
        return;
    }
    for (name, field) in ours["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        match theirs["properties"].get(name) {
            Some(other) => missing_fields(field, other, &path, missing),
            None => missing.push(path),
        }
    }
    if ours["items"].is_object() {
        missing_fields(&ours["items"], &theirs["items"], path, missing);
    }
}

fn is_served(groups: &[APIGroupDiscovery], plural: &str) -> bool {
    resources(groups)
        .any(|(group, version, resource)| group == GROUP && version == VERSION && resource == plural)
}

/// Group, version and plural of all that is served.
fn resources(groups: &[APIGroupDiscovery]) -> impl Iterator<Item = (&str, &str, &str)> {
    groups.iter().flat_map(|group| {
        group.versions.iter().flat_map(move |version| {
            version.resources.iter().map(move |resource| {
                (
                    group_name(group),
                    version.version.as_deref().unwrap_or_default(),
                    resource.resource.as_deref().unwrap_or_default(),
                )
            })
        })
    })
}

/// The name of a group; empty for the core group.
pub(super) fn group_name(group: &APIGroupDiscovery) -> &str {
    group.metadata.as_ref().and_then(|metadata| metadata.name.as_deref()).unwrap_or_default()
}

/// Whether every group says what it serves.
pub(super) async fn discovery(
    asker: &Asker,
    groups: &[APIGroupDiscovery],
    undiscovered: Option<&str>,
) -> Finding {
    if let Some(why) = undiscovered {
        let what = format!("it can't be told which kinds are served: {}", text::message(why));
        return Finding::fail("discovery", what).command("kubectl get --raw /apis");
    }
    let path = "/apis/apiregistration.k8s.io/v1/apiservices";
    let services = asker.list(path, |service| {
        let name = service["metadata"]["name"].as_str().map(text::name).unwrap_or_default();
        let conditions = service["status"]["conditions"].as_array().into_iter().flatten();
        let failed =
            conditions.filter(|condition| condition["type"] == "Available" && condition["status"] != "True");
        let why =
            failed.map(|condition| text::message(condition["message"].as_str().unwrap_or_default())).next();
        (name, why)
    });
    discovery_of(
        groups,
        services
            .await
            .map(|services| services.into_iter().filter_map(|(name, why)| Some((name, why?))).collect()),
    )
}

/// `failed` are the APIServices that aren't available, and why. Where they can't be read, the documents alone
/// tell.
pub(super) fn discovery_of(
    groups: &[APIGroupDiscovery],
    failed: Result<BTreeMap<String, String>, Trouble>,
) -> Finding {
    let stale = groups.iter().flat_map(|group| {
        let stale = group.versions.iter().filter(|version| version.freshness.as_deref() == Some("Stale"));
        stale.map(move |version| {
            format!("{}.{}", version.version.as_deref().unwrap_or_default(), group_name(group))
        })
    });
    let mut broken: BTreeMap<String, String> =
        stale.map(|service| (text::name(&service), "what it serves now isn't known".to_owned())).collect();
    let unread = failed.as_ref().err().map(|trouble| format!("APIServices can't be listed: {trouble}"));
    broken.extend(failed.unwrap_or_default());
    if broken.is_empty() {
        let count = resources(groups).count();
        let what = format!("{} API groups, {count} resources, all up to date", groups.len());
        return Finding::ok("discovery", what).details(unread);
    }
    let is_wanted = |service: &String| {
        let group = service.split_once('.').map(|(_, group)| group).unwrap_or_default();
        let any = ResourceName { group: group.to_owned(), plural: "any".to_owned() };
        Selection::default().takes(&any)
    };
    let what = match broken.len() {
        1 => "an API isn't available; its kinds can't be seen as they are now".to_owned(),
        count => format!("{count} APIs aren't available; their kinds can't be seen as they are now"),
    };
    let finding = if broken.keys().any(is_wanted) {
        Finding::fail("discovery", what)
    } else {
        Finding::warn("discovery", what)
    };
    let commands =
        broken.keys().filter_map(|name| Some(format!("kubectl get apiservice {} -o yaml", safe(name)?)));
    let commands: Vec<String> = commands.collect();
    let lines = broken.iter().map(|(name, why)| format!("{name}: {why}"));
    finding.details(lines.chain(unread)).commands(commands)
}
