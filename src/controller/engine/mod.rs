//! Owns the index: takes in what the watches report, and shows and publishes what follows from it.

mod intake;
mod start;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::start::Stage;
use super::{
    addons::AddonNews,
    blackout::Blackout,
    kinds::Kinds,
    memory::Memory,
    owners::{Found, OwnerSearch},
};
use crate::{
    api::{AddonStatus, Identifier},
    discover::Catalogue,
    explain::{Explained, Explainer},
    metrics::Metrics,
    model::Timestamp,
    publish::{self, Command},
    serve::{Pulse, Readiness},
    summary::{Board, Change, Combination, Illness, Index, KindCoverage, Summary},
    watch::{Report, Turns, addon_kind},
};

/// How often the engine shows that it is alive, at least.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How often owners are looked up again of which nobody could tell. That their kind is synced is a reason, too.
const OWNERS_AGAIN: Duration = Duration::from_secs(300);

/// How many reports are taken in before what follows is computed.
const BATCH: usize = 4096;

/// What readiness waits for.
pub(super) const READY_WHEN: &str = "sync";

/// What the engine hears.
pub(super) struct Inputs {
    pub(super) reports: mpsc::Receiver<Report>,
    pub(super) addons: mpsc::Receiver<AddonNews>,
    pub(super) owners: mpsc::Receiver<Found>,
    pub(super) explained: mpsc::Receiver<Explained>,
    pub(super) catalogue: watch::Receiver<Option<Arc<Catalogue>>>,
    /// How the components of add-ons combine, by the rules of users.
    pub(super) combinations: watch::Receiver<Arc<BTreeMap<Identifier, Combination>>>,
}

/// What the engine tells.
pub(super) struct Outputs {
    pub(super) board: Arc<Board>,
    pub(super) publisher: mpsc::Sender<Command>,
    pub(super) owners: OwnerSearch,
    pub(super) explainer: Explainer,
    /// Those of the watches of all kinds.
    pub(super) turns: Turns,
    /// Those of the watch of the `Addon` objects.
    pub(super) addon_turns: Turns,
    pub(super) metrics: Metrics,
    pub(super) pulse: Pulse,
    pub(super) readiness: Readiness,
}

pub(super) struct Engine {
    out: Outputs,
    index: Index,
    kinds: Kinds,
    memory: Memory,
    blackout: Blackout,
    /// The publisher was told to hold everything back.
    held: bool,
    grace: Duration,
    started: Instant,
    /// When it was known first what is served.
    discovered: Option<Instant>,
    stage: Stage,
    /// Add-ons without components, and when they may go.
    vanishing: BTreeMap<Identifier, Instant>,
    covered: bool,
    /// When what is remembered of kinds that aren't followed is settled next.
    settle_at: Option<Instant>,
    /// When a component that is ill is looked at next.
    explain_at: Option<Instant>,
    /// When owners of which nobody could tell are looked up again.
    owners_again: Instant,
}

impl Engine {
    pub(super) fn new(out: Outputs, grace: Duration) -> Self {
        Self {
            out,
            index: Index::default(),
            kinds: Kinds::default(),
            memory: Memory::default(),
            blackout: Blackout::default(),
            held: false,
            grace,
            started: Instant::now(),
            discovered: None,
            stage: Stage::Listing,
            vanishing: BTreeMap::new(),
            covered: false,
            settle_at: None,
            explain_at: None,
            owners_again: Instant::now() + OWNERS_AGAIN,
        }
    }

