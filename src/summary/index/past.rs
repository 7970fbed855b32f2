//! What is known from before, and what explains an object that isn't well.

use std::sync::Arc;

use super::{Illness, Illnesses, Index, ObjectKey, Objects, Remembered, State, members};
use crate::model::{Explanation, Timestamp};

impl Index {
    /// Takes in what an `Addon` object remembers of a component. What the watch of its kind says,
    /// says it better.
    pub fn remember(&mut self, remembered: Remembered, now: Timestamp) {
        self.recall(&remembered);
        let key = members::key(&remembered.observation.object);
        if !self.objects.knows(key) {
            self.upsert(remembered.observation, now);
            self.pasts.remember(key, remembered.past);
            self.recall_explanation(key, remembered.explanation);
        }
    }

    /// Takes in what an `Addon` object remembers of the past, and nothing else.
    pub fn recall(&mut self, remembered: &Remembered) {
        let Remembered { observation, past, overdue_part, explanation } = remembered;
        let key = members::key(&observation.object);
        self.recall_explanation(key, explanation.clone());
        if self.objects.get(key).is_some() && self.pasts.recall(key, *past) {
            self.mark(key);
        }
        if let Some((part, start)) = overdue_part {
            for key in self.pasts.recall_part(part, *start, &self.objects) {
                self.mark(key);
            }
        }
    }

    /// Takes in what explained an object before the start, until somebody looks anew.
    fn recall_explanation(&mut self, key: ObjectKey, explanation: Option<Explanation>) {
        if let Some(explanation) = explanation
            && self.objects.get(key).is_some()
            && !self.illnesses.explanations().contains_key(&key)
        {
            self.illnesses.recall(key, explanation);
            self.mark(key);
        }
    }

    /// Takes in what explains a component that was told to be ill, by its
    /// [`object_key`](super::object_key). It holds until the component is well by itself, is gone, or is
    /// explained otherwise.
    pub fn explain(&mut self, key: &str, explanation: Explanation) {
        let key = ObjectKey::of(key);
        if self.illnesses.is_told(key) && self.illnesses.explain(key, explanation) {
            self.mark(key);
        }
    }

    /// Takes the components that became ill, well or ill in another way at `now`, by their
    /// [`object_key`](super::object_key)s: `None` for one that is well, gone or can't be observed.
    /// [`Index::explain`] wants to hear of those that are ill.
    pub fn take_illnesses(&mut self, now: Timestamp) -> Vec<(Arc<str>, Option<Illness>)> {
        let touched = self.illnesses.take_touched().into_iter();
        touched
            .filter_map(|key| {
                let state = self.state(key, now);
                let name = self.illnesses.tell(key, &state)?;
                Some(match state {
                    State::Ill(illness) => (name, Some(illness)),
                    State::Well | State::Unseen => (name, None),
                })
            })
            .collect()
    }

    fn state(&self, key: ObjectKey, now: Timestamp) -> State {
        let Some(record) = self.objects.get(key) else { return State::Well };
        if !self.gaps.is_empty() && self.gaps.contains_key(&record.group_kind()) {
            return State::Unseen;
        }
        let is_component = record.identifiers().any(|id| self.objects.root(key, id).is_none());
        let timeline = self.pasts.get(key).age(record.timeline());
        let verdict = timeline.at(now);
        if is_component && record.sums_up().is_none() && verdict.health.wants_cause() {
            State::Ill(Illness { object: record.object(), verdict: verdict.clone() })
        } else {
            State::Well
        }
    }
}

/// Notes that an object may be ill in another way, although it is the same.
pub(super) fn touch(illnesses: &mut Illnesses, objects: &Objects, key: ObjectKey) {
    if let Some(record) = objects.get(key) {
        illnesses.changed(record);
    }
}
