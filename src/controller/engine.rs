//! Owns the index: takes in what the watches report, and shows and publishes what follows from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    addons::{AddonNews, Seen, Written},
    blackout::Blackout,
    kinds::Kinds,
    memory::{self, Memory},
    owners::{Found, OwnerSearch},
};
use crate::{
    api::{AddonStatus, Identifier},
    discover::Catalogue,
    explain::{Explained, Explainer},
    model::Timestamp,
    publish::{self, Command},
    serve::{Pulse, Readiness},
    summary::{Board, Change, Combination, Illness, Index, KindCoverage, Remembered, Summary, WatchState},
    watch::{News, Report, Turns, addon_kind},
};

/// How long the first lists may take, once it is known what is served, before what is known so far is
/// shown. An add-on with parts of a kind that isn't listed by then stays as its `Addon` remembers it.
const FIRST_LISTS: Duration = Duration::from_secs(10);

/// How long owners without labels are looked for before what is known is shown.
const FIRST_OWNERS: Duration = Duration::from_secs(5);

/// How often the engine shows that it is alive, at least.
const HEARTBEAT: Duration = Duration::from_secs(10);

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
}

/// How far the start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Kinds are listed for the first time.
    Listing,
    /// Owners without labels are looked for, until then at most.
    Owners(Instant),
    /// What is known is shown.
    Settled,
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
            // Whatever was heard, nothing is shown without them.
            if from.combinations.has_changed().unwrap_or_default() {
                let combinations = Arc::clone(&from.combinations.borrow_and_update());
                self.index.set_combinations(BTreeMap::clone(&combinations));
            }
            // Not marked as seen here: its change is heard above.
            let catalogue = from.catalogue.borrow().clone();
            self.advance(catalogue.as_deref());
            // In this order: what is shown when it begins isn't written, and what is when it ends is
            // shown before.
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

    fn listing_ends(&self) -> Option<Instant> {
        self.discovered.map(|discovered| discovered + FIRST_LISTS)
    }

    fn report(&mut self, Report { kind, news }: Report) {
        let name = kind.group_kind();
        match news {
            // A watch that was told to end may have had a last word on its way.
            News::State(state) if state != WatchState::Syncing && !self.kinds.follows(&name) => {}
            News::State(state) => {
                self.blackout.note(&name, &state, Instant::now());
                self.kinds.set(&kind, state, &mut self.index);
                self.covered = false;
            }
            News::Left => {
                self.blackout.leave(&name);
                self.kinds.leave(&name, &mut self.index);
                self.covered = false;
            }
            _ if !self.kinds.follows(&name) => {}
            news => self.objects(&name, news),
        }
    }

    fn objects(&mut self, kind: &crate::model::GroupKind, news: News) {
        let before = self.index.count(kind);
        match news {
            News::Listed(observations) => self.index.replace(kind, observations, Timestamp::now()),
            News::Changed(observation) => self.index.upsert(*observation, Timestamp::now()),
            News::Gone(key) => self.index.remove(kind, &key),
            News::State(_) | News::Left => {}
        }
        self.covered &= self.index.count(kind) == before;
    }

    async fn addons(&mut self, news: AddonNews) {
        let (seen, components) = match news {
            AddonNews::State(state) => {
                self.covered = false;
                self.blackout.note(&addon_kind().group_kind(), &state, Instant::now());
                return self.memory.set_state(state);
            }
            AddonNews::Seen(seen, components) => (seen, components),
        };
        if let Some(news) = components {
            self.objects(&addon_kind().group_kind(), news);
        }
        let Some(seen) = seen else { return };
        match &seen {
            Seen::Listed(addons) => {
                let is_first = !self.memory.is_known();
                self.memory.listed(addons);
                if is_first {
                    memory::remembered(addons).for_each(|component| self.remember(component));
                    self.settle_at = Some(Instant::now());
                    self.recall().await;
                    if self.stage == Stage::Settled {
                        // What they remember, before anything is written without it.
                        self.flush().await;
                    }
                }
            }
            Seen::Changed(addon) => self.memory.changed(addon),
            Seen::Gone(name) => self.memory.gone(name),
        }
        let orphans = self.orphans(&seen);
        self.tell(Command::Seen(seen.into())).await;
        if self.stage == Stage::Settled {
            self.vanish(orphans);
        }
    }

    /// Gives what is shown already the times that the `Addon` objects have: they were listed late.
    async fn recall(&mut self) {
        for shown in self.out.board.all() {
            let mut summary = Summary::clone(&shown);
            publish::settle(&mut summary.status, self.memory.status(&shown.identifier));
            self.show(summary).await;
        }
    }

    async fn show(&mut self, summary: Summary) {
        let summary = Arc::new(summary);
        self.out.board.put(Arc::clone(&summary));
        self.memory.shown(&summary.identifier);
        self.tell(Command::Show(summary)).await;
    }

    /// Where the kind was listed, an `Addon` tells nothing but the past.
    fn remember(&mut self, remembered: Remembered) {
        if self.kinds.is_synced(&remembered.observation.group_kind()) {
            self.index.recall(&remembered);
        } else {
            self.index.remember(remembered, Timestamp::now());
        }
    }

    /// The add-ons among what was seen that have no component.
    fn orphans(&self, seen: &Seen) -> Vec<Identifier> {
        let addons: Vec<&Written> = match seen {
            Seen::Listed(addons) => addons.iter().collect(),
            Seen::Changed(addon) => vec![addon],
            Seen::Gone(_) => Vec::new(),
        };
        let identifiers = addons.into_iter().filter_map(|addon| addon.held.identifier());
        identifiers.filter(|identifier| !self.index.contains(identifier)).collect()
    }

    fn vanish(&mut self, identifiers: impl IntoIterator<Item = Identifier>) {
        let at = Instant::now() + self.grace;
        for identifier in identifiers {
            self.vanishing.entry(identifier).or_insert(at);
        }
    }

    fn found(&mut self, found: &Found) {
        self.out.owners.answered(found);
        self.index.link(&found.owner.uid, found.controller.as_ref(), &found.namespace);
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
        if held {
            tracing::warn!(
                "many kinds can't be watched any more: Addon objects stay as they are until that is over"
            );
        } else {
            tracing::info!("Addon objects are written again");
        }
        self.tell(if held { Command::Hold } else { Command::Release }).await;
    }

    fn look_for_owners(&mut self) {
        for (owner, namespace) in self.index.take_unknown_owners() {
            self.out.owners.search(owner, namespace);
        }
    }

    fn explained(&mut self, explained: Explained) {
        if let Some((key, explanation)) = self.out.explainer.take(explained) {
            self.index.explain(&key, explanation);
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

    /// Goes through the stages of the start.
    fn advance(&mut self, catalogue: Option<&Catalogue>) {
        let Some(catalogue) = catalogue else { return };
        let now = Instant::now();
        self.discovered.get_or_insert(now);
        if self.stage == Stage::Listing {
            let listed = self.memory.is_known() && self.kinds.has_tried(catalogue);
            // Without the Addon objects it isn't known what there was: that is waited for, unless they
            // can't be listed at all.
            let late = *self.memory.state() != WatchState::Syncing
                && self.listing_ends().is_some_and(|end| end <= now);
            if listed || late {
                self.look_for_owners();
                self.stage = Stage::Owners(now + FIRST_OWNERS);
            }
        }
        if let Stage::Owners(deadline) = self.stage {
            self.look_for_owners();
            if self.out.owners.is_idle() || now >= deadline {
                self.settle();
            }
        }
        if self.stage == Stage::Settled && self.settle_at.is_some_and(|at| at <= now) {
            self.settle_at = self.kinds.settle_unfollowed(catalogue, &mut self.index, now);
            self.covered = false;
        }
    }

    fn settle(&mut self) {
        self.stage = Stage::Settled;
        self.settle_at = Some(Instant::now());
        self.out.readiness.reached(READY_WHEN);
        let orphans: BTreeSet<Identifier> = self
            .memory
            .identifiers()
            .filter(|identifier| !self.index.contains(identifier))
            .cloned()
            .collect();
        self.vanish(orphans);
        tracing::info!(after = ?self.started.elapsed(), "all kinds were listed or given up for now");
    }

    async fn flush(&mut self) {
        for change in self.index.flush(Timestamp::now()) {
            match change {
                Change::Show(mut summary) => {
                    self.vanishing.remove(&summary.identifier);
                    let shown = self.out.board.get(summary.identifier.as_str());
                    let previous: Option<&AddonStatus> = match &shown {
                        Some(shown) => Some(&shown.status),
                        None => self.memory.status(&summary.identifier),
                    };
                    publish::settle(&mut summary.status, previous);
                    if shown.as_deref() == Some(&*summary) {
                        continue;
                    }
                    self.memory.seen(&summary.identifier, summary.status.counts.total);
                    self.show(*summary).await;
                }
                Change::Empty(identifier) => self.vanish([identifier]),
            }
        }
        self.remove_vanished().await;
        if !std::mem::replace(&mut self.covered, true) {
            self.out.board.cover(self.coverage());
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
            if self.memory.is_partial(&identifier) && !self.kinds.all_synced() {
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
