//! Which components are ill, and what explains them.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Observation, members::Key};
use crate::model::{Explanation, Health, ObjectRef, Verdict};

/// A component whose cause is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illness {
    /// Which object.
    pub object: ObjectRef,
    /// How it is by itself.
    pub verdict: Verdict,
}

/// The components that are ill, as far as anybody was told, and what is known of their causes.
#[derive(Debug, Default)]
pub(super) struct Illnesses {
    explanations: HashMap<Key, Explanation>,
    /// Those that are told as ill.
    told: HashSet<Key>,
    /// Those of which there may be news to tell.
    touched: BTreeSet<Key>,
}

impl Illnesses {
    pub(super) fn explanations(&self) -> &HashMap<Key, Explanation> {
        &self.explanations
    }

    /// Whether somebody was told that it is ill.
    pub(super) fn is_told(&self, key: &Key) -> bool {
        self.told.contains(key)
    }

    /// Takes in what explains an object. True where that is news.
    pub(super) fn explain(&mut self, key: &Key, explanation: Explanation) -> bool {
        if explanation.steps.is_empty() {
            return self.explanations.remove(key).is_some();
        }
        let before = self.explanations.insert(Key::clone(key), explanation);
        before.as_ref() != self.explanations.get(key)
    }

    /// Takes in what explained an object before the start. Whether it still is ill is to be seen.
    pub(super) fn recall(&mut self, key: &Key, explanation: Explanation) {
        self.explain(key, explanation);
        self.touched.insert(Key::clone(key));
    }

    /// Notes that an object changed, and is `observation` now.
    pub(super) fn changed(&mut self, key: &Key, observation: &Observation) {
        // What explained it may have been kept while nobody could tell how it is.
        if self.told.contains(key) || self.explanations.contains_key(key) || observation.may_be_ill() {
            self.touched.insert(Key::clone(key));
        }
    }

    /// Notes that an object is gone.
    pub(super) fn gone(&mut self, key: &Key) {
        self.explanations.remove(key);
        if self.told.contains(key) {
            self.touched.insert(Key::clone(key));
        }
    }

    /// Takes those of which there may be news.
    pub(super) fn take_touched(&mut self) -> BTreeSet<Key> {
        std::mem::take(&mut self.touched)
    }

    /// Notes what is told of an object. False where there is nothing to tell: it wasn't ill before.
    pub(super) fn tell(&mut self, key: &Key, state: &State) -> bool {
        if matches!(state, State::Well) {
            self.explanations.remove(key);
        }
        match state {
            State::Ill(_) => {
                self.told.insert(Key::clone(key));
                true
            }
            State::Well | State::Unseen => self.told.remove(key),
        }
    }
}

/// How an object is, seen by who looks for causes.
pub(super) enum State {
    Ill(Illness),
    /// It is well, gone, or no component.
    Well,
    /// Nobody can tell now.
    Unseen,
}

impl Observation {
    /// Whether it is ill, or will be when time passes.
    fn may_be_ill(&self) -> bool {
        let later = self.timeline.later.as_ref().map(|later| later.verdict.health);
        self.timeline.patience.is_some()
            || [Some(self.timeline.first.health), later].into_iter().flatten().any(Health::wants_cause)
    }
}