    /// Runs until `cancel`.
    pub(super) async fn run(mut self, mut from: Inputs, cancel: CancellationToken) {
        loop {
            self.out.pulse.beat();
            let wake = self.wake();
            tokio::select! {
                () = cancel.cancelled() => return,
                Some(report) = from.reports.recv() => {
                    self.report(report);
                    for _ in 1..BATCH {
                        let Ok(report) = from.reports.try_recv() else { break };
                        self.report(report);
                    }
                }
                Some(news) = from.addons.recv() => self.addons(news).await,
                Some(found) = from.owners.recv() => self.found(&found),
                Some(explained) = from.explained.recv() => self.explained(explained),
                Ok(()) = from.catalogue.changed() => {
                    self.settle_at = Some(Instant::now());
                    // Their CustomResourceDefinition may have come.
                    self.out.addon_turns.hurry();
                }
                Ok(()) = from.combinations.changed() => from.combinations.mark_changed(),
                () = tokio::time::sleep_until(wake) => {}
            }
            // Before anything is shown: a first summary without the combinations of users would be written and
            // undone.
            if from.combinations.has_changed().unwrap_or_default() {
                let combinations = Arc::clone(&from.combinations.borrow_and_update());
                self.index.set_combinations(BTreeMap::clone(&combinations));
            }
            // Not marked as seen here: its change is heard above.
            let catalogue = from.catalogue.borrow().clone();
            self.advance(catalogue.as_deref());
            // It is held before the flush that shows an outage, and released after the one that shows its end.
            let holds = self.look_for_recovery() && self.stage == Stage::Settled;
            if holds && !self.held {
                self.hold(true).await;
            }
            if self.stage == Stage::Settled {
                self.look_for_owners();
                self.flush().await;
                self.look_for_causes();
            }
            if self.held && !holds {
                self.hold(false).await;
            }
        }
    }

    fn wake(&self) -> Instant {
        let now = Instant::now();
        let until_due = self.index.next_due().map(|due| {
            let left = due.duration_since(Timestamp::now());
            now + Duration::try_from(left).unwrap_or_default() + Duration::from_millis(1)
        });
        let mut wakes = vec![now + HEARTBEAT];
        wakes.extend(self.blackout.next(now));
        match self.stage {
            // Later on it is a report that takes it further.
            Stage::Listing => wakes.extend(self.listing_ends().filter(|end| *end > now)),
            Stage::Owners(deadline) => wakes.push(deadline),
            Stage::Settled => {
                wakes.extend(until_due);
                wakes.extend(self.settle_at);
                wakes.extend(self.explain_at);
                if self.memory.is_known() {
                    wakes.extend(self.vanishing.values().min());
                }
            }
        }
        wakes.into_iter().min().map_or(now, |wake| wake.max(now))
    }

    async fn show(&mut self, summary: Summary) {
        let summary = Arc::new(summary);
        self.out.board.put(Arc::clone(&summary));
        self.memory.shown(&summary.identifier);
        self.tell(Command::Show(summary)).await;
    }

    fn vanish(&mut self, identifiers: impl IntoIterator<Item = Identifier>) {
        let at = Instant::now() + self.grace;
        for identifier in identifiers {
            self.vanishing.entry(identifier).or_insert(at);
        }
    }

    /// Whether the API server is out for everybody; has all ask again once it answers somebody.
    fn look_for_recovery(&mut self) -> bool {
        let now = Instant::now();
        let holds = self.blackout.holds(self.kinds.count() + 1, now);
        if self.blackout.hurries(now) {
            self.out.turns.hurry();
            self.out.addon_turns.hurry();
        }
        holds
    }

    async fn hold(&mut self, held: bool) {
        self.held = held;
        self.out.metrics.hold_writes(held);
        if held {
            tracing::warn!(
                "kinds of several API groups can't be watched any more: Addon objects stay as they are until it is \
                 clear whether the API server is out for all"
            );
        } else {
            tracing::info!("Addon objects are written again");
        }
        self.tell(if held { Command::Hold } else { Command::Release }).await;
    }

    fn look_for_owners(&mut self) {
        if self.owners_again <= Instant::now() {
            self.owners_again = Instant::now() + OWNERS_AGAIN;
            self.index.ask_again_where(|_| true);
        }
        for (owner, namespace) in self.index.take_unknown_owners() {
            self.out.owners.search(owner, namespace);
        }
    }

