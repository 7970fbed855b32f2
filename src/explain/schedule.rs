//! When which component is looked at.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::model::{Health, ObjectRef, Verdict};

/// How long a component must have been ill before it is looked at: a rollout that goes well costs
/// nothing.
const FIRST: Duration = Duration::from_secs(1);

/// The first and the longest wait between two looks at a component that stays as it is.
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);

/// Names a component.
pub(super) type Key = Arc<str>;

/// The components that are ill, and when each is looked at next.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    ill: HashMap<Key, Ill>,
    due: BTreeSet<(Instant, Key)>,
    under_way: usize,
    rounds: u64,
}

#[derive(Debug)]
struct Ill {
    object: ObjectRef,
    health: Health,
    reason: Cow<'static, str>,
    message: String,
    /// Looks since its health or reason changed.
    looks: u32,
    turn: Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    At(Instant),
    /// It is looked at, in this round; with the time of the next look where it changed meanwhile.
    UnderWay(u64, Option<Instant>),
}

/// A look at a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) key: Key,
    pub(super) object: ObjectRef,
    pub(super) round: u64,
}

impl Schedule {
    /// Notes that the component is ill and how. It is looked at again soon where that is news.
    pub(super) fn ill(&mut self, key: &Key, object: ObjectRef, verdict: &Verdict, now: Instant) {
        let Some(ill) = self.ill.get_mut(key) else {
            let ill = Ill {
                object,
                health: verdict.health,
                reason: verdict.reason.clone(),
                message: verdict.message.clone(),
                looks: 0,
                turn: Turn::At(now + FIRST),
            };
            self.due.insert((now + FIRST, Arc::clone(key)));
            self.ill.insert(Arc::clone(key), ill);
            return;
        };
        ill.object = object;
        let wait = if (ill.health, &ill.reason) != (verdict.health, &verdict.reason) {
            ill.looks = 0;
            FIRST
        } else if ill.message != verdict.message {
            SHORTEST
        } else {
            return;
        };
        ill.health = verdict.health;
        ill.reason.clone_from(&verdict.reason);
        ill.message.clone_from(&verdict.message);
        let at = now + wait;
        match &mut ill.turn {
            Turn::At(due) if at < *due => {
                self.due.remove(&(*due, Arc::clone(key)));
                self.due.insert((at, Arc::clone(key)));
                *due = at;
            }
            Turn::At(_) => {}
            Turn::UnderWay(_, next) => *next = Some(next.map_or(at, |next| next.min(at))),
        }
    }

    /// Notes that the component is well, or gone.
    pub(super) fn well(&mut self, key: &str) {
        if let Some((key, ill)) = self.ill.remove_entry(key)
            && let Turn::At(due) = ill.turn
        {
            self.due.remove(&(due, key));
        }
    }

    /// When the next look is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// How many looks are under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    /// The next look, where one is due.
    pub(super) fn start(&mut self, now: Instant) -> Option<Look> {
        self.due.first().filter(|(at, _)| *at <= now)?;
        let (_, key) = self.due.pop_first()?;
        let ill = self.ill.get_mut(&key)?;
        self.rounds += 1;
        self.under_way += 1;
        ill.turn = Turn::UnderWay(self.rounds, None);
        Some(Look { key, object: ill.object.clone(), round: self.rounds })
    }

    /// Notes that a look came to its end. False where nobody waits for it any more.
    pub(super) fn finished(&mut self, key: &str, round: u64, now: Instant) -> bool {
        self.under_way = self.under_way.saturating_sub(1);
        let Some((key, _)) = self.ill.get_key_value(key) else { return false };
        let key = Arc::clone(key);
        let Some(ill) = self.ill.get_mut(&key) else { return false };
        let Turn::UnderWay(current, next) = ill.turn else { return false };
        if current != round {
            return false;
        }
        let at = next.unwrap_or(now + wait(ill.looks));
        ill.looks = ill.looks.saturating_add(1);
        ill.turn = Turn::At(at);
        self.due.insert((at, key));
        true
    }
}

