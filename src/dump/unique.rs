use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use super::kinds::VersionRank;
use crate::model::{GroupKind, Object};

/// Objects, each once: the same `uid`, or the same group, kind, namespace and name, is the same
/// object, however often and under whatever version it was dumped.
#[derive(Default)]
pub(super) struct Unique {
    slots: Vec<Option<Slot>>,
    by_uid: HashMap<Box<str>, usize>,
    by_name: HashMap<(GroupKind, Arc<str>, Box<str>), usize>,
}

struct Slot {
    age: Age,
    object: Box<Object>,
}

/// Which of two copies is shown: the one that the API server wrote last, then the one under the
/// version that is served today. Nothing is served under `extensions` any more.
#[derive(PartialEq, PartialOrd)]
struct Age {
    resource_version: u64,
    generation: Option<i64>,
    version: VersionRank,
    removed_group: Reverse<bool>,
}

impl Unique {
    /// Takes an object. `resource_version` is 0 where it has none; of equals the last one stays.
    pub fn insert(&mut self, object: Object, resource_version: u64) {
        let reference = &object.reference;
        let uid = (!reference.uid.is_empty()).then(|| reference.uid.clone());
        let name = (reference.kind.group_kind(), Arc::clone(&reference.namespace), reference.name.clone());
        let new = Slot {
            age: Age {
                resource_version,
                generation: object.generation,
                version: VersionRank::of(&reference.kind.version),
                removed_group: Reverse(reference.kind.group == "extensions"),
            },
            object: Box::new(object),
        };
        let same_uid = uid.as_ref().and_then(|uid| self.by_uid.get(uid).copied());
        let same_name = self.by_name.get(&name).copied();
        let slot = same_uid.or(same_name).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let merged = same_name.filter(|other| *other != slot).and_then(|other| self.slots[other].take());
        let held = self.slots[slot].take();
        self.slots[slot] = [held, merged, Some(new)].into_iter().flatten().reduce(newer);
        self.by_name.insert(name, slot);
        if let Some(uid) = uid {
            self.by_uid.insert(uid, slot);
        }
    }

    /// The objects in the order in which they were met first.
    pub fn into_objects(self) -> Vec<Object> {
        self.slots.into_iter().flatten().map(|slot| *slot.object).collect()
    }
}

fn newer(one: Slot, other: Slot) -> Slot {
    if other.age >= one.age { other } else { one }
}
