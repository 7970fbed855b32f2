use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use super::{
    Combination, Observation, Remembered, Summary,
    compose::Surroundings,
    illness::{Illness, Illnesses, State},
    members::{self, Key, Objects},
    nesting::Nesting,
    past::Pasts,
    summary,
};
use crate::{
    api::Identifier,
    model::{Explanation, GroupKind, Kind, Owner, Timestamp, Verdict},
};

/// The summaries of all add-ons, kept up to date from changes of single objects.
///
/// A change marks the add-ons that it concerns; [`Index::flush`] computes those anew. Nothing else
/// is looked at, however many objects there are.
#[derive(Debug, Default)]
pub struct Index {
    objects: Objects,
    kinds: HashMap<GroupKind, HashSet<Key>>,
    groups: BTreeMap<Identifier, Group>,
    /// The objects that name an object as their controller, by its key.
    controlled: HashMap<Key, HashSet<Key>>,
    gaps: BTreeMap<GroupKind, String>,
    /// The `Addon` objects among the components: parent and child for each.
    nests: BTreeMap<Key, Vec<(Identifier, Identifier)>>,
    nesting: Nesting,
    pasts: Pasts,
    illnesses: Illnesses,
    combinations: BTreeMap<Identifier, Combination>,
    dirty: BTreeSet<Identifier>,
    due: BTreeSet<(Timestamp, Identifier)>,
    unknown_owners: BTreeMap<Key, (Owner, String)>,
}

#[derive(Debug, Default)]
struct Group {
    members: BTreeSet<Key>,
    /// What it is worth as a component of another.
    verdict: Option<Verdict>,
    due: Option<Timestamp>,
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
    controller: Option<Key>,
    nests: Vec<(Identifier, Identifier)>,
}

impl Index {
    /// Takes in an object as it is at `now`.
    pub fn upsert(&mut self, observation: Observation, now: Timestamp) {
        let key = members::key(&observation.object);
        if self.objects.prefers(&key, &observation) {
            self.pasts.changed(&key, self.objects.get(&key), &observation, now);
        }
        if self.objects.refresh(&key, &observation) {
            return;
        }
        self.kinds.entry(observation.group_kind()).or_default().insert(key.clone());
        let before = self.place(&key);
        self.illnesses.changed(&key, &observation);
        self.objects.unlink(&key);
        self.objects.insert(key.clone(), observation);
        self.moved(&key, &before);
    }

    /// Takes out an object that is gone or carries no label any more, by its
    /// [`object_key`](super::object_key).
    pub fn remove(&mut self, kind: &GroupKind, key: &str) {
        let Some(key) = self.kinds.get_mut(kind).and_then(|keys| keys.take(key)) else { return };
        let before = self.place(&key);
        self.objects.remove(&key, kind);
        if self.objects.get(&key).is_none() {
            self.pasts.forget(&key);
            self.illnesses.gone(&key);
        }
        self.moved(&key, &before);
    }

    /// Takes out all objects of a kind.
    pub fn clear(&mut self, kind: &GroupKind) {
        for key in self.kinds.get(kind).cloned().into_iter().flatten() {
            self.remove(kind, &key);
        }
    }

    /// Takes in a complete list of a kind as it is at `now`: what isn't in it is gone.
    pub fn replace(&mut self, kind: &GroupKind, observations: Vec<Observation>, now: Timestamp) {
        let listed: HashSet<Key> =
            observations.iter().map(|observation| members::key(&observation.object)).collect();
        let gone: Vec<Key> = match self.kinds.get(kind) {
            Some(known) => known.difference(&listed).cloned().collect(),
            None => Vec::new(),
        };
        // What is new first: an owner that both the old and the new name stays known.
        for observation in observations {
            self.upsert(observation, now);
        }
        for key in gone {
            self.remove(kind, &key);
        }
    }

