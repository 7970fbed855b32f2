//! What the `Addon` objects say of the time before the start.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::addons::Written;
use crate::{
    api::{AddonCondition, AddonStatus, Identifier, object_name},
    model::Timestamp,
    summary::{ObjectKey, Remembered as Component, Unnamed, WatchState},
};

/// What the `Addon` objects say, by name.
#[derive(Debug)]
pub(super) struct Memory {
    state: WatchState,
    since: Timestamp,
    listed: bool,
    addons: BTreeMap<String, Remembered>,
}

#[derive(Debug)]
struct Remembered {
    identifier: Identifier,
    /// Only its conditions; `None` while the board shows it, and what the `Addon` says isn't needed.
    status: Option<Box<AddonStatus>>,
    /// What it counts beyond the components that it names, until as many were seen: what it says then is from
    /// us.
    unnamed: Option<Box<Unnamed>>,
    was_seen_whole: bool,
}

impl Default for Memory {
    fn default() -> Self {
        let since = Timestamp::now();
        Self { state: WatchState::Syncing, since, listed: false, addons: BTreeMap::new() }
    }
}

impl Memory {
    /// Notes how the `Addon` objects are watched.
    pub(super) fn set_state(&mut self, state: WatchState) {
        match &state {
            WatchState::Forbidden(why) if self.state != state => tracing::error!(
                %why, "may not read Addon objects: give this account the roles of deploy/rbac; HTTP works without"
            ),
            WatchState::Absent(why) if self.state != state => tracing::error!(
                %why, "there is no Addon resource: install it with kubectl apply -k deploy/; HTTP works without"
            ),
            WatchState::Failing(why) if self.state != state => {
                tracing::error!(%why, "can't read Addon objects; HTTP works without");
            }
            WatchState::Synced if self.state.message().is_some() => {
                tracing::info!("Addon objects can be read again");
            }
            _ => {}
        }
        self.be(state);
    }

    fn be(&mut self, state: WatchState) {
        if self.state.as_str() != state.as_str() {
            self.since = Timestamp::now();
        }
        self.state = state;
    }

    /// Since when they are watched so.
    pub(super) fn since(&self) -> Timestamp {
        self.since
    }

    /// How the `Addon` objects are watched.
    pub(super) fn state(&self) -> &WatchState {
        &self.state
    }

    /// Whether it is known what the `Addon` objects say.
    pub(super) fn is_known(&self) -> bool {
        self.listed
    }

    /// Takes in all of them.
    pub(super) fn listed(&mut self, addons: &[Written]) {
        let there: HashSet<&str> = addons.iter().map(|addon| addon.held.name()).collect();
        self.addons.retain(|name, _| there.contains(name.as_str()));
        self.be(WatchState::Synced);
        self.listed = true;
        addons.iter().for_each(|addon| self.changed(addon));
    }

    pub(super) fn changed(&mut self, addon: &Written) {
        let Some(identifier) = addon.held.identifier() else { return };
        let name = addon.held.name();
        let known = self.addons.get(name).filter(|known| known.identifier == identifier);
        let is_shown = known.is_some_and(|known| known.status.is_none());
        let was_seen_whole = known.is_some_and(|known| known.was_seen_whole);
        let remembered = Remembered {
            identifier,
            unnamed: addon.unnamed.clone().filter(|_| !was_seen_whole),
            was_seen_whole,
            status: (!is_shown).then(|| only(addon.conditions.clone())),
        };
        self.addons.insert(name.to_owned(), remembered);
    }

    pub(super) fn gone(&mut self, name: &str) {
        self.addons.remove(name);
    }

    /// The identifiers of all of them.
    pub(super) fn identifiers(&self) -> impl Iterator<Item = &Identifier> {
        self.addons.values().map(|addon| &addon.identifier)
    }

    /// The conditions that the `Addon` of this identifier has, in a status without anything else; of one
    /// that was [shown](Self::shown), nothing.
    pub(super) fn status(&self, identifier: &Identifier) -> Option<&AddonStatus> {
        self.addons.get(&object_name(identifier))?.status.as_deref()
    }

    /// Notes that the board shows an add-on from now on.
    pub(super) fn shown(&mut self, identifier: &Identifier) {
        if let Some(addon) = self.addons.get_mut(&object_name(identifier)) {
            addon.status = None;
        }
    }

    /// Notes that the board doesn't show an add-on any more; with these conditions it did last.
    pub(super) fn hidden(&mut self, identifier: &Identifier, conditions: Vec<AddonCondition>) {
        if let Some(addon) = self.addons.get_mut(&object_name(identifier)) {
            addon.status = Some(only(conditions));
        }
    }

    /// What the `Addon` counted before the start and didn't name, as long as not as many were seen.
    pub(super) fn unnamed(&self, identifier: &Identifier) -> Option<&Unnamed> {
        self.addons.get(&object_name(identifier))?.unnamed.as_deref()
    }

    /// The add-ons of which [that](Self::unnamed) is so.
    pub(super) fn partial(&self) -> impl Iterator<Item = &Identifier> {
        self.addons.values().filter(|addon| addon.unnamed.is_some()).map(|addon| &addon.identifier)
    }

    /// Notes that an add-on was seen with so many components: with as many as its `Addon` counts,
    /// all of them were.
    pub(super) fn seen(&mut self, identifier: &Identifier, components: i32) {
        if let Some(addon) = self.addons.get_mut(&object_name(identifier))
            && addon.unnamed.take_if(|unnamed| unnamed.total <= components).is_some()
        {
            addon.was_seen_whole = true;
        }
    }

    /// Notes that every kind was listed: whatever is there was seen.
    pub(super) fn seen_all(&mut self) {
        for addon in self.addons.values_mut().filter(|addon| addon.unnamed.is_some()) {
            addon.unnamed = None;
            addon.was_seen_whole = true;
        }
    }
}

/// A status of these conditions and nothing else.
fn only(conditions: Vec<AddonCondition>) -> Box<AddonStatus> {
    Box::new(AddonStatus { conditions, ..AddonStatus::default() })
}

/// The components that `addons` remember, each once: what several say of an object is put together. One
/// comes after the other, as all of them in full take much more room than what is kept.
pub(super) fn remembered(addons: &[Written]) -> impl Iterator<Item = Component> {
    let mut seen = HashSet::new();
    let keys = addons.iter().flat_map(|addon| addon.components.keys());
    let shared: HashSet<ObjectKey> = keys.filter(|key| !seen.insert(**key)).copied().collect();
    let mut joined: HashMap<ObjectKey, Component> = HashMap::new();
    for (key, component) in told(addons, |key| shared.contains(key)) {
        match joined.get_mut(&key) {
            Some(known) => known.join(component),
            None => drop(joined.insert(key, component)),
        }
    }
    let alone = told(addons, move |key| !shared.contains(key)).map(|(_, component)| component);
    alone.chain(joined.into_values())
}

/// What `addons` tell of the components with these keys.
fn told(
    addons: &[Written],
    wanted: impl Fn(&ObjectKey) -> bool,
) -> impl Iterator<Item = (ObjectKey, Component)> {
    addons.iter().flat_map(move |addon| {
        let keys = addon.components.keys();
        let Some(identifier) = addon.held.identifier().filter(|_| keys.iter().any(&wanted)) else {
            return Vec::new();
        };
        let each = keys.iter().zip(addon.components.read()).filter(|(key, _)| wanted(key));
        each.map(|(key, component)| (*key, Component::of(&identifier, &component))).collect()
    })
}
