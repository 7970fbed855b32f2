//! What is known of an object from before.

use std::{collections::HashMap, sync::Arc};

use k8s_openapi::jiff::SignedDuration;

use super::{Observation, members::Key};
use crate::model::{Flapping, Health, StatusReporting, Timestamp};

/// The time in which changes are counted.
pub const FLAP_WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// So many changes between well and ill within [`FLAP_WINDOW`] make an object flapping: twice there
/// and back. A rollout is one time there and back.
pub const FLAP_CHANGES: usize = 4;

/// The most changes that are counted. Of more, the last are told of.
pub const MOST_CHANGES: usize = 16;

/// What is known of an object from before, and can't be seen in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// It goes to and fro: what its last change showed.
    pub flapping: Option<Flapping>,
}

/// The pasts of all objects by key: nothing for those that never changed.
#[derive(Debug, Default)]
pub(super) struct Pasts {
    records: HashMap<Key, Record>,
    swept: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Record {
    past: Past,
    /// The last changes between well and ill, the oldest first.
    changes: Vec<Timestamp>,
}

impl Pasts {
    pub(super) fn get(&self, key: &str) -> Past {
        self.records.get(key).map(|record| record.past).unwrap_or_default()
    }

    /// Notes that an object changed, or is seen for the first time.
    pub(super) fn changed(
        &mut self,
        key: &Key,
        before: Option<&Observation>,
        after: &Observation,
        now: Timestamp,
    ) {
        let Some(before) = before else { return };
        if is_rebuilt(before, after) {
            if let Some(record) = self.records.get_mut(key) {
                record.changes.clear();
            }
        } else if is_well(before, now) != is_well(after, now) {
            self.records.entry(Arc::clone(key)).or_default().swing(now);
        }
    }

    /// Takes in what an `Addon` remembers of an object; what was seen since says it better. True
    /// where that tells anything new.
    pub(super) fn recall(&mut self, key: &Key, past: Past) -> bool {
        if past == Past::default() {
            return false;
        }
        let record = self.records.entry(Arc::clone(key)).or_default();
        let before = record.past;
        if record.changes.is_empty() {
            record.past.flapping = record.past.flapping.or(past.flapping);
        }
        record.past != before
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn forget(&mut self, key: &str) {
        self.records.remove(key);
    }

    /// Drops what says nothing any more, now and then.
    pub(super) fn sweep(&mut self, now: Timestamp) {
        if self.swept.is_some_and(|swept| is_recent(swept, now)) {
            return;
        }
        self.swept = Some(now);
        self.records.retain(|_, record| {
            record.past != Past::default() || record.changes.last().is_some_and(|last| is_recent(*last, now))
        });
        self.records.shrink_to_fit();
    }
}

impl Record {
    fn swing(&mut self, now: Timestamp) {
        self.changes.retain(|change| is_recent(*change, now));
        if self.changes.len() == MOST_CHANGES {
            self.changes.remove(0);
        }
        self.changes.push(now);
        self.past.flapping = match self.changes.as_slice() {
            [first, .., last] if self.changes.len() >= FLAP_CHANGES => {
                Some(Flapping { changes: self.changes.len(), first: *first, last: *last })
            }
            _ => None,
        };
    }
}

/// Within [`FLAP_WINDOW`] before `now`, or after it where the clock was set back.
fn is_recent(time: Timestamp, now: Timestamp) -> bool {
    now.duration_since(time) < FLAP_WINDOW
}

/// What somebody stopped on purpose isn't ill.
fn is_well(observation: &Observation, now: Timestamp) -> bool {
    matches!(observation.timeline.at(now).health, Health::Healthy | Health::Suspended)
}

/// Somebody asked for something else: what the object was like before says nothing about it now, and
/// that it isn't well at once isn't its fault. Without a status of its own, the generation of an object
/// counts changes of its status too.
fn is_rebuilt(before: &Observation, after: &Observation) -> bool {
    let asked = before.generation.zip(after.generation);
    after.object.kind.status == StatusReporting::Yes && asked.is_some_and(|(before, after)| before != after)
}