/// How long to wait after so many looks: twice as long each time.
fn wait(looks: u32) -> Duration {
    (SHORTEST * (1 << looks.min(10))).min(LONGEST)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use crate::model::{Kind, StatusReporting};

    const SECOND: Duration = Duration::from_secs(1);

    fn object(name: &str) -> ObjectRef {
        let kind = Kind {
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            plural: "deployments".into(),
            namespaced: true,
            status: StatusReporting::Yes,
        };
        ObjectRef { kind: Arc::new(kind), namespace: "lab".into(), name: name.into(), uid: name.into() }
    }

    fn verdict(health: Health, reason: &str, message: &str) -> Verdict {
        Verdict {
            health,
            reason: reason.to_owned().into(),
            message: message.into(),
            since: None,
            rule: "test".into(),
        }
    }

    struct Bench {
        schedule: Schedule,
        start: Instant,
    }

    impl Bench {
        fn new() -> Self {
            Self { schedule: Schedule::default(), start: Instant::now() }
        }

        fn at(&self, second: u64) -> Instant {
            self.start + SECOND * u32::try_from(second).expect("a small number")
        }

        fn ill(&mut self, name: &str, verdict: &Verdict, second: u64) {
            let at = self.at(second);
            self.schedule.ill(&name.into(), object(name), verdict, at);
        }

        /// Looks at what is due until `end`, each in no time: the seconds and the names.
        fn looks(&mut self, end: u64) -> Vec<(u64, String)> {
            let mut looks = Vec::new();
            while let Some(at) = self.schedule.next_due().filter(|at| *at <= self.at(end)) {
                let look = self.schedule.start(at).expect("it is due");
                looks.push(((at - self.start).as_secs(), look.key.to_string()));
                assert!(self.schedule.finished(&look.key, look.round, at));
            }
            looks
        }

        fn seconds(&mut self, end: u64) -> Vec<u64> {
            self.looks(end).into_iter().map(|(second, _)| second).collect()
        }
    }

    #[test]
    fn looks_are_ever_longer_apart_up_to_five_minutes() {
        let mut bench = Bench::new();
        bench.ill("a", &verdict(Health::Degraded, "Broken", ""), 0);
        assert_eq!(bench.seconds(1500), [1, 6, 16, 36, 76, 156, 316, 616, 916, 1216]);
    }

    #[test]
    fn what_is_well_within_a_second_is_never_looked_at() {
        let mut bench = Bench::new();
        bench.ill("a", &verdict(Health::Progressing, "RollingOut", ""), 0);
        bench.schedule.well("a");
        assert!(bench.looks(1000).is_empty());
        assert_eq!(bench.schedule.next_due(), None);
    }

    #[test]
    fn another_verdict_begins_anew_and_another_message_only_hurries() {
        let mut bench = Bench::new();
        bench.ill("a", &verdict(Health::Progressing, "RollingOut", "1 of 3"), 0);
        assert_eq!(bench.seconds(100), [1, 6, 16, 36, 76]);
        bench.ill("a", &verdict(Health::Progressing, "RollingOut", "1 of 3"), 100);
        bench.ill("a", &verdict(Health::Progressing, "RollingOut", "2 of 3"), 100);
        assert_eq!(bench.seconds(200), [105], "the next wait is as long as it was to be");
        bench.ill("a", &verdict(Health::Degraded, "Broken", "2 of 3"), 200);
        assert_eq!(bench.seconds(240), [201, 206, 216, 236]);
    }

    #[test]
    fn what_never_rests_is_looked_at_once_a_second() {
        let mut bench = Bench::new();
        let mut looks = 0;
        for tenth in 0..100 {
            let now = bench.start + SECOND * tenth / 10;
            let health = if tenth % 2 == 0 { Health::Progressing } else { Health::Degraded };
            bench.schedule.ill(&"a".into(), object("a"), &verdict(health, "X", ""), now);
            while let Some(look) = bench.schedule.start(now) {
                looks += 1;
                assert!(bench.schedule.finished(&look.key, look.round, now));
            }
        }
        assert_eq!(looks, 9);
    }

    #[test]
    fn a_change_while_it_is_looked_at_is_looked_at_soon() {
        let mut bench = Bench::new();
        bench.ill("a", &verdict(Health::Progressing, "RollingOut", ""), 0);
        let look = bench.schedule.start(bench.at(1)).expect("it is due");
        assert_eq!((bench.schedule.next_due(), bench.schedule.under_way()), (None, 1));
        bench.ill("a", &verdict(Health::Degraded, "Broken", ""), 2);
        assert!(bench.schedule.finished("a", look.round, bench.at(9)));
        assert_eq!(bench.schedule.next_due(), Some(bench.at(3)));
    }

    #[test]
    fn an_answer_that_comes_too_late_counts_for_nothing() {
        let mut bench = Bench::new();
        let broken = verdict(Health::Degraded, "Broken", "");
        bench.ill("a", &broken, 0);
        let first = bench.schedule.start(bench.at(1)).expect("it is due");
        bench.schedule.well("a");
        bench.ill("a", &broken, 2);
        let second = bench.schedule.start(bench.at(3)).expect("it is due");
        assert!(!bench.schedule.finished("a", first.round, bench.at(4)));
        assert!(bench.schedule.finished("a", second.round, bench.at(5)));
        assert!(!bench.schedule.finished("a", second.round, bench.at(5)));
        bench.schedule.well("a");
        assert!(!bench.schedule.finished("a", second.round, bench.at(5)));
        assert_eq!(bench.schedule.under_way(), 0);
    }

    #[test]
    fn the_one_that_waits_longest_goes_first() {
        let mut bench = Bench::new();
        let broken = verdict(Health::Degraded, "Broken", "");
        bench.ill("b", &broken, 0);
        bench.ill("a", &broken, 1);
        let order: Vec<String> = bench.looks(6).into_iter().map(|(_, name)| name).collect();
        assert_eq!(order, ["b", "a", "b"]);
    }
}
