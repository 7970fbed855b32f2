mod owners;
mod past;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use self::past::touch;
use super::{
    Combination, ObjectKey, Observation, Remembered, Summary,
    compose::Surroundings,
    due::Due,
    group::{Controlled, Group},
    illness::{Illness, Illnesses, State},
    members::{self, Objects},
    nesting::Nesting,
    past::Pasts,
    summary,
};
use crate::{
    api::Identifier,
    model::{GroupKind, Kind, Owner, Timestamp},
};

/// The summaries of all add-ons, kept up to date from changes of single objects.
///
/// A change marks what it concerns of the add-ons that it concerns; [`Index::flush`] computes that
/// anew. Nothing else is looked at, however many objects there are.
#[derive(Debug, Default)]
pub struct Index {
    objects: Objects,
    kinds: HashMap<GroupKind, HashSet<ObjectKey>>,
    groups: BTreeMap<Identifier, Group>,
    controlled: Controlled,
    gaps: BTreeMap<GroupKind, String>,
    /// The `Addon` objects among the components: parent and child for each.
    nests: BTreeMap<ObjectKey, Vec<(Identifier, Identifier)>>,
    nesting: Nesting,
    pasts: Pasts,
    illnesses: Illnesses,
    combinations: BTreeMap<Identifier, Combination>,
    dirty: BTreeSet<Identifier>,
    due: Due,
    unknown_owners: BTreeMap<ObjectKey, (Owner, String)>,
    /// Owners of which nobody could tell what controls them.
    put_off: BTreeMap<ObjectKey, (Owner, String)>,
}

/// What [`Index::flush`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The add-on has components, and this is how it is.
    Show(Box<Summary>),
    /// The add-on has no components any more.
    Empty(Identifier),
}

/// What the add-ons that an object belongs to depend on besides its own verdict.
#[derive(Default, PartialEq, Eq)]
struct Place {
    identifiers: Vec<Identifier>,
    controller: Option<ObjectKey>,
    nests: Vec<(Identifier, Identifier)>,
}

impl Index {
    /// Takes in an object as it is at `now`.
    pub fn upsert(&mut self, observation: Observation, now: Timestamp) {
        let record = self.objects.record(observation);
        let key = record.key;
        if self.objects.prefers(&record) {
            self.pasts.changed(self.objects.get(key).map(|known| &**known), &record, now);
        }
        if self.objects.refresh(&record) {
            return;
        }
        if self.objects.get(key).is_none_or(|known| !known.is_of_kind_of(&record)) {
            self.kinds.entry(record.group_kind()).or_default().insert(key);
        }
        self.put_off.remove(&key);
        let before = self.place(key);
        self.mark(key);
        self.illnesses.changed(&record);
        self.objects.unlink(key);
        self.objects.insert(Arc::new(record));
        self.moved(key, &before);
    }

    /// Takes out an object that is gone or carries no label any more, by its
    /// [`object_key`](super::object_key).
    pub fn remove(&mut self, kind: &GroupKind, key: &str) {
        self.take_out(kind, ObjectKey::of(key));
    }

    fn take_out(&mut self, kind: &GroupKind, key: ObjectKey) {
        let Some(keys) = self.kinds.get_mut(kind) else { return };
        if !keys.remove(&key) {
            return;
        }
        if keys.is_empty() {
            self.kinds.remove(kind);
        }
        let before = self.place(key);
        self.mark(key);
        self.objects.remove(key, kind);
        if self.objects.get(key).is_none() {
            self.pasts.forget(key);
            self.illnesses.gone(key);
        }
        self.moved(key, &before);
    }

    /// Takes out all objects of a kind.
    pub fn clear(&mut self, kind: &GroupKind) {
        for key in self.kinds.get(kind).cloned().into_iter().flatten() {
            self.take_out(kind, key);
        }
    }

