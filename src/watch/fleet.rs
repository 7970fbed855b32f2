//! All watches: one follower a kind, begun when a kind is served and ended when it isn't any more.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use kube::{Client, client::Body};
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Feed,
    absences::{Absences, CONFIRMATION},
    components::{ComponentReader, News, Report},
    follow::follow,
    live_rules::LiveRules,
    schedule::Schedule,
    trigger::TriggerReader,
    turns::Turns,
};
use crate::{
    api::{LabelPrefix, MarkerLabel},
    discover::{Catalogue, DiscoverError, ResourceName, Selection, discover},
    metrics::{Discovery, Metrics},
    model::{Kind, StatusReporting, Timestamp},
    summary::WatchState,
};

/// How many kinds are listed at the same time: the API server gives one client a bounded share.
const FIRST_LISTS: usize = 8;

/// How long the API server may take to say whether it is ready.
const READINESS: Duration = Duration::from_secs(5);

/// How long after an API server said that it isn't ready it is asked again what it serves.
const STARTING: Duration = Duration::from_secs(2);

/// How long after it ended unexpectedly a follower is begun again.
const RESTART: Duration = Duration::from_secs(5);

/// The kinds whose objects say that kinds come and go.
const TRIGGERS: [(&str, &str, &str); 2] = [
    ("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "APIService", "apiservices"),
];

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
    absences: Absences,
    /// What is wrong with discovery, as it was said last.
    complaint: Option<String>,
    /// The followers of [`TRIGGERS`].
    triggers: Vec<(Arc<Kind>, Id)>,
    /// The kinds that the documents lack and that were kept.
    doubted: BTreeSet<ResourceName>,
    /// Nothing is known of the API server since it was last away, or since the start.
    in_doubt: bool,
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
            absences: Absences::default(),
            complaint: None,
            triggers: Vec::new(),
            doubted: BTreeSet::new(),
            in_doubt: true,
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
        for kind in TRIGGERS.map(trigger_kind) {
            self.watch_for_changes(kind, trigger.clone(), Duration::ZERO, &cancel);
        }
        let mut schedule = Schedule::new(Instant::now());
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                Some(()) = triggered.recv() => schedule.sign(Instant::now()),
                Some(ended) = self.tasks.join_next_with_id() => self.restart(ended, &trigger, &cancel).await,
                () = tokio::time::sleep_until(schedule.next()) => {
                    schedule.begin(Instant::now());
                    let refreshed = self.refresh(&mut schedule, &discovered, &cancel);
                    if cancel.run_until_cancelled(refreshed).await.is_none() {
                        break;
                    }
                }
            }
        }
        self.tasks.shutdown().await;
    }

    /// Follows a kind whose objects say that kinds come and go, `after` a while.
    fn watch_for_changes(
        &mut self,
        kind: Arc<Kind>,
        trigger: mpsc::Sender<()>,
        after: Duration,
        cancel: &CancellationToken,
    ) {
        // The same kinds are counted where they are watched for components.
        let feed = Feed::uncounted(self.client.clone(), Arc::clone(&kind)).of_metadata();
        let following = follow(feed, TriggerReader, trigger, Turns::new(1), cancel.child_token());
        let task = self.tasks.spawn(delayed(after, following));
        self.triggers.retain(|(known, _)| *known != kind);
        self.triggers.push((kind, task.id()));
    }

    /// Reads what is served, and follows that.
    async fn refresh(
        &mut self,
        schedule: &mut Schedule,
        discovered: &watch::Sender<Option<Arc<Catalogue>>>,
        cancel: &CancellationToken,
    ) {
        let mut read = match discover(&self.client, &self.selection, &self.catalogue).await {
            Ok(read) => read,
            Err(error) => {
                self.complain(&error);
                // Whoever answers next may have started only then.
                self.absences.forget();
                self.in_doubt = true;
                schedule.failed(Instant::now());
                return;
            }
        };
        if self.complaint.take().is_some() {
            tracing::info!("the API server says again which kinds it serves");
            self.turns.hurry();
        }
        let is_less = !self.catalogue.lacking_in(&read).is_empty();
        read.is_preliminary = (self.in_doubt || is_less) && is_starting(&self.client).await;
        let now = Instant::now();
        if read.is_preliminary {
            self.absences.forget();
            self.in_doubt = true;
            schedule.again(now + STARTING);
        } else if std::mem::take(&mut self.in_doubt) {
            // What it serves may lag behind a little.
            schedule.sign(now);
        }
        let mut catalogue = self.absences.confirm(&self.catalogue, read, now);
        self.keep_what_answers(&mut catalogue, schedule).await;
        if self.absences.is_open() {
            schedule.again(now + CONFIRMATION);
        }
        schedule.read(catalogue != self.catalogue);
        self.metrics.discovered(Discovery {
            read: Some(Timestamp::now()),
            stale: catalogue.stale.iter().cloned().collect(),
            excluded: catalogue.excluded.values().cloned().collect(),
            unwatchable: catalogue.unwatchable.values().cloned().collect(),
            marker: self.marker.as_ref().map(MarkerLabel::to_string),
            error: None,
        });
        discovered.send_replace(Some(Arc::new(catalogue.clone())));
        self.reconcile(catalogue, cancel).await;
    }

    /// Keeps the kinds that the documents lack and that can be listed all the same: a document that lacks a group
    /// would have its add-ons deleted.
    async fn keep_what_answers(&mut self, catalogue: &mut Catalogue, schedule: &mut Schedule) {
        let mut lacking = self.catalogue.lacking_in(catalogue);
        lacking.retain(|(_, kind)| !catalogue.serves(&kind.group_kind()));
        let answers = lacking.into_iter().map(|(name, kind)| {
            let client = self.client.clone();
            async move { answers(client, &kind).await.then_some((name, kind)) }
        });
        let kept: BTreeMap<_, _> = join_all(answers).await.into_iter().flatten().collect();
        for (name, kind) in &kept {
            if !self.doubted.contains(name) {
                tracing::warn!(kind = %kind.resource_name(), "not in the documents of what is served, but it can be listed: kept");
                // Its end may be near.
                schedule.sign(Instant::now());
            }
        }
        // One that the documents have had in between is doubted anew.
        self.doubted.retain(|name| kept.contains_key(name) || self.absences.has(name));
        self.doubted.extend(kept.keys().cloned());
        catalogue.kinds.extend(kept);
    }

    fn complain(&mut self, error: &DiscoverError) {
        let said = error.to_string();
        self.metrics.undiscovered(&said);
        if self.complaint.as_ref() != Some(&said) {
            tracing::warn!(%error, "what was known of the API server's kinds is kept");
            self.complaint = Some(said);
        }
    }

    /// Begins and ends watches so that they fit what is served.
    async fn reconcile(&mut self, catalogue: Catalogue, cancel: &CancellationToken) {
        let left: Vec<ResourceName> =
            self.running.keys().filter(|name| !catalogue.kinds.contains_key(*name)).cloned().collect();
        for name in left {
            if let Some(running) = self.running.remove(&name) {
                running.cancel.cancel();
                tracing::info!(kind = %running.kind.resource_name(), "not served any more");
                // Under another plural it is still the same kind, and what is known of it holds.
                if !catalogue.serves(&running.kind.group_kind()) {
                    self.tell(running.kind, News::Left).await;
                }
            }
        }
        let first = self.running.is_empty();
        if first {
            self.rules.settled().await;
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
        let task = self.tasks.spawn(delayed(after, following));
        self.running.insert(name, Running { kind, task: task.id(), cancel });
    }

    /// A follower ended: as told, or by a fault of ours, which costs this kind some seconds and no
    /// other anything.
    async fn restart(
        &mut self,
        ended: Result<(Id, ()), JoinError>,
        trigger: &mpsc::Sender<()>,
        cancel: &CancellationToken,
    ) {
        let Err(error) = ended else { return };
        let broken = self.triggers.iter().find(|(_, task)| *task == error.id());
        if let Some(kind) = broken.map(|(kind, _)| Arc::clone(kind)) {
            tracing::error!(kind = %kind.resource_name(), %error, "the watch for new kinds broke and is begun again");
            return self.watch_for_changes(kind, trigger.clone(), RESTART, cancel);
        }
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

fn trigger_kind((group, kind, plural): (&str, &str, &str)) -> Arc<Kind> {
    Arc::new(Kind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: false,
        status: StatusReporting::Yes,
    })
}

async fn delayed(after: Duration, task: impl Future<Output = ()>) {
    tokio::time::sleep(after).await;
    task.await;
}

/// Whether a kind can be listed, or it can't be told. What isn't served is answered 404, or 403 where one may not
/// ask for it.
async fn answers(client: Client, kind: &Arc<Kind>) -> bool {
    let feed = Feed::uncounted(client, Arc::clone(kind)).of_metadata().patient(READINESS);
    match feed.list(1, "").await {
        Ok(_) => true,
        Err(error) => !matches!(error.code(), Some(403 | 404)),
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
