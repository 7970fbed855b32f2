//! All watches: one follower a kind, begun when a kind is served and ended when it isn't any more.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::{Client, client::Body};
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Feed,
    components::{ComponentReader, News, Report},
    follow::{Turns, follow},
    live_rules::LiveRules,
    trigger::TriggerReader,
};
use crate::{
    api::{LabelPrefix, MarkerLabel},
    discover::{Catalogue, ResourceName, Selection, discover},
    metrics::{Discovery, Metrics},
    model::{Kind, StatusReporting, Timestamp},
    summary::WatchState,
};

/// How many kinds are listed at the same time: the API server gives one client a bounded share.
const FIRST_LISTS: usize = 8;

/// How often what is served is read without a sign of change.
const REFRESH: Duration = Duration::from_secs(120);

/// When what is served is read after a sign of change: soon, and again, since the discovery
/// document lags behind.
const AFTER_TRIGGER: [Duration; 4] = [
    Duration::from_millis(80),
    Duration::from_millis(500),
    Duration::from_millis(1500),
    Duration::from_secs(5),
];

/// How long discovery documents must lack a kind before it is taken for gone.
const CONFIRMATION: Duration = Duration::from_secs(2);

/// How long the API server may take to say whether it is ready.
const READINESS: Duration = Duration::from_secs(5);

/// How long after it ended unexpectedly a follower is begun again.
const RESTART: Duration = Duration::from_secs(5);

/// What is watched, and for whom.
pub struct Fleet {
    client: Client,
    selection: Selection,
    prefix: LabelPrefix,
    marker: Option<MarkerLabel>,
    rules: LiveRules,
    metrics: Metrics,
    news: mpsc::Sender<Report>,
    catalogue: Catalogue,
    running: BTreeMap<ResourceName, Running>,
    tasks: JoinSet<()>,
    turns: Turns,
    /// Kinds that a discovery document lacked, and since when.
    missing: BTreeMap<ResourceName, Instant>,
}

struct Running {
    kind: Arc<Kind>,
    task: Id,
    cancel: CancellationToken,
}

impl Fleet {
    /// A fleet that sends what it sees to `news`.
    pub fn new(
        client: Client,
        selection: Selection,
        prefix: LabelPrefix,
        rules: LiveRules,
        metrics: Metrics,
        news: mpsc::Sender<Report>,
    ) -> Self {
        Self {
            client,
            selection,
            prefix,
            marker: None,
            rules,
            metrics,
            news,
            catalogue: Catalogue::default(),
            running: BTreeMap::new(),
            tasks: JoinSet::new(),
            turns: Turns::new(FIRST_LISTS),
            missing: BTreeMap::new(),
        }
    }

    /// The same fleet, which sees of all kinds only the objects that carry the marker.
    #[must_use]
    pub fn marked(self, marker: Option<MarkerLabel>) -> Self {
        Self { marker, ..self }
    }

    /// The turns of its followers, to [hurry](Turns::hurry) them.
    pub fn turns(&self) -> Turns {
        self.turns.clone()
    }

    /// Watches until `cancel`. `discovered` is told what is served, each time before it is acted upon.
    pub async fn run(mut self, discovered: watch::Sender<Option<Arc<Catalogue>>>, cancel: CancellationToken) {
        let (trigger, mut triggered) = mpsc::channel(1);
        self.watch_for_changes(&trigger, &cancel);
        // The first document may be that of a server that isn't up whole yet: it is read again soon.
        let mut due: Vec<Instant> = AFTER_TRIGGER.iter().map(|after| Instant::now() + *after).collect();
        due.push(Instant::now());
        let mut complaint = None;
        loop {
            let next = due.iter().min().copied().unwrap_or_else(|| Instant::now() + REFRESH);
            tokio::select! {
                () = cancel.cancelled() => break,
                Some(()) = triggered.recv() => {
                    let now = Instant::now();
                    // Signs that keep coming don't put the first reading off.
                    let first = due.iter().min().copied();
                    due = AFTER_TRIGGER.iter().map(|after| now + *after).collect();
                    due.extend(first.filter(|first| *first < now + AFTER_TRIGGER[0]));
                }
                Some(ended) = self.tasks.join_next_with_id() => self.restart(ended).await,
                () = tokio::time::sleep_until(next) => {
                    let now = Instant::now();
                    due.retain(|at| *at > now);
                    let reading = discover(&self.client, &self.selection, &self.catalogue);
                    match cancel.run_until_cancelled(reading).await {
                        None => break,
                        Some(Ok(catalogue)) => {
                            if complaint.take().is_some() {
                                tracing::info!("the API server says again which kinds it serves");
                                self.turns.hurry();
                            }
                            let lacks = self.catalogue.kinds.keys().any(|name| !catalogue.kinds.contains_key(name));
                            if lacks && is_starting(&self.client).await {
                                self.missing.clear();
                            }
                            let catalogue = self.confirmed(catalogue);
                            if !self.missing.is_empty() {
                                due.push(now + CONFIRMATION);
                            }
                            self.metrics.discovered(Discovery {
                                read: Some(Timestamp::now()),
                                stale: catalogue.stale.iter().cloned().collect(),
                                excluded: catalogue.excluded.values().cloned().collect(),
                                marker: self.marker.as_ref().map(MarkerLabel::to_string),
                                error: None,
                            });
                            discovered.send_replace(Some(Arc::new(catalogue.clone())));
                            self.reconcile(catalogue, &cancel).await;
                        }
                        Some(Err(error)) => {
                            let said = error.to_string();
                            self.metrics.undiscovered(&said);
                            // Whoever answers next may have started only then.
                            self.missing.clear();
                            if complaint.as_ref() != Some(&said) {
                                tracing::warn!(%error, "what was known of the API server's kinds is kept");
                                complaint = Some(said);
                            }
                            due.push(now + Duration::from_secs(5));
                        }
                    }
                    if due.is_empty() {
                        due.push(now + REFRESH);
                    }
                }
            }
        }
        self.tasks.shutdown().await;
    }