    /// Takes in a complete list of a kind as it is at `now`: what is neither in it nor among the `unread`,
    /// which stay as they are, is gone.
    pub fn replace(
        &mut self,
        kind: &GroupKind,
        observations: Vec<Observation>,
        unread: &[ObjectKey],
        now: Timestamp,
    ) {
        let seen = observations.iter().map(|observation| members::key(&observation.object));
        let listed: HashSet<ObjectKey> = seen.chain(unread.iter().copied()).collect();
        let gone: Vec<ObjectKey> = match self.kinds.get(kind) {
            Some(known) => known.difference(&listed).copied().collect(),
            None => Vec::new(),
        };
        // What is new first: an owner that both the old and the new name stays known.
        for observation in observations {
            self.upsert(observation, now);
        }
        for key in gone {
            self.take_out(kind, key);
        }
    }

    /// Notes that a kind can't be observed and why, or that it can again.
    pub fn set_gap(&mut self, kind: &GroupKind, why: Option<&str>) {
        let changed = match why {
            Some(why) => self.gaps.insert(kind.clone(), why.to_owned()).as_deref() != Some(why),
            None => self.gaps.remove(kind).is_some(),
        };
        if changed {
            let known: Vec<ObjectKey> = self.kinds.get(kind).into_iter().flatten().copied().collect();
            for key in known {
                self.mark(key);
                touch(&mut self.illnesses, &self.objects, key);
            }
            // What can't be seen may be what a combination needs.
            let combined = self.combinations.keys();
            self.dirty.extend(combined.filter(|name| self.groups.contains_key(*name)).cloned());
        }
    }

    /// Takes in how the components of add-ons combine, in place of what was said before.
    pub fn set_combinations(&mut self, combinations: BTreeMap<Identifier, Combination>) {
        let before = std::mem::replace(&mut self.combinations, combinations);
        let named: BTreeSet<&Identifier> = before.keys().chain(self.combinations.keys()).collect();
        let changed = named.into_iter().filter(|name| before.get(*name) != self.combinations.get(*name));
        self.dirty.extend(changed.filter(|name| self.groups.contains_key(*name)).cloned());
    }