    fn look_for_causes(&mut self) {
        for (key, illness) in self.index.take_illnesses(Timestamp::now()) {
            match illness {
                Some(Illness { object, verdict }) => self.out.explainer.ill(&key, object, &verdict),
                None => self.out.explainer.well(&key),
            }
        }
        self.explain_at = self.out.explainer.advance();
    }

    async fn flush(&mut self) {
        // First: whoever reads of an add-on that something of it can't be seen finds the kind among the gaps.
        if !std::mem::replace(&mut self.covered, true) {
            self.out.board.cover(self.coverage());
        }
        for change in self.index.flush(Timestamp::now()) {
            match change {
                Change::Show(mut summary) => {
                    self.vanishing.remove(&summary.identifier);
                    self.add_unseen(&mut summary);
                    let shown = self.out.board.get(summary.identifier.as_str());
                    let previous: Option<&AddonStatus> = match &shown {
                        Some(shown) => Some(&shown.status),
                        None => self.memory.status(&summary.identifier),
                    };
                    publish::settle(&mut summary.status, previous);
                    if shown.as_deref() == Some(&*summary) {
                        continue;
                    }
                    self.show(*summary).await;
                }
                Change::Empty(identifier) => self.vanish([identifier]),
            }
        }
        self.remove_vanished().await;
    }

    /// Adds what the `Addon` counted before the start and what may be of a kind that isn't listed yet.
    fn add_unseen(&mut self, summary: &mut Summary) {
        self.memory.seen(&summary.identifier, summary.status.counts.total);
        if let (Some(unnamed), Some(listing)) =
            (self.memory.unnamed(&summary.identifier), self.kinds.unlisted())
        {
            unnamed.join(&mut summary.status, listing, Timestamp::now());
        }
    }

    /// Kinds are watched otherwise than before: what isn't known to be there may be counted otherwise, too.
    fn recount_unseen(&mut self) {
        for identifier in self.memory.partial() {
            self.index.touch(identifier);
        }
        if self.stage == Stage::Settled && self.kinds.unlisted().is_none() {
            self.memory.seen_all();
        }
    }

    fn coverage(&self) -> Vec<KindCoverage> {
        let kind = Arc::new(addon_kind());
        let components = self.index.count(&kind.group_kind());
        let (state, since) = (self.memory.state().clone(), self.memory.since());
        let addons = KindCoverage { kind, state, since, components };
        let mut all = self.kinds.coverage(&self.index);
        all.push(addons);
        all.sort_by(|a, b| (&a.kind.group, &a.kind.kind).cmp(&(&b.kind.group, &b.kind.kind)));
        all
    }

    /// Removes the add-ons whose grace is over. Nothing goes before it is known what there was.
    async fn remove_vanished(&mut self) {
        if !self.memory.is_known() {
            return;
        }
        let now = Instant::now();
        let over: Vec<Identifier> = self
            .vanishing
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(identifier, _)| identifier.clone())
            .collect();
        for identifier in over {
            // Components that didn't fit into the Addon may be of a kind that isn't listed yet.
            if self.memory.unnamed(&identifier).is_some() && self.kinds.unlisted().is_some() {
                self.vanishing.insert(identifier, now + self.grace.max(Duration::from_secs(1)));
                continue;
            }
            self.vanishing.remove(&identifier);
            if !self.index.contains(&identifier) {
                if let Some(shown) = self.out.board.get(identifier.as_str()) {
                    self.memory.hidden(&identifier, shown.status.conditions.clone());
                }
                self.out.board.remove(&identifier);
                self.tell(Command::Gone(identifier)).await;
            }
        }
    }

    async fn tell(&self, command: Command) {
        // Nobody hears it only while everything ends.
        let _ = self.out.publisher.send(command).await;
    }
}
