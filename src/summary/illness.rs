//! Which components are ill, and what explains them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::{ObjectKey, object_key, record::Record};
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
    explanations: HashMap<ObjectKey, Explanation>,
    /// Those that are told as ill, by which [`object_key`](super::object_key).
    told: HashMap<ObjectKey, Arc<str>>,
    /// Those of which there may be news to tell.
    touched: BTreeSet<ObjectKey>,
}

impl Illnesses {
    pub(super) fn explanations(&self) -> &HashMap<ObjectKey, Explanation> {
        &self.explanations
    }

    /// Whether somebody was told that it is ill.
    pub(super) fn is_told(&self, key: ObjectKey) -> bool {
        self.told.contains_key(&key)
    }

    /// Takes in what explains an object. True where that is news.
    pub(super) fn explain(&mut self, key: ObjectKey, explanation: Explanation) -> bool {
        if explanation.steps.is_empty() {
            return self.explanations.remove(&key).is_some();
        }
        let before = self.explanations.insert(key, explanation);
        before.as_ref() != self.explanations.get(&key)
    }

    /// Takes in what explained an object before the start. Whether it still is ill is to be seen.
    pub(super) fn recall(&mut self, key: ObjectKey, explanation: Explanation) {
        self.explain(key, explanation);
        self.touched.insert(key);
    }

    /// Notes that an object changed, and is `record` now.
    pub(super) fn changed(&mut self, record: &Record) {
        // What explained it may have been kept while nobody could tell how it is.
        let key = record.key;
        if self.told.contains_key(&key) || self.explanations.contains_key(&key) || may_be_ill(record) {
            self.touched.insert(key);
        }
    }

    /// Notes that an object is gone.
    pub(super) fn gone(&mut self, key: ObjectKey) {
        self.explanations.remove(&key);
        if self.told.contains_key(&key) {
            self.touched.insert(key);
        }
    }

    /// Takes those of which there may be news.
    pub(super) fn take_touched(&mut self) -> BTreeSet<ObjectKey> {
        std::mem::take(&mut self.touched)
    }

    /// Notes what is told of an object; gives the name to tell it by. `None` where there is nothing to
    /// tell: it wasn't ill before.
    pub(super) fn tell(&mut self, key: ObjectKey, state: &State) -> Option<Arc<str>> {
        if matches!(state, State::Well) {
            self.explanations.remove(&key);
        }
        match state {
            State::Ill(Illness { object, .. }) => {
                let name = self.told.entry(key).or_insert_with(|| {
                    object_key(&object.kind, &object.namespace, &object.name, &object.uid).into()
                });
                Some(Arc::clone(name))
            }
            State::Well | State::Unseen => self.told.remove(&key),
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

/// Whether it is ill, or will be when time passes.
fn may_be_ill(record: &Record) -> bool {
    let later = record.later().map(|later| later.verdict.health);
    record.patience().is_some()
        || [Some(record.health()), later].into_iter().flatten().any(Health::wants_cause)
}
