//! What the add-ons were at every moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::{Duration, Instant},
};

use addons::api::Addon;
use addons_testbed::eventually;
use kube::{Api, Client, ResourceExt, api::ListParams};
use serde_json::Value;
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::support::{LONG, get};

/// How often it is looked at what HTTP says, and at what stands in the API server.
const LOOK: Duration = Duration::from_millis(100);

/// An API server that doesn't answer isn't waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// For how long HTTP may give no answer, however busy the machine is.
const SILENCE: Duration = Duration::from_secs(10);

/// Looks at all add-ons until it is told to stop.
pub struct Recorder {
    stop: CancellationToken,
    task: JoinHandle<History>,
}

/// Every state of every add-on, over HTTP and in the API server.
#[derive(Debug, Default)]
pub struct History {
    served: BTreeMap<String, Vec<Moment>>,
    stored: BTreeMap<String, Vec<Moment>>,
    /// The objects by name: one that is deleted and made again has another.
    uids: BTreeMap<String, BTreeSet<String>>,
    /// The longest time for which each look at HTTP failed.
    silence: Duration,
}

/// What was seen from some time on; nothing where the add-on was gone.
#[derive(Debug)]
#[expect(dead_code, reason = "what isn't compared is read where a test fails")]
struct Moment {
    after: Duration,
    health: Option<String>,
    ready: String,
    observed: String,
}

impl Recorder {
    /// Goes on with what is known already.
    pub fn start(controller: SocketAddr, client: Client, mut history: History) -> Self {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let started = Instant::now();
            let addons = Api::<Addon>::all(client);
            let mut silent = None;
            while !stopped.is_cancelled() {
                let looked = Instant::now();
                if let Ok(served) = served(controller).await {
                    note(&mut history.served, served, started.elapsed());
                    silent = None;
                } else {
                    let since = *silent.get_or_insert(looked);
                    history.silence = history.silence.max(since.elapsed());
                }
                if let Ok(list) = stored(&addons).await {
                    history.note_stored(&list, started.elapsed());
                }
                // Large add-ons take their time to be read, which the rest needs as well.
                let pause = LOOK.max(looked.elapsed());
                let _ = timeout(pause, stopped.cancelled()).await;
            }
            // While a fault lasts, and in the pause after it, all looks may have failed: this one is waited for.
            let served = eventually(LONG, "add-ons over HTTP", || served(controller)).await;
            note(&mut history.served, served, started.elapsed());
            let stored = eventually(LONG, "add-ons in the API server", || stored(&addons)).await;
            history.note_stored(&stored, started.elapsed());
            history
        });
        Self { stop, task }
    }

    /// What was seen, what there is now included.
    pub async fn finish(self) -> History {
        self.stop.cancel();
        self.task.await.expect("a history")
    }
}

impl History {
    /// The objects that there are before anything is recorded: one that is deleted and made anew from now on
    /// is found.
    pub async fn of_objects(client: &Client) -> Self {
        let list = Api::<Addon>::all(client.clone()).list(&ListParams::default()).await.expect("a list");
        let mut history = Self::default();
        history.note_stored(&list.items, Duration::ZERO);
        history
    }

    fn note_stored(&mut self, addons: &[Addon], after: Duration) {
        for addon in addons {
            self.uids.entry(addon.name_any()).or_default().extend(addon.uid());
        }
        let stored = addons.iter().filter_map(|addon| serde_json::to_value(addon).ok());
        // An object is there for a moment before its status is.
        let stored = stored.filter(|addon| addon["status"].is_object());
        note(&mut self.stored, stored.collect(), after);
    }

    /// The add-on was there all the time, and its object was the same.
    pub fn kept(&self, identifier: &str) -> &Self {
        for moments in self.of(identifier) {
            assert!(
                moments.iter().all(|moment| moment.health.is_some()),
                "{identifier} was gone: {moments:#?}"
            );
        }
        let uids = self.uids.get(identifier).expect("an object");
        assert_eq!(uids.len(), 1, "{identifier} was made anew");
        self
    }

