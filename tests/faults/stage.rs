//! A controller behind a proxy, and add-ons of two kinds that have nothing to do with each other.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use addons_testbed::{Ask, Fault, Injected, Proxy, User, When, eventually};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    history::{History, Recorder},
    lane::Lane,
    support::{LONG, Running},
};

/// How soon a change must be seen whose kind has no part in a fault.
pub const ON_TIME: Duration = Duration::from_secs(5);

/// The same where the machine itself is busy, and the API server with it.
const UNDER_LOAD: Duration = Duration::from_secs(20);

/// How often it is looked whether others are on time.
const BETWEEN: Duration = Duration::from_millis(700);

/// The requests for widgets: `When::under(WIDGETS)`.
pub const WIDGETS: &str = "/apis/widgets.faults.example/";

/// The group and the kind of [`Kind::Widget`] and [`Kind::Gadget`].
pub const GROUPS: [(&str, &str); 2] =
    [("widgets.faults.example", "Widget"), ("gadgets.faults.example", "Gadget")];

/// A cluster, with the one controller that runs on it now.
pub struct Stage {
    controller: Option<Running>,
    pub proxy: Proxy,
    pub client: Client,
    user: User,
    name: &'static str,
    // Last: others may have it when all else is gone.
    pub cluster: Lane,
}

impl Stage {
    /// The cluster without what others left, a proxy, and a controller that is ready.
    pub async fn set(name: &'static str) -> Self {
        let mut stage = Self::without_controller(name).await;
        stage.start().await;
        stage
    }

    /// The same with three add-ons: see [`Stage::cast`].
    pub async fn with_cast(name: &'static str) -> Self {
        let stage = Self::set(name).await;
        stage.cast().await;
        stage
    }

    pub async fn without_controller(name: &'static str) -> Self {
        let cluster = Lane::take().await;
        let client = cluster.client().await.expect("a client");
        for kind in [Kind::Widget, Kind::Gadget, Kind::ConfigMap] {
            let all = kind.api(&client);
            let labelled = ListParams::default().labels("faults=made");
            all.delete_collection(&DeleteParams::default(), &labelled).await.expect("a clean cluster");
        }
        let proxy = Proxy::start(&cluster).await.expect("a proxy");
        let user = proxy.user(cluster.admin()).expect("a kubeconfig");
        Self { controller: None, proxy, client, user, name, cluster }
    }

    /// Who the controller is from its next start on.
    pub fn act_as(&mut self, user: &User) {
        self.user = self.proxy.user(user).expect("a kubeconfig");
    }

    pub fn user(&self) -> &User {
        &self.user
    }

    pub fn controller(&self) -> &Running {
        self.controller.as_ref().expect("a controller runs")
    }

    /// Starts the controller, again if it runs, and waits until it is ready.
    pub async fn start(&mut self) {
        self.begin();
        self.controller().ready().await;
    }

    /// Starts the controller, again if it runs.
    pub fn begin(&mut self) {
        self.stop();
        self.controller = Some(Running::start(self.user.kubeconfig(), &["--removal-grace", "1s"]));
    }

    /// Starts the controller, again if it runs, and records it from its first moment on. What it finds is known.
    pub async fn begin_recorded(&mut self) -> Recorder {
        self.stop();
        let found = History::of_objects(&self.client).await;
        self.begin();
        self.recorder(found)
    }

    pub fn stop(&mut self) {
        self.controller = None;
    }

    /// An identifier of this test.
    pub fn id(&self, what: &str) -> String {
        format!("{}-{what}", self.name)
    }

    /// Makes three add-ons and waits until they are as they should be: `well` and `ill` of one widget
    /// each, `other` of a gadget.
    pub async fn cast(&self) {
        self.put(Kind::Widget, "well", "well", Some(true)).await;
        self.put(Kind::Widget, "ill", "ill", Some(false)).await;
        self.put(Kind::Gadget, "other", "other", Some(true)).await;
        for (what, health) in [("well", "Healthy"), ("ill", "Degraded"), ("other", "Healthy")] {
            self.shows(what, LONG, |status| status["health"] == health).await;
        }
        // What is shown is written a moment later.
        self.agrees(LONG).await;
    }

