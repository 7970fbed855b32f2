//! The components of one add-on, kept in order from change to change.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use super::{
    Component, ObjectKey,
    compose::{self, Members, Surroundings},
    record::Record,
};
use crate::{api::Identifier, model::Verdict};

/// So many components are put in their places one by one; of more, all are sorted.
const FEW: usize = 16;

/// The objects that name an object as their controller.
pub(super) type Controlled = HashMap<ObjectKey, HashSet<ObjectKey>>;

/// An add-on as it was computed last, and what has happened since.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// How many objects carry its label.
    pub(super) size: usize,
    /// What it is worth as a component of another.
    pub(super) verdict: Option<Verdict>,
    /// Objects of which there may be news, and the components that they are derived from.
    pub(super) touched: BTreeSet<ObjectKey>,
    /// Which objects are derived from which may have changed.
    pub(super) regrouped: bool,
    components: Arc<[Component]>,
    derived: BTreeSet<ObjectKey>,
}

impl Group {
    /// Its components in order, now that everything is as in `around`.
    pub(super) fn update(
        &mut self,
        identifier: &Identifier,
        controlled: &Controlled,
        around: &Surroundings<'_>,
    ) -> Arc<[Component]> {
        let touched = std::mem::take(&mut self.touched);
        let regrouped = std::mem::take(&mut self.regrouped);
        if regrouped || touched.len() > self.components.len() {
            self.compute(identifier, touched, around);
        } else if !touched.is_empty() {
            self.change(identifier, touched, controlled, around);
        }
        Arc::clone(&self.components)
    }

    /// Computes all of them anew.
    fn compute(&mut self, identifier: &Identifier, touched: BTreeSet<ObjectKey>, around: &Surroundings<'_>) {
        let known = self.components.iter().map(|component| component.record().key);
        let all = known.chain(std::mem::take(&mut self.derived)).chain(touched);
        let mut seen = HashSet::new();
        // In the order that they had, which is quickly sorted.
        let members = all.filter(|key| seen.insert(*key));
        let Members { components, derived } = compose::members(identifier, members, around);
        self.components = components.into();
        self.derived = derived.into_iter().collect();
    }

    /// Computes those anew that are concerned.
    fn change(
        &mut self,
        identifier: &Identifier,
        mut touched: BTreeSet<ObjectKey>,
        controlled: &Controlled,
        around: &Surroundings<'_>,
    ) {
        let root = |key: &ObjectKey| around.objects.root(*key, identifier);
        let roots: Vec<ObjectKey> = touched.iter().filter_map(root).collect();
        touched.extend(roots);
        let kept = self.components.iter().filter(|component| !touched.contains(&component.record().key));
        let mut components = Vec::with_capacity(self.components.len() + touched.len());
        components.extend(kept.cloned());
        let mut changed: Vec<Component> = Vec::new();
        for key in &touched {
            self.derived.remove(key);
            match around.objects.get(*key).filter(|record| record.belongs_to(identifier)) {
                Some(_) if root(key).is_some() => drop(self.derived.insert(*key)),
                Some(record) => {
                    let derived = derived_from(*key, identifier, controlled, around);
                    changed.push(compose::component(identifier, record, &derived, around));
                }
                None => {}
            }
        }
        if changed.len() > FEW {
            components.extend(changed);
            components.sort_by(Component::order);
        } else {
            for component in changed {
                let place = components.partition_point(|other| other.order(&component).is_lt());
                components.insert(place, component);
            }
        }
        self.components = components.into();
    }
}

/// The objects of the add-on that are derived from the component with this key.
fn derived_from<'a>(
    key: ObjectKey,
    identifier: &Identifier,
    controlled: &Controlled,
    around: &Surroundings<'a>,
) -> Vec<&'a Record> {
    let below = |key: &ObjectKey| controlled.get(key).into_iter().flatten().copied();
    let mut queue: Vec<ObjectKey> = below(&key).collect();
    let mut visited = HashSet::new();
    let mut derived = Vec::new();
    while let Some(current) = queue.pop() {
        if visited.insert(current) {
            queue.extend(below(&current));
            let record = around.objects.get(current).filter(|record| record.belongs_to(identifier));
            let is_derived = || around.objects.root(current, identifier) == Some(key);
            derived.extend(record.filter(|_| is_derived()).map(|record| &**record));
        }
    }
    derived
}