    /// The kinds of which objects are known.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.kinds.keys()
    }

    /// A kind as one of its objects names it.
    pub fn kind(&self, kind: &GroupKind) -> Option<Arc<Kind>> {
        let mut known = self.kinds.get(kind)?.iter().filter_map(|key| self.objects.get(*key));
        known.find(|record| record.is_of(kind)).map(|record| Arc::clone(&record.kind))
    }

    /// How many objects of a kind are known.
    pub fn count(&self, kind: &GroupKind) -> usize {
        self.kinds.get(kind).map_or(0, HashSet::len)
    }

    /// Has an add-on be computed anew, as what is added to it elsewhere has changed.
    pub fn touch(&mut self, identifier: &Identifier) {
        if self.groups.contains_key(identifier) {
            self.dirty.insert(identifier.clone());
        }
    }

    /// Whether the add-on has components.
    pub fn contains(&self, identifier: &Identifier) -> bool {
        self.groups.get(identifier).is_some_and(|group| group.size > 0)
    }

    /// How many objects have a past that is kept: those that wait, flap, or changed between well and
    /// ill lately.
    pub fn pasts(&self) -> usize {
        self.pasts.len()
    }

    /// The next moment at which a verdict changes by itself.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.next()
    }

    /// Computes anew whatever a change or the time concerns.
    pub fn flush(&mut self, now: Timestamp) -> Vec<Change> {
        self.pasts.sweep(now);
        while let Some(key) = self.due.take(now) {
            touch(&mut self.illnesses, &self.objects, key);
            self.mark(key);
        }
        let mut changes: BTreeMap<Identifier, Change> = BTreeMap::new();
        while let Some(identifier) = self.dirty.pop_first() {
            let change = self.compute(&identifier, now);
            let verdict = match &change {
                Change::Show(summary) => Some(summary.verdict()),
                Change::Empty(_) => None,
            };
            let group = self.groups.get_mut(&identifier);
            let previous = group.and_then(|group| std::mem::replace(&mut group.verdict, verdict.clone()));
            if verdict.is_none() {
                self.groups.remove(&identifier);
            }
            if verdict != previous {
                self.mark_parents(&identifier);
            }
            changes.insert(identifier, change);
        }
        changes.into_values().collect()
    }

    fn compute(&mut self, identifier: &Identifier, now: Timestamp) -> Change {
        let Some(group) = self.groups.get_mut(identifier) else { return Change::Empty(identifier.clone()) };
        let mut group = std::mem::take(group);
        for key in &group.touched {
            let next = self.objects.get(*key).and_then(|known| self.pasts.get(*key).next_change(known, now));
            self.due.set(*key, next);
        }
        let change = if group.size == 0 {
            Change::Empty(identifier.clone())
        } else {
            let nested = |parent: &Identifier, child: &Identifier| {
                let circle = self.nesting.circle(parent, child);
                circle.or_else(|| self.groups.get(child).and_then(|group| group.verdict.clone()))
            };
            let past = |key: ObjectKey| self.pasts.get(key);
            let around = Surroundings {
                objects: &self.objects,
                past: &past,
                explanations: self.illnesses.explanations(),
                combinations: &self.combinations,
                gaps: &self.gaps,
                nested: &nested,
                now,
            };
            let components = group.update(identifier, &self.controlled, &around);
            Change::Show(Box::new(summary(identifier, components, &around)))
        };
        self.groups.insert(identifier.clone(), group);
        change
    }

    fn place(&self, key: ObjectKey) -> Place {
        let controller = self.objects.controller(key);
        match self.objects.get(key) {
            Some(record) => Place {
                identifiers: record.identifiers().cloned().collect(),
                controller,
                nests: record.nests(),
            },
            None => Place { controller, ..Place::default() },
        }
    }

    /// Marks an object and what it is derived from, in all its add-ons.
    fn mark(&mut self, key: ObjectKey) {
        for identifier in self.objects.identifiers(key) {
            if let Some(group) = self.groups.get_mut(identifier) {
                group.touched.insert(key);
                group.touched.extend(self.objects.root(key, identifier));
            }
            self.dirty.insert(identifier.clone());
        }
    }

    /// Marks an add-on in the add-ons that have it as a component.
    fn mark_parents(&mut self, identifier: &Identifier) {
        for (key, pairs) in &self.nests {
            for (parent, _) in pairs.iter().filter(|(_, child)| child == identifier) {
                if let Some(group) = self.groups.get_mut(parent) {
                    group.touched.insert(*key);
                }
                self.dirty.insert(parent.clone());
            }
        }
    }

    /// Marks everything in some add-ons.
    fn regroup(&mut self, identifiers: impl IntoIterator<Item = Identifier>) {
        for identifier in identifiers {
            if let Some(group) = self.groups.get_mut(&identifier) {
                group.regrouped = true;
            }
            self.dirty.insert(identifier);
        }
    }

    /// An object changed: marks what that concerns and keeps the maps right.
    fn moved(&mut self, key: ObjectKey, before: &Place) {
        let after = self.place(key);
        if *before == after {
            self.mark(key);
            return;
        }
        for identifier in before.identifiers.iter().filter(|known| !after.identifiers.contains(known)) {
            if let Some(group) = self.groups.get_mut(identifier) {
                group.size = group.size.saturating_sub(1);
            }
        }
        for identifier in after.identifiers.iter().filter(|new| !before.identifiers.contains(new)) {
            self.groups.entry(identifier.clone()).or_default().size += 1;
        }
        self.mark(key);
        if before.controller != after.controller {
            self.recontrolled(key, before.controller, after.controller);
        }
        if before.nests != after.nests {
            self.renested(key, &before.nests, after.nests);
        }
        self.mark_controlled(key);
        self.ask_again(key);
    }

    fn renested(
        &mut self,
        key: ObjectKey,
        before: &[(Identifier, Identifier)],
        after: Vec<(Identifier, Identifier)>,
    ) {
        let parents: Vec<Identifier> =
            before.iter().chain(&after).map(|(parent, _)| parent.clone()).collect();
        self.regroup(self.nesting.with_ancestors(parents.clone()));
        if after.is_empty() {
            self.nests.remove(&key);
        } else {
            self.nests.insert(key, after);
        }
        self.nesting = self.nests.values().flatten().cloned().collect();
        self.regroup(self.nesting.with_ancestors(parents));
    }
}