    /// Makes or changes an object of an add-on; where `ready` is said, its status says it.
    pub async fn put(&self, kind: Kind, name: &str, addon: &str, ready: Option<bool>) {
        let status = ready.map(|ready| {
            let condition = if ready {
                json!({"type": "Ready", "status": "True", "reason": "Done"})
            } else {
                json!({"type": "Ready", "status": "False", "reason": "InstallFailed", "message": "no luck"})
            };
            json!({"conditions": [condition]})
        });
        self.write(kind, name, &[(&format!("addons.x-k8s.io/{}", self.id(addon)), "")], status).await;
    }

    /// Makes or changes an object with exactly these labels.
    pub async fn write(&self, kind: Kind, name: &str, labels: &[(&str, &str)], status: Option<Value>) {
        let name = self.id(name);
        let resource = kind.resource();
        let mut object = json!({
            "apiVersion": resource.api_version, "kind": resource.kind,
            "metadata": {"name": name, "labels": {"faults": "made"}},
        });
        for (key, value) in labels {
            object["metadata"]["labels"][*key] = (*value).into();
        }
        let api = kind.api(&self.client);
        let apply = PatchParams::apply("faults").force();
        api.patch(&name, &apply, &Patch::Apply(&object)).await.expect("an object");
        if let Some(status) = status {
            let patch = Patch::Merge(json!({"status": status}));
            api.patch_status(&name, &PatchParams::default(), &patch).await.expect("a status");
        }
    }

    pub async fn delete(&self, kind: Kind, name: &str) {
        kind.api(&self.client).delete(&self.id(name), &DeleteParams::default()).await.expect("deleted");
    }

    /// Waits until the controller shows a status of which this holds.
    pub async fn shows(&self, addon: &str, within: Duration, holds: impl Fn(&Value) -> bool) -> Value {
        let identifier = self.id(addon);
        eventually(within, &format!("{identifier} is as it should be"), || async {
            let status = self.controller().addon(&identifier).await?["status"].take();
            if holds(&status) { Ok(status) } else { Err(status.to_string()) }
        })
        .await
    }

