//! All watches: one follower a kind, begun when a kind is served and ended when it isn't any more.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::Client;
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    Feed,
    components::{ComponentReader, News, Report},
    follow::follow,
    live_rules::LiveRules,
    served::{Reading, Served},
    trigger::TriggerReader,
    turns::Turns,
};
use crate::{
    api::{LabelPrefix, MarkerLabel},
    discover::{Catalogue, ResourceName, Selection},
    metrics::Metrics,
    model::{Kind, StatusReporting},
    summary::WatchState,
};

/// How many kinds are listed at the same time: the API server gives one client a bounded share.
const FIRST_LISTS: usize = 8;

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
    served: Served,
    prefix: LabelPrefix,
    marker: Option<MarkerLabel>,
    rules: LiveRules,
    metrics: Metrics,
    news: mpsc::Sender<Report>,
    running: BTreeMap<ResourceName, Running>,
    tasks: JoinSet<()>,
    turns: Turns,
    /// The followers of [`TRIGGERS`].
    triggers: Vec<(Arc<Kind>, Id)>,
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
            served: Served::new(client.clone(), selection, metrics.clone()),
            client,
            prefix,
            marker: None,
            rules,
            metrics,
            news,
            running: BTreeMap::new(),
            tasks: JoinSet::new(),
            turns: Turns::new(FIRST_LISTS),
            triggers: Vec::new(),
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
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                Some(()) = triggered.recv() => self.served.sign(),
                Some(ended) = self.tasks.join_next_with_id() => self.restart(ended, &trigger, &cancel).await,
                () = tokio::time::sleep_until(self.served.due()) => {
                    let reading = cancel.run_until_cancelled(self.served.read(self.marker.as_ref())).await;
                    let Some(reading) = reading else { break };
                    let Some(Reading { catalogue, is_back }) = reading else { continue };
                    if is_back {
                        self.turns.hurry();
                    }
                    discovered.send_replace(Some(Arc::clone(&catalogue)));
                    self.reconcile(&catalogue, &cancel).await;
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

    /// Begins and ends watches so that they fit what is served.
    async fn reconcile(&mut self, catalogue: &Catalogue, cancel: &CancellationToken) {
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
