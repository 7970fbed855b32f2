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

/// How long after the first sign of recovery what still fails is taken for what fails by itself.
const RECOVERY: Duration = Duration::from_secs(15);

/// Kinds that fail one soon after the other may be the first of all. Each is given its time until it is
/// called failing, which ends for each at another moment.
const SPREAD: Duration = Duration::from_secs(10);

/// The shortest time between two times at which the watches are hurried.
const HURRY: Duration = Duration::from_secs(1);

/// Which kinds fail, and whether that holds up what is written.
///
/// It does
/// - while at least half of the kinds fail, `Addon` among them. Where that isn't, what is written is as
///   true as what is shown, however much else is broken;
/// - for a moment after kinds of several groups failed together: one group may be broken by itself;
/// - from the first recovery on, until all have recovered or [`RECOVERY`] is over.
#[derive(Debug, Default)]
pub(super) struct Blackout {
    /// The kinds that fail, and those that did and are refused since the hold began.
    ill: BTreeMap<GroupKind, Ill>,
    held: bool,
    /// When the recovery is over.
    over: Option<Instant>,
    hurry: bool,
    hurried: Option<Instant>,
}

#[derive(Debug)]
struct Ill {
    since: Instant,
    fails: bool,
}

impl Blackout {
    /// Notes how a kind is watched.
    pub(super) fn note(&mut self, kind: &GroupKind, state: &WatchState, now: Instant) {
        match state {
            WatchState::Syncing => {}
            WatchState::Failing(_) | WatchState::Absent(_) => match self.ill.get_mut(kind) {
                Some(ill) if ill.fails => {}
                _ => drop(self.ill.insert(kind.clone(), Ill { since: now, fails: true })),
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
            WatchState::Forbidden(_) | WatchState::Unserved(_) => self.leave(kind),
        }
    }

    /// The kind isn't served any more.
    pub(super) fn leave(&mut self, kind: &GroupKind) {
        self.ill.remove(kind);
    }

    /// Whether nothing may be written now, of so many kinds that are followed.
    pub(super) fn holds(&mut self, kinds: usize, now: Instant) -> bool {
        let recovers = !self.ill.is_empty() && self.over.is_some_and(|over| over > now);
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
        let due = self.hurried.is_none_or(|hurried| now.duration_since(hurried) >= HURRY);
        let hurries = due && std::mem::take(&mut self.hurry);
        if hurries {
            self.hurried = Some(now);
        }
        hurries
    }

    /// When it is to be looked again whether it holds.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let lapses = self.ill.values().map(|ill| ill.since + SPREAD);
        let wakes = self.over.into_iter().chain(lapses).filter(|at| *at > now);
        if self.held { wakes.min() } else { None }
    }

    fn answered(&mut self, now: Instant) {
        if self.held {
            self.over.get_or_insert(now + RECOVERY);
        }
    }

    fn failing(&self) -> impl Iterator<Item = (&GroupKind, Instant)> {
        self.ill.iter().filter(|(_, ill)| ill.fails).map(|(kind, ill)| (kind, ill.since))
    }

    fn is_out(&self, kinds: usize) -> bool {
        let addons = addon_kind().group_kind();
        self.failing().count() * 2 >= kinds && self.failing().any(|(kind, _)| *kind == addons)
    }

