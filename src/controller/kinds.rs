//! How each kind is watched, and what that means for the add-ons.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    discover::Catalogue,
    model::{GroupKind, Kind, Timestamp},
    summary::{Index, KindCoverage, Listing, WatchState},
    watch::addon_kind,
};

/// How long a kind must be missing from what is served before what is remembered of it is dropped: a
/// server that has just started serves before it knows its custom resources.
const ABSENCE: Duration = Duration::from_secs(6);

/// Why a kind whose group is stale isn't watched.
const UNDISCOVERED: &str = "its API group can't be discovered";

/// Why a kind isn't watched that an API server doesn't serve which isn't up whole.
const NOT_YET: &str = "the API server isn't ready, and doesn't serve it now";

/// The kinds that are followed, by group and kind.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    followed: BTreeMap<GroupKind, Watched>,
    /// Kinds of remembered components whose group can't be discovered.
    unserved: BTreeMap<GroupKind, Watched>,
    /// Kinds of remembered components that aren't served, and since when that is known.
    missing: BTreeMap<GroupKind, Instant>,
}

#[derive(Debug)]
struct Watched {
    kind: Arc<Kind>,
    state: WatchState,
    since: Timestamp,
}

impl Kinds {
    /// Notes how a kind is watched; logs what an operator wants to know.
    pub(super) fn set(&mut self, kind: &Arc<Kind>, state: WatchState, index: &mut Index) {
        let name = kind.resource_name();
        let before = self.followed.get(&kind.group_kind()).map(|watched| &watched.state);
        match &state {
            WatchState::Forbidden(why) | WatchState::Failing(why) | WatchState::Absent(why)
                if before != Some(&state) =>
            {
                tracing::warn!(kind = %name, state = state.as_str(), %why, "not watched; other kinds go on");
            }
            WatchState::Synced if before.is_some_and(|before| before.message().is_some()) => {
                tracing::info!(kind = %name, "watched again");
            }
            _ => {}
        }
        match &state {
            WatchState::Synced => index.set_gap(&kind.group_kind(), None),
            // What was known holds until the list is whole.
            WatchState::Syncing => {}
            WatchState::Forbidden(why)
            | WatchState::Failing(why)
            | WatchState::Absent(why)
            | WatchState::Unserved(why) => {
                index.set_gap(&kind.group_kind(), Some(why));
            }
        }
        note(&mut self.followed, Arc::clone(kind), state);
    }

    /// The kind is not served any more: none of its objects is there.
    pub(super) fn leave(&mut self, kind: &GroupKind, index: &mut Index) {
        self.followed.remove(kind);
        index.clear(kind);
        index.set_gap(kind, None);
    }

    pub(super) fn follows(&self, kind: &GroupKind) -> bool {
        self.followed.contains_key(kind)
    }

    /// Settles what `Addon` objects remember of kinds that aren't followed: a kind whose group can't
    /// be discovered now is a gap, as are all that are missing while the API server says that it isn't
    /// ready; one that has been missing for [`ABSENCE`] isn't served, or isn't to be watched. Gives the
    /// time at which there is more to settle.
    pub(super) fn settle_unfollowed(
        &mut self,
        catalogue: &Catalogue,
        index: &mut Index,
        now: Instant,
    ) -> Option<Instant> {
        let served: BTreeSet<GroupKind> = catalogue.kinds.values().map(|kind| kind.group_kind()).collect();
        let addons = addon_kind().group_kind();
        let open: Vec<GroupKind> = index
            .kinds()
            .filter(|kind| !self.follows(kind) && !served.contains(kind) && **kind != addons)
            .cloned()
            .collect();
        self.missing.retain(|kind, _| open.contains(kind));
        let reason = |kind: &GroupKind| {
            let is_stale = catalogue.stale.contains(&kind.group);
            if is_stale { Some(UNDISCOVERED) } else { catalogue.is_preliminary.then_some(NOT_YET) }
        };
        self.unserved.retain(|kind, _| open.contains(kind) && reason(kind).is_some());
        for kind in open {
            if let Some(why) = reason(&kind) {
                self.missing.remove(&kind);
                index.set_gap(&kind, Some(why));
                if let Some(known) = index.kind(&kind) {
                    note(&mut self.unserved, known, WatchState::Unserved(why.to_owned()));
                }
                continue;
            }
            let since = *self.missing.entry(kind.clone()).or_insert(now);
            if now.duration_since(since) >= ABSENCE {
                self.missing.remove(&kind);
                index.set_gap(&kind, None);
                index.clear(&kind);
            }
        }
        self.missing.values().min().map(|since| *since + ABSENCE)
    }

    /// Whether every kind of the catalogue was listed, or can't be.
    pub(super) fn has_tried(&self, catalogue: &Catalogue) -> bool {
        let tried = |kind: &Arc<Kind>| {
            self.followed.get(&kind.group_kind()).is_some_and(|known| known.state != WatchState::Syncing)
        };
        catalogue.kinds.values().all(tried)
    }

    /// Whether a kind is listed whole.
    pub(super) fn is_synced(&self, kind: &GroupKind) -> bool {
        self.followed.get(kind).is_some_and(|known| known.state == WatchState::Synced)
    }

    /// What can be said of objects that may be there and weren't seen; `None` where every kind is listed whole.
    pub(super) fn unlisted(&self) -> Option<Listing> {
        let mut states = self.followed.values().map(|known| &known.state);
        if states.clone().any(|state| *state == WatchState::Syncing) {
            return Some(Listing::UnderWay);
        }
        let is_whole = self.unserved.is_empty() && states.all(|state| *state == WatchState::Synced);
        (!is_whole).then_some(Listing::InVain)
    }

    /// How many are followed.
    pub(super) fn count(&self) -> usize {
        self.followed.len()
    }

    pub(super) fn coverage(&self, index: &Index) -> Vec<KindCoverage> {
        self.followed
            .iter()
            .chain(&self.unserved)
            .map(|(name, watched)| KindCoverage {
                kind: Arc::clone(&watched.kind),
                state: watched.state.clone(),
                since: watched.since,
                components: index.count(name),
            })
            .collect()
    }
}

/// Notes the state of a kind; the time counts from when it became so in a word.
fn note(among: &mut BTreeMap<GroupKind, Watched>, kind: Arc<Kind>, state: WatchState) {
    let name = kind.group_kind();
    let before = among.get(&name).filter(|known| known.state.as_str() == state.as_str());
    let since = before.map_or_else(Timestamp::now, |known| known.since);
    among.insert(name, Watched { kind, state, since });
}
