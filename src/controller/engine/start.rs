//! The stages of the start.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::Instant;

use super::{Engine, READY_WHEN};
use crate::{api::Identifier, discover::Catalogue, summary::WatchState};

/// How long the first lists may take, once it is known what is served, before what is known so far is
/// shown. An add-on with parts of a kind that isn't listed by then stays as its `Addon` remembers it.
const FIRST_LISTS: Duration = Duration::from_secs(10);

/// How long owners without labels are looked for before what is known is shown.
const FIRST_OWNERS: Duration = Duration::from_secs(5);

/// How far the start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Kinds are listed for the first time.
    Listing,
    /// Owners without labels are looked for, until then at most.
    Owners(Instant),
    /// What is known is shown.
    Settled,
}

impl Engine {
    pub(super) fn listing_ends(&self) -> Option<Instant> {
        self.discovered.map(|discovered| discovered + FIRST_LISTS)
    }

    /// Goes through the stages of the start.
    pub(super) fn advance(&mut self, catalogue: Option<&Catalogue>) {
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
            self.recount_unseen();
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
}
