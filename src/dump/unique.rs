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

/// The `uid` of an object and of its controller.
pub(super) type Link = (Box<str>, Box<str>);

struct Slot {
    age: Age,
    content: Content,
}

/// What is kept of an object. One that isn't wanted still hides older copies of itself.
enum Content {
    Wanted(Box<Object>),
    Unwanted(Option<Link>),
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
    pub fn insert(&mut self, object: Object, resource_version: u64, wanted: bool) {
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
            content: if wanted { Content::Wanted(Box::new(object)) } else { Content::Unwanted(link(object)) },
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

    /// The wanted ones, in the order in which they were met first, and the links of the others.
    pub fn into_parts(self) -> (Vec<Object>, Vec<Link>) {
        let mut objects = Vec::new();
        let mut links = Vec::new();
        for slot in self.slots.into_iter().flatten() {
            match slot.content {
                Content::Wanted(object) => objects.push(*object),
                Content::Unwanted(link) => links.extend(link),
            }
        }
        (objects, links)
    }
}

fn link(object: Object) -> Option<Link> {
    let controller = object.controller?.uid;
    let uid = object.reference.uid;
    (!uid.is_empty() && !controller.is_empty()).then_some((uid, controller))
}

fn newer(one: Slot, other: Slot) -> Slot {
    if other.age >= one.age { other } else { one }
}