    fn spreads(&self, now: Instant) -> bool {
        let fresh = self.failing().filter(|(_, since)| now.duration_since(*since) < SPREAD);
        fresh.map(|(kind, _)| &kind.group).collect::<BTreeSet<_>>().len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens to a kind.
    #[derive(Clone, Copy, Debug)]
    enum Is {
        Failing,
        Forbidden,
        Synced,
        Left,
    }
    use Is::{Failing, Forbidden, Left, Synced};

    /// Ten kinds of ten groups are followed, and `Addon`, which is 10.
    const KINDS: usize = 11;

    fn kind(number: usize) -> GroupKind {
        match number {
            10 => addon_kind().group_kind(),
            _ => GroupKind { group: format!("g{number}"), kind: "Thing".to_owned() },
        }
    }

    /// At which second what happens to which kinds, and whether writes are held then.
    type Script = Vec<(u64, Vec<usize>, Is, bool)>;

    #[track_caller]
    fn play(script: Script) {
        let start = Instant::now();
        let mut blackout = Blackout::default();
        for (step, (second, kinds, is, held)) in script.into_iter().enumerate() {
            let now = start + Duration::from_secs(second);
            for number in kinds {
                let kind = kind(number);
                match is {
                    Failing => blackout.note(&kind, &WatchState::Failing("cut".to_owned()), now),
                    Forbidden => blackout.note(&kind, &WatchState::Forbidden("no".to_owned()), now),
                    Synced => blackout.note(&kind, &WatchState::Synced, now),
                    Left => blackout.leave(&kind),
                }
            }
            assert_eq!(blackout.holds(KINDS, now), held, "step {step}");
        }
    }

    fn none() -> Vec<usize> {
        Vec::new()
    }

    #[test]
    fn one_group_that_is_broken_holds_up_nothing() {
        play(vec![
            (0, vec![3], Failing, false),
            (60, vec![4], Failing, false),
            (120, vec![10], Failing, false),
        ]);
    }

    #[test]
    fn what_is_forbidden_holds_up_nothing() {
        play(vec![(0, (0..=10).collect(), Forbidden, false)]);
    }

    #[test]
    fn it_holds_from_when_failures_spread_until_all_have_recovered() {
        play(vec![
            (0, vec![0], Failing, false),
            (1, vec![1], Failing, true),
            (8, vec![2, 3, 4], Failing, true),
            (16, vec![5, 6, 10], Failing, true),
            (300, none(), Failing, true),
            (301, vec![0, 10], Synced, true),
            (304, vec![1, 2, 3, 4, 5], Synced, true),
            (305, vec![6], Synced, false),
        ]);
    }

    #[test]
    fn what_still_fails_after_a_while_fails_by_itself() {
        play(vec![
            (0, (0..=10).collect(), Failing, true),
            (100, (1..=10).collect(), Synced, true),
            (114, none(), Synced, true),
            (115, none(), Synced, false),
            (300, vec![0], Synced, false),
        ]);
    }

    #[test]
    fn a_server_that_goes_again_is_out_again() {
        play(vec![
            (0, (0..=10).collect(), Failing, true),
            (100, vec![3], Synced, true),
            (101, vec![3], Failing, true),
            (200, none(), Failing, true),
            (201, (0..=10).collect(), Synced, false),
        ]);
    }

    #[test]
    fn a_server_that_comes_back_before_all_were_called_failing() {
        play(vec![
            (0, vec![0, 1], Failing, true),
            (5, vec![2], Failing, true),
            (7, vec![0], Synced, true),
            (20, vec![1], Synced, true),
            (21, vec![2], Synced, false),
        ]);
    }

    #[test]
    fn failures_that_stop_spreading_are_published() {
        play(vec![
            (0, vec![0, 1, 2, 3, 4, 5, 6], Failing, true),
            (9, none(), Failing, true),
            (10, none(), Failing, false),
            (60, vec![10], Failing, true),
        ]);
    }

    #[test]
    fn kinds_that_are_refused_or_gone_in_the_end_are_not_waited_for() {
        play(vec![
            (0, (0..=10).collect(), Failing, true),
            (100, (0..=10).collect(), Forbidden, true),
            (103, (1..=10).collect(), Synced, true),
            (104, vec![0], Left, false),
        ]);
        play(vec![
            (0, (0..=10).collect(), Failing, true),
            (100, (0..=10).collect(), Forbidden, true),
            (115, none(), Forbidden, false),
        ]);
    }

    #[test]
    fn each_recovery_hurries_the_others_once_a_second_at_most() {
        let start = Instant::now();
        let mut blackout = Blackout::default();
        let synced = |blackout: &mut Blackout, number, after: u64| {
            let now = start + Duration::from_millis(after);
            blackout.note(&kind(number), &WatchState::Synced, now);
            blackout.holds(KINDS, now);
            blackout.hurries(now)
        };
        assert!(!synced(&mut blackout, 0, 0), "nothing was wrong");
        for number in 0..=10 {
            blackout.note(&kind(number), &WatchState::Failing("cut".to_owned()), start);
        }
        assert!(blackout.holds(KINDS, start));
        let hurried: Vec<bool> = [(0, 100), (1, 200), (2, 900), (3, 1100), (4, 1200)]
            .map(|(n, at)| synced(&mut blackout, n, at))
            .into();
        assert_eq!(hurried, [true, false, false, true, false]);
    }

    #[test]
    fn it_is_looked_at_again_when_it_may_end() {
        let start = Instant::now();
        let mut blackout = Blackout::default();
        assert_eq!(blackout.next(start), None);
        for number in [0, 1] {
            blackout.note(&kind(number), &WatchState::Failing("cut".to_owned()), start);
        }
        assert!(blackout.holds(KINDS, start));
        assert_eq!(blackout.next(start), Some(start + SPREAD));
        let now = start + Duration::from_secs(2);
        blackout.note(&kind(0), &WatchState::Synced, now);
        assert!(blackout.holds(KINDS, now));
        assert_eq!(blackout.next(start + SPREAD), Some(now + RECOVERY));
    }
}