    /// Notes that a kind can't be observed and why, or that it can again.
    pub fn set_gap(&mut self, kind: &GroupKind, why: Option<&str>) {
        let changed = match why {
            Some(why) => self.gaps.insert(kind.clone(), why.to_owned()).as_deref() != Some(why),
            None => self.gaps.remove(kind).is_some(),
        };
        if changed {
            for key in self.kinds.get(kind).into_iter().flatten() {
                self.dirty.extend(self.objects.identifiers(key));
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

    /// Notes which owner controls an object that carries no label, so that what the object controls
    /// itself finds its component. `namespace` is that of the object.
    pub fn link(&mut self, controlled: &str, controller: Option<&Owner>, namespace: &str) {
        self.unknown_owners.remove(controlled);
        if !self.controlled.contains_key(controlled) {
            return;
        }
        self.objects.link(controlled, controller.map_or("", |owner| &owner.uid));
        if let Some(owner) = controller {
            self.want(owner, namespace);
            self.controlled.entry((*owner.uid).into()).or_default().insert(controlled.into());
        }
        self.mark_controlled(controlled);
    }

    /// Takes the owners that carry no label and aren't known yet, with the namespace of what they
    /// control: [`Index::link`] wants to hear of each.
    pub fn take_unknown_owners(&mut self) -> Vec<(Owner, String)> {
        let unknown = std::mem::take(&mut self.unknown_owners).into_iter();
        unknown.filter(|(key, _)| !self.objects.knows(key)).map(|(_, wanted)| wanted).collect()
    }

    /// Takes in what an `Addon` object remembers of a component. What the watch of its kind says,
    /// says it better.
    pub fn remember(&mut self, remembered: Remembered, now: Timestamp) {
        self.recall(&remembered);
        let key = members::key(&remembered.observation.object);
        if !self.objects.knows(&key) {
            self.upsert(remembered.observation, now);
            self.pasts.remember(&key, remembered.past);
            self.recall_explanation(&key, remembered.explanation);
        }
    }

    /// Takes in what an `Addon` object remembers of the past, and nothing else.
    pub fn recall(&mut self, remembered: &Remembered) {
        let Remembered { observation, past, overdue_part, explanation } = remembered;
        let key = members::key(&observation.object);
        self.recall_explanation(&key, explanation.clone());
        if self.objects.get(&key).is_some() && self.pasts.recall(&key, *past) {
            self.dirty.extend(self.objects.identifiers(&key));
        }
        if let Some((part, start)) = overdue_part {
            let known = self.pasts.recall_part(part, *start, &self.objects);
            self.dirty.extend(known.iter().flat_map(|key| self.objects.identifiers(key)));
        }
    }

    /// Takes in what explained an object before the start, until somebody looks anew.
    fn recall_explanation(&mut self, key: &Key, explanation: Option<Explanation>) {
        if let Some(explanation) = explanation
            && self.objects.get(key).is_some()
            && !self.illnesses.explanations().contains_key(key)
        {
            self.illnesses.recall(key, explanation);
            self.dirty.extend(self.objects.identifiers(key));
        }
    }

    /// Takes in what explains a component that was told to be ill, by its
    /// [`object_key`](super::object_key). It holds until the component is well by itself, is gone, or is
    /// explained otherwise.
    pub fn explain(&mut self, key: &Key, explanation: Explanation) {
        if self.illnesses.is_told(key) && self.illnesses.explain(key, explanation) {
            self.dirty.extend(self.objects.identifiers(key));
        }
    }

    /// Takes the components that became ill, well or ill in another way at `now`, by their keys: `None`
    /// for one that is well, gone or can't be observed. [`Index::explain`] wants to hear of those that are
    /// ill.
    pub fn take_illnesses(&mut self, now: Timestamp) -> Vec<(Key, Option<Illness>)> {
        let touched = self.illnesses.take_touched().into_iter();
        touched
            .filter_map(|key| {
                let state = self.state(&key, now);
                let is_news = self.illnesses.tell(&key, &state);
                is_news.then_some(match state {
                    State::Ill(illness) => (key, Some(illness)),
                    State::Well | State::Unseen => (key, None),
                })
            })
            .collect()
    }

    fn state(&self, key: &Key, now: Timestamp) -> State {
        let Some(observation) = self.objects.get(key) else { return State::Well };
        if self.gaps.contains_key(&observation.group_kind()) {
            return State::Unseen;
        }
        let mut memberships = observation.memberships.iter();
        let is_component = memberships.any(|m| self.objects.root(key, &m.identifier).is_none());
        let timeline = observation.timeline_after(self.pasts.get(key));
        let verdict = timeline.at(now);
        if is_component && observation.sums_up.is_none() && verdict.health.wants_cause() {
            State::Ill(Illness { object: observation.object.clone(), verdict: verdict.clone() })
        } else {
            State::Well
        }
    }

    /// The kinds of which objects are known.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.kinds.iter().filter(|(_, keys)| !keys.is_empty()).map(|(kind, _)| kind)
    }

    /// A kind as one of its objects names it.
    pub fn kind(&self, kind: &GroupKind) -> Option<Arc<Kind>> {
        let named = |key: &Key| self.objects.get(key).map(|known| Arc::clone(&known.object.kind));
        self.kinds.get(kind)?.iter().filter_map(named).find(|known| known.group_kind() == *kind)
    }

    /// How many objects of a kind are known.
    pub fn count(&self, kind: &GroupKind) -> usize {
        self.kinds.get(kind).map_or(0, HashSet::len)
    }

    /// Whether the add-on has components.
    pub fn contains(&self, identifier: &Identifier) -> bool {
        self.groups.get(identifier).is_some_and(|group| !group.members.is_empty())
    }

    /// How many objects have a past that is kept: those that wait, flap, or changed between well and
    /// ill lately.
    pub fn pasts(&self) -> usize {
        self.pasts.len()
    }

    /// The next moment at which a verdict changes by itself.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Computes every add-on anew that a change or the time concerns.
    pub fn flush(&mut self, now: Timestamp) -> Vec<Change> {
        self.pasts.sweep(now);
        while let Some((at, _)) = self.due.first()
            && *at <= now
            && let Some((_, identifier)) = self.due.pop_first()
        {
            for key in self.groups.get(&identifier).into_iter().flat_map(|group| &group.members) {
                touch(&mut self.illnesses, &self.objects, key);
            }
            self.dirty.insert(identifier);
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
                self.dirty.extend(self.nesting.parents(&identifier).cloned());
            }
            changes.insert(identifier, change);
        }
        changes.into_values().collect()
    }

    fn compute(&mut self, identifier: &Identifier, now: Timestamp) -> Change {
        let Some(group) = self.groups.get(identifier) else { return Change::Empty(identifier.clone()) };
        let next_change = |key: &Key| {
            let timeline = self.objects.get(key)?.timeline_after(self.pasts.get(key));
            timeline.next_change(now)
        };
        let due = group.members.iter().filter_map(next_change).min();
        let previous = group.due;
        let change = if group.members.is_empty() {
            Change::Empty(identifier.clone())
        } else {
            let nested = |parent: &Identifier, child: &Identifier| {
                let circle = self.nesting.circle(parent, child);
                circle.or_else(|| self.groups.get(child).and_then(|group| group.verdict.clone()))
            };
            let past = |key: &str| self.pasts.get(key);
            let around = Surroundings {
                objects: &self.objects,
                past: &past,
                explanations: self.illnesses.explanations(),
                combinations: &self.combinations,
                gaps: &self.gaps,
                nested: &nested,
                now,
            };
            Change::Show(Box::new(summary(identifier, group.members.iter(), &around)))
        };
        if due != previous {
            if let Some(previous) = previous {
                self.due.remove(&(previous, identifier.clone()));
            }
            self.due.extend(due.map(|due| (due, identifier.clone())));
            if let Some(group) = self.groups.get_mut(identifier) {
                group.due = due;
            }
        }
        change
    }

    fn place(&self, key: &Key) -> Place {
        let controller = self.objects.controller(key).filter(|uid| !uid.is_empty()).map(Into::into);
        match self.objects.get(key) {
            Some(observation) => Place {
                identifiers: observation.memberships.iter().map(|m| m.identifier.clone()).collect(),
                controller,
                nests: observation.nests(),
            },
            None => Place { controller, ..Place::default() },
        }
    }

    /// An object changed: marks what that concerns and keeps the maps right.
    fn moved(&mut self, key: &Key, before: &Place) {
        let after = self.place(key);
        self.dirty.extend(before.identifiers.iter().chain(&after.identifiers).cloned());
        if *before == after {
            return;
        }
        for identifier in
            before.identifiers.iter().filter(|identifier| !after.identifiers.contains(identifier))
        {
            if let Some(group) = self.groups.get_mut(identifier) {
                group.members.remove(key);
            }
        }
        for identifier in after.identifiers {
            self.groups.entry(identifier).or_default().members.insert(key.clone());
        }
        if before.controller != after.controller {
            self.recontrolled(key, before.controller.as_ref(), after.controller);
        }
        if before.nests != after.nests {
            self.renested(key, &before.nests, after.nests);
        }
        self.mark_controlled(key);
        self.ask_again(key);
    }

    /// An object that lost its label may still be a link between others.
    fn ask_again(&mut self, key: &Key) {
        if self.objects.knows(key) {
            return;
        }
        let controlled = self.controlled.get(key).into_iter().flatten();
        let wanted = controlled.filter_map(|child| self.objects.get(child)).find_map(|child| {
            Some(((**child.controller.as_ref()?).clone(), child.object.namespace.to_string()))
        });
        if let Some(wanted) = wanted {
            self.unknown_owners.insert(key.clone(), wanted);
        }
    }

    fn recontrolled(&mut self, key: &Key, before: Option<&Key>, after: Option<Key>) {
        if let Some(before) = before {
            self.release(before, key);
        }
        let Some(after) = after else { return };
        if let Some(observation) = self.objects.get(key)
            && let Some(owner) = observation.controller.clone()
        {
            let namespace = observation.object.namespace.clone();
            self.want(&owner, &namespace);
        }
        self.controlled.entry(after).or_default().insert(key.clone());
    }

    /// Asks for an owner that isn't known.
    fn want(&mut self, owner: &Owner, namespace: &str) {
        if !self.objects.knows(&owner.uid) {
            self.unknown_owners.insert((*owner.uid).into(), (owner.clone(), namespace.to_owned()));
        }
    }

    /// Forgets that `owner` controls `key`, and the links upwards that nothing needs any more.
    fn release(&mut self, owner: &Key, key: &Key) {
        let (mut owner, mut key) = (owner.clone(), key.clone());
        while let Some(controlled) = self.controlled.get_mut(&owner) {
            controlled.remove(&key);
            if !controlled.is_empty() {
                return;
            }
            self.controlled.remove(&owner);
            self.unknown_owners.remove(&owner);
            let Some(next) = self.objects.unlink(&owner) else { return };
            (key, owner) = (owner, next);
        }
    }

    fn renested(
        &mut self,
        key: &Key,
        before: &[(Identifier, Identifier)],
        after: Vec<(Identifier, Identifier)>,
    ) {
        let parents: Vec<Identifier> =
            before.iter().chain(&after).map(|(parent, _)| parent.clone()).collect();
        self.dirty.extend(self.nesting.with_ancestors(parents.clone()));
        if after.is_empty() {
            self.nests.remove(key);
        } else {
            self.nests.insert(key.clone(), after);
        }
        self.nesting = self.nests.values().flatten().cloned().collect();
        self.dirty.extend(self.nesting.with_ancestors(parents));
    }

    /// Marks the add-ons of everything below an object: its place in the chain of owners changed.
    fn mark_controlled(&mut self, key: &str) {
        let mut visited: HashSet<Key> = HashSet::new();
        let mut queue: Vec<Key> = self.controlled.get(key).into_iter().flatten().cloned().collect();
        while let Some(current) = queue.pop() {
            if visited.insert(current.clone()) {
                touch(&mut self.illnesses, &self.objects, &current);
                self.dirty.extend(self.objects.identifiers(&current));
                queue.extend(self.controlled.get(&current).into_iter().flatten().cloned());
            }
        }
    }
}

/// Notes that an object may be ill in another way, although it is the same.
fn touch(illnesses: &mut Illnesses, objects: &Objects, key: &Key) {
    if let Some(observation) = objects.get(key) {
        illnesses.changed(key, observation);
    }
}