    /// The add-on never had another health than these.
    pub fn only(&self, identifier: &str, allowed: &[&str]) -> &Self {
        for moments in self.of(identifier) {
            let fits =
                |moment: &Moment| moment.health.as_deref().is_none_or(|health| allowed.contains(&health));
            assert!(
                moments.iter().all(fits),
                "{identifier} was something else than {allowed:?}: {moments:#?}"
            );
        }
        self
    }

    /// Nothing of this health was ever written of the add-on.
    pub fn never_wrote(&self, identifier: &str, health: &str) -> &Self {
        let [_, stored] = self.of(identifier);
        let wrote = |moment: &Moment| moment.health.as_deref() == Some(health);
        assert!(!stored.iter().any(wrote), "{identifier} was written as {health}: {stored:#?}");
        self
    }

    /// What is usual: `well` and `ill` stayed so, or weren't known, all was kept, and HTTP answered.
    pub fn is_honest(&self, test: &str) -> &Self {
        assert!(self.silence < SILENCE, "HTTP gave no answer for {:?}", self.silence);
        for what in ["well", "ill", "other"] {
            self.kept(&format!("{test}-{what}"));
        }
        self.only(&format!("{test}-well"), &["Healthy", "Unknown"]);
        self.only(&format!("{test}-ill"), &["Degraded", "Unknown"]);
        self.only(&format!("{test}-other"), &["Healthy", "Unknown"])
    }

    /// As [`History::is_honest`], and everything stayed known.
    pub fn is_undisturbed(&self, test: &str) -> &Self {
        self.is_honest(test);
        self.only(&format!("{test}-well"), &["Healthy"]);
        self.only(&format!("{test}-ill"), &["Degraded"]);
        self.only(&format!("{test}-other"), &["Healthy"])
    }

    fn of(&self, identifier: &str) -> [&Vec<Moment>; 2] {
        let missing = |place| format!("{identifier} was never {place}");
        let served = self.served.get(identifier).unwrap_or_else(|| panic!("{}", missing("served")));
        let stored = self.stored.get(identifier).unwrap_or_else(|| panic!("{}", missing("stored")));
        [served, stored]
    }
}

fn note(all: &mut BTreeMap<String, Vec<Moment>>, addons: Vec<Value>, after: Duration) {
    let mut missing: BTreeSet<String> = all.keys().cloned().collect();
    for addon in addons {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let conditions = addon["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let observed = conditions.iter().find(|condition| condition["type"] == "Observed");
        let identifier = text(&addon["spec"]["identifier"]);
        missing.remove(&identifier);
        push(
            all.entry(identifier).or_default(),
            Moment {
                after,
                health: Some(text(&addon["status"]["health"])),
                ready: text(&addon["status"]["ready"]),
                observed: observed.map(|observed| text(&observed["status"])).unwrap_or_default(),
            },
        );
    }
    for identifier in missing {
        let gone = Moment { after, health: None, ready: String::new(), observed: String::new() };
        push(all.entry(identifier).or_default(), gone);
    }
}

fn push(moments: &mut Vec<Moment>, moment: Moment) {
    let says = |moment: &Moment| (moment.health.clone(), moment.ready.clone(), moment.observed.clone());
    if moments.last().is_none_or(|last| says(last) != says(&moment)) {
        moments.push(moment);
    }
}

/// What HTTP answers, within [`PATIENCE`].
async fn served(controller: SocketAddr) -> Result<Vec<Value>, String> {
    let answer = timeout(PATIENCE, get(controller, "/api/v1alpha1/addons")).await;
    let (_, body) = answer.map_err(|late| late.to_string())??;
    let mut list: Value = serde_json::from_str(&body).map_err(|error| format!("{error}: {body}"))?;
    match list["items"].take() {
        Value::Array(items) => Ok(items),
        _ => Err(body),
    }
}

/// What stands in the API server, if it answers within [`PATIENCE`].
async fn stored(addons: &Api<Addon>) -> Result<Vec<Addon>, String> {
    let list = timeout(PATIENCE, addons.list(&ListParams::default())).await;
    Ok(list.map_err(|late| late.to_string())?.map_err(|error| error.to_string())?.items)
}
