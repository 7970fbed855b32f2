//! Which of the labelled objects of an add-on are components, and which are derived from one.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::Observation;
use crate::{
    api::Identifier,
    model::{GroupKind, Kind, ObjectRef},
};

/// Names an object among all: its `uid`, or group, kind, namespace and name where a file gave none.
pub(super) type Key = Arc<str>;

/// The key of an object.
pub(super) fn key(object: &ObjectRef) -> Key {
    if object.uid.is_empty() {
        object_key(&object.kind, &object.namespace, &object.name, "").into()
    } else {
        (*object.uid).into()
    }
}

/// The key by which the index knows an object.
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
    entries: HashMap<Key, Vec<Observation>>,
    /// Controllers of objects that carry no label themselves, by the `uid` of the controlled one.
    links: HashMap<Key, Key>,
}

impl Objects {
    /// The object, as the preferred of the groups that serve it shows it.
    pub(super) fn get(&self, key: &str) -> Option<&Observation> {
        self.entries.get(key)?.first()
    }

    /// Whether the object is known exactly like this, but for its generation, which is noted.
    pub(super) fn refresh(&mut self, key: &str, observation: &Observation) -> bool {
        let seen = self.entries.get_mut(key).map(Vec::as_mut_slice).unwrap_or_default();
        seen.iter_mut().any(|known| {
            let before = std::mem::replace(&mut known.generation, observation.generation);
            let same = known == observation;
            if !same {
                known.generation = before;
            }
            same
        })
    }

    /// Whether nothing better is known of the object than `observation`.
    pub(super) fn prefers(&self, key: &str, observation: &Observation) -> bool {
        let rank = |observation: &Observation| preference(&observation.object.kind.group);
        self.get(key).is_none_or(|known| rank(observation) <= rank(known))
    }

    /// The add-ons that the object belongs to.
    pub(super) fn identifiers(&self, key: &str) -> impl Iterator<Item = Identifier> {
        self.get(key)
            .into_iter()
            .flat_map(|observation| &observation.memberships)
            .map(|m| m.identifier.clone())
    }

    /// Every object once.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &Observation)> {
        self.entries.iter().filter_map(|(key, seen)| Some((key, seen.first()?)))
    }

    /// Puts an object in, in place of what its kind said of it before.
    pub(super) fn insert(&mut self, key: Key, observation: Observation) {
        let seen = self.entries.entry(key).or_default();
        seen.retain(|other| other.group_kind() != observation.group_kind());
        seen.push(observation);
        seen.sort_by_cached_key(|observation| preference(&observation.object.kind.group));
    }

    /// Takes out what a kind says of an object.
    pub(super) fn remove(&mut self, key: &str, kind: &GroupKind) {
        if let Some(seen) = self.entries.get_mut(key) {
            seen.retain(|observation| observation.group_kind() != *kind);
            if seen.is_empty() {
                self.entries.remove(key);
            }
        }
    }

    /// Notes which object controls one that carries no label.
    pub(super) fn link(&mut self, controlled: &str, controller: &str) {
        self.links.insert(controlled.into(), controller.into());
    }

    /// Forgets a link; gives the controller that it led to.
    pub(super) fn unlink(&mut self, controlled: &str) -> Option<Key> {
        self.links.remove(controlled)
    }

    /// The `uid` of the object's controller, as far as it is known.
    pub(super) fn controller(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(observation) => observation.controller.as_ref().map(|owner| &*owner.uid),
            None => self.links.get(key).map(|uid| &**uid),
        }
    }

    /// Whether anything is known of the object, labelled or not.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.entries.contains_key(key) || self.links.contains_key(key)
    }

    /// The topmost controller of the object that belongs to the same add-on, `None` where the
    /// object is a component itself. A circle of owners has no top: it ends where it closes.
    pub(super) fn root(&self, key: &str, identifier: &Identifier) -> Option<&str> {
        let mut visited = HashSet::from([key]);
        let mut top = None;
        let mut current = self.controller(key);
        while let Some(owner) = current {
            if !visited.insert(owner) {
                return None;
            }
            if self.get(owner).is_some_and(|observation| observation.belongs_to(identifier)) {
                top = Some(owner);
            }
            current = self.controller(owner);
        }
        top
    }
}

/// Where several groups serve one object, the newer is shown: what was moved out of the core group
/// and out of `extensions` went to a group of its own.
fn preference(group: &str) -> (u8, String) {
    let rank = match group {
        "extensions" => 2,
        "" => 1,
        _ => 0,
    };
    (rank, group.to_owned())
}

impl Observation {
    /// Whether it carries the label of this add-on.
    pub fn belongs_to(&self, identifier: &Identifier) -> bool {
        self.install_of(identifier).is_some()
    }

    /// The label's value for this add-on.
    pub(super) fn install_of(&self, identifier: &Identifier) -> Option<&str> {
        self.memberships.iter().find(|m| m.identifier == *identifier).map(|m| m.install.as_str())
    }
}
