//! Which of the labelled objects of an add-on are components, and which are derived from one.

use std::{
    borrow::Borrow,
    collections::{HashMap, HashSet},
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::{
    ObjectKey, Observation,
    record::{Record, Vocabulary},
};
use crate::{
    api::Identifier,
    model::{GroupKind, Kind, ObjectRef},
};

/// The key of an object.
pub(super) fn key(object: &ObjectRef) -> ObjectKey {
    ObjectKey::naming(&object.kind, &object.namespace, &object.name, &object.uid)
}

/// What names an object among all: its `uid`, or group, kind, namespace and name where a file gave none.
pub fn object_key(kind: &Kind, namespace: &str, name: &str, uid: &str) -> Box<str> {
    if uid.is_empty() {
        format!("{}/{}/{namespace}/{name}", kind.group, kind.kind).into()
    } else {
        uid.into()
    }
}

/// All labelled objects, found by key.
#[derive(Debug, Default)]
pub(super) struct Objects {
    entries: HashSet<Entry>,
    /// What groups that aren't preferred say of an object, in order of preference.
    others: HashMap<ObjectKey, Vec<Arc<Record>>>,
    /// Objects that carry no label themselves, and what controls each, as far as anything does.
    links: HashMap<ObjectKey, Option<ObjectKey>>,
    vocabulary: Vocabulary,
}

/// A record, found by its key.
#[derive(Debug)]
struct Entry(Arc<Record>);

impl Borrow<ObjectKey> for Entry {
    fn borrow(&self) -> &ObjectKey {
        &self.0.key
    }
}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl Eq for Entry {}

impl Objects {
    /// What is to be kept of an object.
    pub(super) fn record(&mut self, observation: Observation) -> Record {
        self.vocabulary.record(observation)
    }

    /// The object, as the preferred of the groups that serve it shows it.
    pub(super) fn get(&self, key: ObjectKey) -> Option<&Arc<Record>> {
        self.entries.get(&key).map(|entry| &entry.0)
    }

    /// Whether the object is known exactly like this, but for its generation, which is noted.
    pub(super) fn refresh(&self, record: &Record) -> bool {
        let others = self.others.get(&record.key).into_iter().flatten();
        let same = self.get(record.key).into_iter().chain(others).find(|known| ***known == *record);
        if let Some(same) = same {
            same.take_generation(record);
        }
        same.is_some()
    }

    /// Whether nothing better is known of the object than `record`.
    pub(super) fn prefers(&self, record: &Record) -> bool {
        self.get(record.key).is_none_or(|known| preference(&record.kind) <= preference(&known.kind))
    }

    /// The add-ons that the object belongs to.
    pub(super) fn identifiers(&self, key: ObjectKey) -> impl Iterator<Item = &Identifier> {
        self.get(key).into_iter().flat_map(|record| record.identifiers())
    }

    /// Every object once.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.entries.iter().map(|entry| &entry.0)
    }

    /// Puts an object in, in place of what its kind said of it before.
    pub(super) fn insert(&mut self, record: Arc<Record>) {
        let key = record.key;
        if !self.others.contains_key(&key) && self.get(key).is_none_or(|known| known.is_of_kind_of(&record)) {
            self.entries.replace(Entry(record));
            return;
        }
        let mut seen = self.take(key);
        seen.retain(|other| !other.is_of_kind_of(&record));
        seen.push(record);
        self.put(key, seen);
    }

    /// Takes out what a kind says of an object.
    pub(super) fn remove(&mut self, key: ObjectKey, kind: &GroupKind) {
        let mut seen = self.take(key);
        seen.retain(|record| !record.is_of(kind));
        self.put(key, seen);
    }

    fn take(&mut self, key: ObjectKey) -> Vec<Arc<Record>> {
        let preferred = self.entries.take(&key).map(|entry| entry.0);
        preferred.into_iter().chain(self.others.remove(&key).unwrap_or_default()).collect()
    }

    fn put(&mut self, key: ObjectKey, mut seen: Vec<Arc<Record>>) {
        seen.sort_by(|a, b| preference(&a.kind).cmp(&preference(&b.kind)));
        let others = seen.split_off(seen.len().min(1));
        self.entries.extend(seen.pop().map(Entry));
        if !others.is_empty() {
            self.others.insert(key, others);
        }
    }

    /// Notes which object controls one that carries no label.
    pub(super) fn link(&mut self, controlled: ObjectKey, controller: Option<ObjectKey>) {
        self.links.insert(controlled, controller);
    }

    /// Forgets a link; gives the controller that it led to.
    pub(super) fn unlink(&mut self, controlled: ObjectKey) -> Option<ObjectKey> {
        self.links.remove(&controlled).flatten()
    }

    /// The object's controller, as far as it is known.
    pub(super) fn controller(&self, key: ObjectKey) -> Option<ObjectKey> {
        match self.get(key) {
            Some(record) => record.controller().map(|(key, _)| key),
            None => self.links.get(&key).copied().flatten(),
        }
    }

    /// Whether anything is known of the object, labelled or not.
    pub(super) fn knows(&self, key: ObjectKey) -> bool {
        self.entries.contains(&key) || self.links.contains_key(&key)
    }

    /// The topmost controller of the object that belongs to the same add-on, `None` where the
    /// object is a component itself. A circle of owners has no top: it ends where it closes.
    pub(super) fn root(&self, key: ObjectKey, identifier: &Identifier) -> Option<ObjectKey> {
        let mut current = Some(self.controller(key)?);
        // Brent's cycle detection: one owner is remembered, and replaced after 1, 2, 4, … steps. A chain that
        // comes back to it is a circle.
        let (mut waiting, mut steps, mut left) = (key, 1_usize, 1_usize);
        let mut top = None;
        while let Some(owner) = current {
            if owner == waiting {
                return None;
            }
            left -= 1;
            if left == 0 {
                waiting = owner;
                steps = steps.saturating_mul(2);
                left = steps;
            }
            if self.get(owner).is_some_and(|record| record.belongs_to(identifier)) {
                top = Some(owner);
            }
            current = self.controller(owner);
        }
        top
    }
}

/// Where several groups serve one object, the newer is shown: what was moved out of the core group
/// and out of `extensions` went to a group of its own.
fn preference(kind: &Kind) -> (u8, &str) {
    let rank = match &*kind.group {
        "extensions" => 2,
        "" => 1,
        _ => 0,
    };
    (rank, &kind.group)
}