    /// The two kinds whose objects say that kinds come and go.
    fn watch_for_changes(&mut self, trigger: &mpsc::Sender<()>, cancel: &CancellationToken) {
        for (group, kind) in
            [("apiextensions.k8s.io", "CustomResourceDefinition"), ("apiregistration.k8s.io", "APIService")]
        {
            let kind = Kind {
                group: group.to_owned(),
                version: "v1".to_owned(),
                kind: kind.to_owned(),
                plural: format!("{}s", kind.to_lowercase()),
                namespaced: false,
                status: StatusReporting::Yes,
            };
            let kind = Arc::new(kind);
            // The same kinds are counted where they are watched for components.
            let feed = Feed::uncounted(self.client.clone(), Arc::clone(&kind)).of_metadata();
            let following =
                follow(feed, TriggerReader::default(), trigger.clone(), Turns::new(1), cancel.child_token());
            self.tasks.spawn(following);
        }
    }

    /// Keeps the kinds that the document lacks until others have lacked them for a while, which is
    /// counted from when the server is ready: one that has just started serves before it knows its
    /// custom resources (kubernetes/kubernetes#104342).
    fn confirmed(&mut self, mut catalogue: Catalogue) -> Catalogue {
        let now = Instant::now();
        self.missing.retain(|name, _| !catalogue.kinds.contains_key(name));
        for (name, kind) in &self.catalogue.kinds {
            if catalogue.kinds.contains_key(name) {
                continue;
            }
            let since = *self.missing.entry(name.clone()).or_insert(now);
            if now.duration_since(since) < CONFIRMATION {
                catalogue.kinds.insert(name.clone(), Arc::clone(kind));
            } else {
                self.missing.remove(name);
            }
        }
        catalogue
    }

    /// Begins and ends watches so that they fit what is served.
    async fn reconcile(&mut self, catalogue: Catalogue, cancel: &CancellationToken) {
        let left: Vec<ResourceName> =
            self.running.keys().filter(|name| !catalogue.kinds.contains_key(*name)).cloned().collect();
        for name in left {
            if let Some(running) = self.running.remove(&name) {
                running.cancel.cancel();
                tracing::info!(kind = %running.kind.resource_name(), "not served any more");
                self.tell(running.kind, News::Left).await;
            }
        }
        let first = self.running.is_empty();
        if first {
            let _ = cancel.run_until_cancelled(self.rules.settled()).await;
        }
        for (name, kind) in &catalogue.kinds {
            match self.running.get(name) {
                Some(running) if running.kind == *kind => continue,
                Some(running) => running.cancel.cancel(),
                None if first => {}
                None => tracing::info!(kind = %kind.resource_name(), "served now"),
            }
            self.tell(Arc::clone(kind), News::State(WatchState::Syncing)).await;
            self.begin(name.clone(), Arc::clone(kind), cancel.child_token(), Duration::ZERO);
        }
        self.catalogue = catalogue;
    }

    fn begin(&mut self, name: ResourceName, kind: Arc<Kind>, cancel: CancellationToken, after: Duration) {
        let counted = self.metrics.watch(&kind);
        let mut feed = Feed::new(self.client.clone(), Arc::clone(&kind), counted).as_needed();
        if let Some(marker) = &self.marker {
            feed = feed.of_labels(marker.as_str());
        }
        let reader = ComponentReader::new(Arc::clone(&kind), self.prefix.clone(), self.rules.shared());
        let turns = self.turns.under(&self.rules, &kind);
        let following = follow(feed, reader, self.news.clone(), turns, cancel.clone());
        let task = self.tasks.spawn(async move {
            tokio::time::sleep(after).await;
            following.await;
        });
        self.running.insert(name, Running { kind, task: task.id(), cancel });
    }

    /// A follower ended: as told, or by a fault of ours, which costs this kind some seconds and no
    /// other anything.
    async fn restart(&mut self, ended: Result<(Id, ()), JoinError>) {
        let Err(error) = ended else { return };
        let Some((name, running)) = self.running.iter().find(|(_, running)| running.task == error.id())
        else {
            return;
        };
        let (name, kind, cancel) = (name.clone(), Arc::clone(&running.kind), running.cancel.clone());
        tracing::error!(kind = %kind.resource_name(), %error, "the watch broke and is begun again");
        self.tell(Arc::clone(&kind), News::State(WatchState::Failing("the watch broke".to_owned()))).await;
        self.begin(name, kind, cancel, RESTART);
    }

    async fn tell(&self, kind: Arc<Kind>, news: News) {
        // Nobody hears it only while everything ends.
        let _ = self.news.send(Report { kind, news }).await;
    }
}

/// Whether the API server says itself that it isn't ready, or says nothing. One that doesn't tell
/// everybody counts as ready.
async fn is_starting(client: &Client) -> bool {
    let Ok(request) = http::Request::get("/readyz").body(Body::empty()) else { return false };
    match tokio::time::timeout(READINESS, client.send(request)).await {
        Ok(Ok(answer)) => answer.status().is_server_error(),
        Ok(Err(_)) | Err(_) => true,
    }
}
