//! Whether the API server is out for everybody: then nothing is written until the watches are back.
//!
//! While it is out, every add-on is Unknown, which HTTP says. Written to the `Addon` objects as soon as
//! the server takes writes again, that would be undone a moment later: two writes for each add-on when
//! the server can bear them least.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

use crate::{model::GroupKind, summary::WatchState, watch::addon_kind};

/// How long after the first sign of recovery what still fails is taken for what fails by itself. An API server
/// that has just started serves custom resources later than others, and that a watch is open for some seconds
/// shows that it works again.
const RECOVERY: Duration = Duration::from_secs(30);

/// Kinds that fail one soon after the other may be the first of all. Each is given its time until it is
/// called failing, which ends for each at another moment.
const SPREAD: Duration = Duration::from_secs(10);

/// A kind that fails again within this time fails by itself: it tells nothing of the others.
const AGAIN: Duration = Duration::from_secs(600);

/// The shortest time between two times at which the watches are hurried.
const HURRY: Duration = Duration::from_secs(1);

/// When they are hurried again while the API server recovers, although no other has recovered since. What
/// failed a moment too early would wait for half a minute.
const HURRY_AGAIN: Duration = Duration::from_secs(3);

/// Which kinds fail, and whether that holds up what is written.
///
/// It does
/// - while at least half of the kinds fail, `Addon` among them. Where that isn't, what is written is as
///   true as what is shown, however much else is broken;
/// - for a moment after kinds of several groups failed together that hadn't failed for a while: one group may be
///   broken by itself, and kinds that come and go all the time hold up nothing;
/// - from the first recovery on, until all have recovered or [`RECOVERY`] is over.
#[derive(Debug, Default)]
pub(super) struct Blackout {
    /// The kinds that fail, and those that did and are refused since the hold began.
    ill: BTreeMap<GroupKind, Ill>,
    /// When each kind failed last, also of those that have recovered.
    failed: BTreeMap<GroupKind, Instant>,
    held: bool,
    /// When the recovery is over.
    over: Option<Instant>,
    /// One has recovered since the others were hurried.
    hurry: bool,
    hurried: Option<Instant>,
}

#[derive(Debug)]
struct Ill {
    since: Instant,
    fails: bool,
    /// It had failed not long before.
    again: bool,
}

impl Blackout {
    /// Notes how a kind is watched.
    pub(super) fn note(&mut self, kind: &GroupKind, state: &WatchState, now: Instant) {
        match state {
            WatchState::Syncing => {}
            WatchState::Failing(_) | WatchState::Absent(_) => match self.ill.get_mut(kind) {
                Some(ill) if ill.fails => {}
                _ => {
                    let before = self.failed.insert(kind.clone(), now);
                    let again = before.is_some_and(|before| now.duration_since(before) < AGAIN);
                    self.ill.insert(kind.clone(), Ill { since: now, fails: true, again });
                }
            },
            WatchState::Synced => {
                if self.ill.remove(kind).is_some() {
                    self.answered(now);
                    self.hurry = self.held;
                }
            }
            // A server that has just started doesn't know yet who may do what.
            WatchState::Forbidden(_) | WatchState::Unserved(_) if self.held => {
                if let Some(ill) = self.ill.get_mut(kind) {
                    ill.fails = false;
                    self.answered(now);
                }
            }
            WatchState::Forbidden(_) | WatchState::Unserved(_) => drop(self.ill.remove(kind)),
        }
    }

    /// The kind isn't served any more.
    pub(super) fn leave(&mut self, kind: &GroupKind) {
        self.ill.remove(kind);
        self.failed.remove(kind);
    }

    /// Whether nothing may be written now, of so many kinds that are followed.
    pub(super) fn holds(&mut self, kinds: usize, now: Instant) -> bool {
        let recovers = self.recovers(now);
        self.held = recovers || self.is_out(kinds) || self.spreads(now);
        if !recovers {
            self.over = None;
        }
        if !self.held {
            self.ill.retain(|_, ill| ill.fails);
        }
        self.held
    }

    /// Whether the kinds that wait should ask again now: another one got an answer.
    pub(super) fn hurries(&mut self, now: Instant) -> bool {
        let hurries = self.hurry_at(now).is_some_and(|at| at <= now);
        if hurries {
            self.hurried = Some(now);
            self.hurry = false;
        }
        hurries
    }

    /// When it is to be looked again whether it holds, and whether it hurries.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let lapses = self.ill.values().map(|ill| ill.since + SPREAD);
        let looks = self.over.into_iter().chain(lapses).filter(|at| self.held && *at > now);
        looks.chain(self.hurry_at(now)).min()
    }

    fn hurry_at(&self, now: Instant) -> Option<Instant> {
        let pause = match self.hurry {
            true => HURRY,
            false if self.recovers(now) => HURRY_AGAIN,
            false => return None,
        };
        Some(self.hurried.map_or(now, |hurried| hurried + pause))
    }

    /// Whether some got an answer, and others are given time to get one.
    fn recovers(&self, now: Instant) -> bool {
        !self.ill.is_empty() && self.over.is_some_and(|over| over > now)
    }

    fn answered(&mut self, now: Instant) {
        if self.held {
            self.over.get_or_insert(now + RECOVERY);
        }
    }

    fn failing(&self) -> impl Iterator<Item = (&GroupKind, &Ill)> {
        self.ill.iter().filter(|(_, ill)| ill.fails)
    }

    fn is_out(&self, kinds: usize) -> bool {
        let addons = addon_kind().group_kind();
        self.failing().count() * 2 >= kinds && self.failing().any(|(kind, _)| *kind == addons)
    }

    fn spreads(&self, now: Instant) -> bool {
        let is_fresh = |ill: &Ill| !ill.again && now.duration_since(ill.since) < SPREAD;
        let fresh = self.failing().filter(|(_, ill)| is_fresh(ill));
        fresh.map(|(kind, _)| &kind.group).collect::<BTreeSet<_>>().len() > 1
    }
}

#[cfg(test)]
mod tests;
