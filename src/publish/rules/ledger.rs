//! Which rule's status is due: from what it should say, what it says, what was tried and the clock.

use std::{
    collections::{BTreeMap, HashSet},
    time::Instant,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use tracing::{debug, warn};

use super::RuleWish;
use crate::{
    api::{AddonCondition, accepted},
    health::Acceptance,
    model::Timestamp,
    publish::{
        pace::{Pause, backoff},
        request::Failure,
    },
};

/// One entry for each rule that is there.
#[derive(Default)]
pub(super) struct Ledger {
    slots: BTreeMap<String, Slot>,
    pause: Pause,
}

struct Slot {
    uid: String,
    wanted: AddonCondition,
    says: Option<AddonCondition>,
    /// What the API server made of `wanted` when it was written; `None` where it refuses it.
    answer: Option<Option<AddonCondition>>,
    /// How often `wanted` was written.
    attempts: u32,
    not_before: Option<Instant>,
}

/// A condition to write.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Work {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) condition: AddonCondition,
}

/// What can be done next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Start(Work),
    /// Nothing before then.
    At(Instant),
    /// Nothing before something changes.
    Idle,
}

impl Ledger {
    /// Takes in what all rules should say. `wall` is the time of day at `now`.
    pub(super) fn take(&mut self, wishes: &[RuleWish], now: Instant, wall: Timestamp) {
        let there: HashSet<(&str, &str)> =
            wishes.iter().map(|wish| (wish.name.as_str(), wish.uid.as_str())).collect();
        self.slots.retain(|name, slot| there.contains(&(name.as_str(), slot.uid.as_str())));
        for wish in wishes {
            let wanted = condition(wish, wall);
            match self.slots.get_mut(&wish.name) {
                Some(slot) => {
                    slot.says.clone_from(&wish.says);
                    if !same(&slot.wanted, &wanted) {
                        slot.wanted = wanted;
                        slot.answer = None;
                        // At most one write a second.
                        slot.not_before = (slot.attempts > 0).then(|| now + backoff(1));
                        slot.attempts = 0;
                    }
                }
                None => {
                    let slot = Slot {
                        uid: wish.uid.clone(),
                        wanted,
                        says: wish.says.clone(),
                        answer: None,
                        attempts: 0,
                        not_before: None,
                    };
                    self.slots.insert(wish.name.clone(), slot);
                }
            }
        }
    }

    /// What can be done next.
    pub(super) fn next(&self, now: Instant) -> Next {
        let open = self.slots.iter().filter(|(_, slot)| slot.is_open());
        let Some((name, slot)) = open.min_by_key(|(_, slot)| slot.not_before) else { return Next::Idle };
        let held = slot.not_before.max(self.pause.until(now));
        match held.filter(|at| *at > now) {
            Some(at) => Next::At(at),
            None => Next::Start(Work {
                name: name.clone(),
                uid: slot.uid.clone(),
                condition: slot.wanted.clone(),
            }),
        }
    }

    /// Takes in what became of a write: what the object says then.
    pub(super) fn finished(
        &mut self,
        work: &Work,
        result: Result<Option<AddonCondition>, Failure>,
        now: Instant,
    ) {
        let Some(slot) = self.slots.get_mut(&work.name).filter(|slot| slot.uid == work.uid) else { return };
        slot.attempts += 1;
        slot.not_before = Some(now + backoff(slot.attempts));
        let failure = match result {
            Ok(says) => {
                self.pause.end();
                slot.says.clone_from(&says);
                slot.answer = Some(says);
                return;
            }
            Err(failure) => failure,
        };
        match &failure {
            Failure::Refused(why) => {
                warn!(rule = %work.name, %why, "the API server refuses the status of a StatusRule");
                slot.answer = Some(None);
            }
            // It went, or another one of its name is there: the watch tells.
            Failure::Missing(_) | Failure::Conflict(_) => {
                debug!(rule = %work.name, why = %failure, "a StatusRule has gone");
            }
            Failure::Busy { .. } | Failure::Broken(_) | Failure::Other(_) => {
                let asked = match &failure {
                    Failure::Busy { asked, .. } => *asked,
                    _ => None,
                };
                if self.pause.begin(asked, now) {
                    warn!(rule = %work.name, why = %failure, "can't write the status of StatusRules; trying again");
                }
            }
        }
    }
}

impl Slot {
    /// Whether the object doesn't say what it should, and may yet.
    fn is_open(&self) -> bool {
        let settled = self.says.as_ref().is_some_and(|says| same(says, &self.wanted));
        let is_all_that_can_be_had = match &self.answer {
            Some(None) => true,
            Some(answer) => *answer == self.says,
            None => false,
        };
        !settled && !is_all_that_can_be_had
    }
}

/// The condition that says it.
fn condition(wish: &RuleWish, wall: Timestamp) -> AddonCondition {
    let status = if wish.acceptance == Acceptance::Accepted { "True" } else { "False" };
    let before = wish.says.as_ref().filter(|says| says.status == status);
    AddonCondition {
        kind: accepted::TYPE.to_owned(),
        status: status.to_owned(),
        reason: wish.acceptance.reason().to_owned(),
        message: wish.acceptance.message().to_owned(),
        last_transition_time: before.map_or(Time(wall), |before| before.last_transition_time.clone()),
        observed_generation: wish.generation,
    }
}

/// Whether two conditions differ at most in their times.
fn same(a: &AddonCondition, b: &AddonCondition) -> bool {
    let timeless = |condition: &AddonCondition| AddonCondition {
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
        ..condition.clone()
    };
    timeless(a) == timeless(b)
}
