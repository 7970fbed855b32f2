//! Owners that carry no label, as links between objects that do.

use std::collections::{BTreeMap, HashSet};

use super::{Index, ObjectKey, past::touch};
use crate::{api::Identifier, model::Owner};

impl Index {
    /// Notes which owner controls an object that carries no label, so that what the object controls
    /// itself finds its component. `namespace` is that of the object.
    pub fn link(&mut self, controlled: &str, controller: Option<&Owner>, namespace: &str) {
        let controlled = ObjectKey::of(controlled);
        self.unknown_owners.remove(&controlled);
        self.put_off.remove(&controlled);
        // Nothing needs it any more, or it tells by itself.
        if !self.controlled.contains_key(&controlled) || self.objects.get(controlled).is_some() {
            return;
        }
        let controller = controller.filter(|owner| !owner.uid.is_empty());
        let controller = controller.map(|owner| (ObjectKey::of(&owner.uid), owner));
        self.objects.link(controlled, controller.map(|(key, _)| key));
        if let Some((key, owner)) = controller {
            self.want(key, owner, namespace);
            self.controlled.entry(key).or_default().insert(controlled);
        }
        self.mark_controlled(controlled);
    }

    /// Notes that nobody can tell what controls `owner`, which controls something in `namespace`. It is as
    /// if nothing did, and what it controls itself is shown as a component of its own, until there is a
    /// reason to [ask again](Self::ask_again_where).
    pub fn put_off(&mut self, owner: &Owner, namespace: &str) {
        let key = ObjectKey::of(&owner.uid);
        self.link(&owner.uid, None, namespace);
        if self.controlled.contains_key(&key) && self.objects.get(key).is_none() {
            self.put_off.insert(key, (owner.clone(), namespace.to_owned()));
        }
    }

    /// Has those of the owners asked for again that were [put off](Self::put_off).
    pub fn ask_again_where(&mut self, is_meant: impl Fn(&Owner) -> bool) {
        let all = std::mem::take(&mut self.put_off).into_iter();
        let (again, still): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.partition(|(_, (owner, _))| is_meant(owner));
        self.put_off = still;
        for (key, wanted) in again {
            self.objects.unlink(key);
            self.unknown_owners.insert(key, wanted);
        }
    }

    /// Takes the owners that carry no label and aren't known yet, with the namespace of what they
    /// control: [`Index::link`] wants to hear of each.
    pub fn take_unknown_owners(&mut self) -> Vec<(Owner, String)> {
        let unknown = std::mem::take(&mut self.unknown_owners).into_iter();
        unknown.filter(|(key, _)| !self.objects.knows(*key)).map(|(_, wanted)| wanted).collect()
    }

    /// An object that lost its label may still be a link between others.
    pub(super) fn ask_again(&mut self, key: ObjectKey) {
        if self.objects.knows(key) {
            return;
        }
        let controlled = self.controlled.get(&key).into_iter().flatten();
        let wanted = controlled.filter_map(|child| self.objects.get(*child)).find_map(|child| {
            let (_, owner) = child.controller()?;
            Some((owner.clone(), child.namespace().to_string()))
        });
        if let Some(wanted) = wanted {
            self.unknown_owners.insert(key, wanted);
        }
    }

    pub(super) fn recontrolled(
        &mut self,
        key: ObjectKey,
        before: Option<ObjectKey>,
        after: Option<ObjectKey>,
    ) {
        if let Some(before) = before {
            self.release(before, key);
        }
        let Some(after) = after else { return };
        if let Some(record) = self.objects.get(key).cloned()
            && let Some((owner_key, owner)) = record.controller()
        {
            self.want(owner_key, owner, record.namespace());
        }
        self.controlled.entry(after).or_default().insert(key);
    }

    /// Asks for an owner that isn't known.
    fn want(&mut self, key: ObjectKey, owner: &Owner, namespace: &str) {
        if !self.objects.knows(key) {
            self.unknown_owners.insert(key, (owner.clone(), namespace.to_owned()));
        }
    }

    /// Forgets that `owner` controls `key`, and the links upwards that nothing needs any more.
    fn release(&mut self, mut owner: ObjectKey, mut key: ObjectKey) {
        while let Some(controlled) = self.controlled.get_mut(&owner) {
            controlled.remove(&key);
            if !controlled.is_empty() {
                return;
            }
            self.controlled.remove(&owner);
            self.unknown_owners.remove(&owner);
            self.put_off.remove(&owner);
            let Some(next) = self.objects.unlink(owner) else { return };
            (key, owner) = (owner, next);
        }
    }

    /// Marks the add-ons of everything below an object: its place in the chain of owners changed.
    pub(super) fn mark_controlled(&mut self, key: ObjectKey) {
        let mut visited: HashSet<ObjectKey> = HashSet::new();
        let mut queue: Vec<ObjectKey> = self.controlled.get(&key).into_iter().flatten().copied().collect();
        while let Some(current) = queue.pop() {
            if visited.insert(current) {
                touch(&mut self.illnesses, &self.objects, current);
                let identifiers: Vec<Identifier> = self.objects.identifiers(current).cloned().collect();
                self.regroup(identifiers);
                queue.extend(self.controlled.get(&current).into_iter().flatten());
            }
        }
    }
}
