//! What is known of an object from before.

use std::collections::HashMap;

use super::{ObjectKey, members::Objects, record::Record as Known};
use crate::model::{Flapping, SignedDuration, StatusReporting, Timeline, Timestamp};

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
    /// When it was first seen as it is, where it says no time itself and won't be waited for for ever.
    /// To the second, as that is what an `Addon` keeps.
    pub waiting_since: Option<Timestamp>,
    /// It goes to and fro: what its last change showed.
    pub flapping: Option<Flapping>,
}

impl Past {
    /// Adds what another knows of the same object.
    pub(super) fn join(&mut self, other: Self) {
        self.waiting_since = [self.waiting_since, other.waiting_since].into_iter().flatten().min();
        self.flapping = self.flapping.or(other.flapping);
    }

    /// The next moment after `now` at which the verdict on an object changes by itself.
    pub(super) fn next_change(self, known: &Known, now: Timestamp) -> Option<Timestamp> {
        let tells = known.later().is_some() || known.patience().is_some();
        tells.then(|| self.age(known.timeline()).next_change(now)).flatten()
    }

    /// How an object is, counted from when it was first seen so where it tells no time.
    pub(super) fn age(self, mut timeline: Timeline) -> Timeline {
        match self.waiting_since {
            Some(start) if timeline.patience.is_some() => {
                timeline.first.since = Some(start);
                timeline.overdue_from(start)
            }
            _ => timeline,
        }
    }
}

/// The pasts of all objects by key: nothing for those that never changed.
#[derive(Debug, Default)]
pub(super) struct Pasts {
    records: HashMap<ObjectKey, Record>,
    /// Objects that aren't components and took too long before the start, as they are written, and
    /// since when.
    overdue_parts: HashMap<String, Timestamp>,
    swept: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Record {
    past: Past,
    /// It wasn't seen yet, an `Addon` tells of it.
    is_remembered: bool,
    /// The last changes between well and ill, the oldest first.
    changes: Vec<Timestamp>,
}

impl Pasts {
    pub(super) fn get(&self, key: ObjectKey) -> Past {
        self.records.get(&key).map(|record| record.past).unwrap_or_default()
    }

    /// Notes that an object changed, or is seen for the first time.
    pub(super) fn changed(&mut self, before: Option<&Known>, after: &Known, now: Timestamp) {
        let waits = after.patience().is_some();
        let is_ill = |known: &Known| known.health_at(now).is_ill();
        let swings = before.is_some_and(|before| is_ill(before) != is_ill(after));
        let record = match self.records.get_mut(&after.key) {
            Some(record) => record,
            None if waits || swings => self.records.entry(after.key).or_default(),
            None => return,
        };
        let now = whole_second(now);
        let start = record.past.waiting_since.or_else(|| match before {
            None if !self.overdue_parts.is_empty() => self.overdue_parts.remove(&after.to_string()),
            _ => None,
        });
        record.past.waiting_since = waits.then(|| start.map_or(now, |start| start.min(now)));
        if std::mem::take(&mut record.is_remembered) {
            // What an `Addon` says of a component may be what its parts are like.
        } else if before.is_some_and(|before| is_rebuilt(before, after)) {
            record.changes.clear();
        } else if swings {
            record.swing(now);
        }
    }

    /// Takes in what an `Addon` remembers of an object that wasn't seen yet.
    pub(super) fn remember(&mut self, key: ObjectKey, past: Past) {
        if past != Past::default() {
            self.records.insert(key, Record { past, is_remembered: true, ..Record::default() });
        }
    }

    /// Takes in what an `Addon` remembers of an object that was seen. True where that tells anything
    /// new.
    pub(super) fn recall(&mut self, key: ObjectKey, past: Past) -> bool {
        let is_waiting = self.get(key).waiting_since.is_some();
        if past.flapping.is_none() && !is_waiting {
            return false;
        }
        let record = self.records.entry(key).or_default();
        let before = record.past;
        record.past.join(Past {
            waiting_since: past.waiting_since.filter(|_| is_waiting),
            flapping: past.flapping.filter(|_| record.changes.is_empty()),
        });
        record.past != before
    }

    /// Takes in since when an object that isn't a component took too long before the start. Gives the
    /// objects that this tells anything new of.
    pub(super) fn recall_part(&mut self, part: &str, start: Timestamp, objects: &Objects) -> Vec<ObjectKey> {
        self.overdue_parts.insert(part.to_owned(), start);
        let mut known = Vec::new();
        for (key, record) in &mut self.records {
            let is_it = || objects.get(*key).is_some_and(|known| known.to_string() == part);
            if record.past.waiting_since.is_some_and(|since| since > start) && is_it() {
                record.past.waiting_since = Some(start);
                known.push(*key);
            }
        }
        known
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn forget(&mut self, key: ObjectKey) {
        self.records.remove(&key);
    }

    /// Drops what says nothing any more, now and then.
    pub(super) fn sweep(&mut self, now: Timestamp) {
        if self.swept.is_some_and(|swept| is_recent(swept, now)) {
            return;
        }
        if self.swept.replace(now).is_some() {
            self.overdue_parts.clear();
        }
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

/// The API keeps times in whole seconds.
pub(super) fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// Within [`FLAP_WINDOW`] before `now`, or after it where the clock was set back.
fn is_recent(time: Timestamp, now: Timestamp) -> bool {
    now.duration_since(time) < FLAP_WINDOW
}

/// Somebody asked for something else: what the object was like before says nothing about it now, and
/// that it isn't well at once isn't its fault. Without a status of its own, the generation of an object
/// counts changes of its status too.
fn is_rebuilt(before: &Known, after: &Known) -> bool {
    let asked = before.generation().zip(after.generation());
    after.kind.status == StatusReporting::Yes && asked.is_some_and(|(before, after)| before != after)
}
