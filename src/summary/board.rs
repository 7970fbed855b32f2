use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use dashmap::DashMap;

use super::Summary;
use crate::{
    api::{Identifier, object_name},
    model::{GroupKind, Health, Kind, Timestamp},
};

/// What everybody reads: the finished summaries and how much of the cluster they cover.
///
/// Readers take an `Arc` and hold no lock while they use it.
#[derive(Default)]
pub struct Board {
    addons: DashMap<Identifier, Arc<Summary>>,
    coverage: ArcSwap<Vec<KindCoverage>>,
    generation: AtomicU64,
}

/// How one kind is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCoverage {
    /// The kind.
    pub kind: Arc<Kind>,
    /// How it is watched.
    pub state: WatchState,
    /// Since when it is in this state.
    pub since: Timestamp,
    /// Labelled objects of the kind that are known.
    pub components: usize,
}

/// How a kind is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchState {
    /// Its first list isn't complete yet.
    Syncing,
    /// Listed whole and followed.
    Synced,
    /// The API server refuses it to us.
    Forbidden(String),
    /// It can't be listed or watched: why.
    Failing(String),
    /// The same, as the API server answers that it has no such resource: what it says.
    Absent(String),
    /// Objects of it are remembered, and it can't be told whether it is served: why.
    Unserved(String),
}

impl WatchState {
    /// Every word that [`WatchState::as_str`] gives.
    pub const WORDS: [&str; 5] = ["syncing", "synced", "forbidden", "failing", "unserved"];

    /// A word for metrics and tables.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Syncing => "syncing",
            Self::Synced => "synced",
            Self::Forbidden(_) => "forbidden",
            Self::Failing(_) | Self::Absent(_) => "failing",
            Self::Unserved(_) => "unserved",
        }
    }

    /// Why it isn't watched, where it isn't.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Syncing | Self::Synced => None,
            Self::Forbidden(why) | Self::Failing(why) | Self::Absent(why) | Self::Unserved(why) => Some(why),
        }
    }
}

impl Board {
    /// Shows `summary` instead of what was there for its identifier.
    pub fn put(&self, summary: Arc<Summary>) {
        self.addons.insert(summary.identifier.clone(), summary);
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Takes the add-on away.
    pub fn remove(&self, identifier: &Identifier) {
        if self.addons.remove(identifier).is_some() {
            self.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Shows how the kinds are watched.
    pub fn cover(&self, kinds: Vec<KindCoverage>) {
        self.coverage.store(Arc::new(kinds));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// One add-on.
    pub fn get(&self, identifier: &str) -> Option<Arc<Summary>> {
        self.addons.get(identifier).map(|entry| Arc::clone(entry.value()))
    }

    /// One add-on by the name of its `Addon` object. Looks at every add-on; [`Board::get`] doesn't.
    pub fn get_by_object_name(&self, name: &str) -> Option<Arc<Summary>> {
        self.addons
            .iter()
            .find(|entry| object_name(entry.key()) == name)
            .map(|entry| Arc::clone(entry.value()))
    }

    /// All add-ons, worst first, then by identifier.
    pub fn all(&self) -> Vec<Arc<Summary>> {
        let mut all: Vec<_> = self.addons.iter().map(|entry| Arc::clone(entry.value())).collect();
        all.sort_by(|a, b| {
            let rank = |summary: &Summary| Health::parse(&summary.status.health).rank();
            rank(a).cmp(&rank(b)).then_with(|| a.identifier.cmp(&b.identifier))
        });
        all
    }

    /// How the kinds are watched, in order of group and kind.
    pub fn coverage(&self) -> Arc<Vec<KindCoverage>> {
        self.coverage.load_full()
    }

    /// A number that changes with every change of what is shown.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}

impl KindCoverage {
    /// What stays the same when the served version changes.
    pub fn group_kind(&self) -> GroupKind {
        self.kind.group_kind()
    }
}
