//! How each kind is watched, and what that means for the add-ons.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    discover::Catalogue,
    model::{GroupKind, Kind},
    summary::{Index, KindCoverage, WatchState},
    watch::addon_kind,
};

/// How long a kind must be missing from what is served before what is remembered of it is dropped: a
/// server that has just started serves before it knows its custom resources.
const ABSENCE: Duration = Duration::from_secs(6);

/// The kinds that are followed, by group and kind.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    followed: BTreeMap<GroupKind, (Arc<Kind>, WatchState)>,
    /// Kinds of remembered components that aren't served, and since when that is known.
    missing: BTreeMap<GroupKind, Instant>,
}

impl Kinds {
    /// Notes how a kind is watched; logs what an operator wants to know.
    pub(super) fn set(&mut self, kind: &Arc<Kind>, state: WatchState, index: &mut Index) {
        let name = kind.resource_name();
        let before = self.followed.get(&kind.group_kind()).map(|(_, state)| state);
        match &state {
            WatchState::Forbidden(why) | WatchState::Failing(why) if before != Some(&state) => {
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
            WatchState::Forbidden(why) | WatchState::Failing(why) => {
                index.set_gap(&kind.group_kind(), Some(why));
            }
        }
        self.followed.insert(kind.group_kind(), (Arc::clone(kind), state));
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
    /// be discovered now is a gap; one that has been missing for [`ABSENCE`] isn't served, or isn't
    /// to be watched. Gives the time at which there is more to settle.
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
        for kind in open {
            if catalogue.stale.contains(&kind.group) {
                index.set_gap(&kind, Some("its API group can't be discovered"));
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
            self.followed.get(&kind.group_kind()).is_some_and(|(_, state)| *state != WatchState::Syncing)
        };
        catalogue.kinds.values().all(tried)
    }

    /// Whether a kind is listed whole.
    pub(super) fn is_synced(&self, kind: &GroupKind) -> bool {
        self.followed.get(kind).is_some_and(|(_, state)| *state == WatchState::Synced)
    }

    /// Whether every kind is listed whole.
    pub(super) fn all_synced(&self) -> bool {
        self.followed.values().all(|(_, state)| *state == WatchState::Synced)
    }

    pub(super) fn coverage(&self, index: &Index) -> Vec<KindCoverage> {
        self.followed
            .iter()
            .map(|(name, (kind, state))| KindCoverage {
                kind: Arc::clone(kind),
                state: state.clone(),
                components: index.count(name),
            })
            .collect()
    }
}