    /// Waits until the controller shows no such add-on.
    pub async fn lacks(&self, addon: &str, within: Duration) {
        let identifier = self.id(addon);
        eventually(within, &format!("{identifier} is gone"), || async {
            match self.controller().addon(&identifier).await {
                Err(error) if error.starts_with("404") => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    }

    /// Changes what has nothing to do with widgets, and waits until that is seen, on time.
    pub async fn others_are_on_time(&self) {
        self.others_are_seen(ON_TIME).await;
    }

    async fn others_are_seen(&self, within: Duration) {
        static VERSION: AtomicU64 = AtomicU64::new(1);
        let version = VERSION.fetch_add(1, Ordering::Relaxed).to_string();
        let label = format!("addons.x-k8s.io/{}", self.id("other"));
        let labels = [(&*label, ""), ("app.kubernetes.io/version", &*version)];
        self.write(Kind::Gadget, "other", &labels, None).await;
        self.shows("other", within, |status| status["version"] == *version).await;
    }

    /// A fault that concerns only widgets lasts so many seconds: others are on time all along.
    pub async fn goes_on(&self, seconds: u64) {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            self.others_are_on_time().await;
            sleep(BETWEEN).await;
        }
    }

    /// Others are on time all along, until this is done.
    pub async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        self.others_are_seen_beside(work, ON_TIME).await
    }

    /// Others are seen all along, until this is done, which keeps the machine busy.
    pub async fn under_load<T>(&self, load: impl Future<Output = T>) -> T {
        self.others_are_seen_beside(load, UNDER_LOAD).await
    }

    async fn others_are_seen_beside<T>(&self, work: impl Future<Output = T>, within: Duration) -> T {
        let over = Cell::new(false);
        let work = async {
            let done = work.await;
            over.set(true);
            done
        };
        let others = async {
            while !over.get() {
                self.others_are_seen(within).await;
                sleep(BETWEEN).await;
            }
        };
        tokio::join!(work, others).0
    }

    /// Changes things while nothing is heard of widgets, whose watch breaks then: it is the next one that tells.
    pub async fn unheard(&self, change: impl Future<Output = ()>) {
        let widgets = When::under(WIDGETS);
        let stall = self.proxy.inject(widgets.clone(), Fault::Stall);
        happened(&stall, 1).await;
        change.await;
        let broken = self.proxy.inject_times(1, widgets.watches(), Fault::Reset);
        drop(stall);
        happened(&broken, 1).await;
    }

    /// Has widgets be asked for anew: the version that they were watched from is said to be too old.
    pub async fn relists(&self) {
        let widgets = When::under(WIDGETS);
        let lists = self.proxy.count(&widgets.clone().lists());
        let too_old = self.proxy.inject_times(1, widgets.clone().watches(), Fault::Expired);
        // Unless it ends by itself.
        let _broken = self.proxy.inject_times(1, widgets.watches(), Fault::Reset);
        happened(&too_old, 1).await;
        self.lists_widgets(lists).await;
    }

    /// Waits until there have been more lists of widgets than so many.
    pub async fn lists_widgets(&self, more_than: u64) {
        eventually(LONG, "widgets are listed", || async {
            (self.proxy.count(&When::under(WIDGETS).lists()) > more_than).then_some(())
        })
        .await;
    }

    /// How many kinds have been watched.
    pub fn watched_kinds(&self) -> u64 {
        self.proxy.busiest().iter().filter(|(_, ask, _)| *ask == Ask::Watch).count() as u64
    }

    /// What the controller says that it doesn't see of a resource, other than that it begins to.
    pub async fn gap(&self, resource: &str) -> Result<Value, String> {
        let (_, list) = self.controller().get("/api/v1alpha1/addons").await?;
        let list: Value = serde_json::from_str(&list).map_err(|error| error.to_string())?;
        let gaps = list["coverage"]["gaps"].as_array().ok_or("no gaps")?;
        let gap = gaps.iter().find(|gap| gap["resource"] == resource && gap["state"] != "syncing");
        gap.cloned().ok_or_else(|| format!("no gap among {gaps:?}"))
    }

    /// Has the watches that are open, and begin now, break off.
    pub async fn break_watches(&self, when: When, watches: usize) {
        let broken = self.proxy.inject_times(watches, when.watches(), Fault::Reset);
        happened(&broken, watches as u64).await;
    }

    /// Records what the add-ons are from now on. What there is now is known before anything is done to it.
    pub async fn record(&self) -> Recorder {
        self.recorder(History::of_objects(&self.client).await)
    }

    fn recorder(&self, found: History) -> Recorder {
        Recorder::start(self.controller().address, self.client.clone(), found)
    }

    /// How many writes the controller has counted with this result.
    pub async fn writes(&self, result: &str) -> u64 {
        let (_, metrics) = self.controller().get("/metrics").await.expect("metrics");
        let line =
            metrics.lines().find(|line| line.contains(&format!("status_writes_total{{result=\"{result}\"")));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("a counter of writes")
    }
}

/// A fault lasts so many seconds. Nothing is waited for: what is allowed is counted afterwards.
pub async fn lasts(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

/// Waits until a fault has happened so often.
pub async fn happened(fault: &Injected, times: u64) {
    eventually(LONG, &format!("it happens {times} times"), || async {
        let seen = fault.happened();
        if seen >= times { Ok(()) } else { Err(seen.to_string()) }
    })
    .await;
}

/// What tests make objects of.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Widget,
    Gadget,
    ConfigMap,
}

impl Kind {
    pub fn resource(self) -> ApiResource {
        let gvk = match self {
            Self::Widget => GroupVersionKind::gvk(GROUPS[0].0, "v1", GROUPS[0].1),
            Self::Gadget => GroupVersionKind::gvk(GROUPS[1].0, "v1", GROUPS[1].1),
            Self::ConfigMap => GroupVersionKind::gvk("", "v1", "ConfigMap"),
        };
        ApiResource::from_gvk(&gvk)
    }

    pub fn api(self, client: &Client) -> Api<DynamicObject> {
        match self {
            Self::ConfigMap => Api::namespaced_with(client.clone(), "default", &self.resource()),
            _ => Api::all_with(client.clone(), &self.resource()),
        }
    }
}
