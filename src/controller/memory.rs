//! What the `Addon` objects say of the time before the start.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    api::{Addon, AddonCondition, AddonStatus, ComponentStatus, Identifier, object_name},
    model::Timestamp,
    publish::{MANAGED_BY, MANAGER},
    summary::{ObjectKey, Remembered as Component, WatchState},
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
    /// How many components it has where it doesn't name them all.
    partial: Option<i32>,
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
            WatchState::Failing(why) if self.state != state && why.ends_with("(404)") => tracing::error!(
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
    pub(super) fn listed(&mut self, addons: &[Addon]) {
        let there: HashSet<&str> = addons.iter().filter_map(|addon| addon.metadata.name.as_deref()).collect();
        self.addons.retain(|name, _| there.contains(name.as_str()));
        self.be(WatchState::Synced);
        self.listed = true;
        addons.iter().for_each(|addon| self.changed(addon));
    }

    pub(super) fn changed(&mut self, addon: &Addon) {
        let (Some(name), Some(identifier)) = (&addon.metadata.name, Identifier::new(&addon.spec.identifier))
        else {
            return;
        };
        let status = addon.status.as_ref();
        let known = self.addons.get(name).filter(|known| known.identifier == identifier);
        let is_shown = known.is_some_and(|known| known.status.is_none());
        let conditions = || status.map(|status| status.conditions.clone()).unwrap_or_default();
        let remembered = Remembered {
            identifier,
            partial: status.filter(|status| status.omitted > 0).map(|status| status.counts.total),
            status: (!is_shown).then(|| only(conditions())),
        };
        self.addons.insert(name.clone(), remembered);
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

    /// Whether there may be components that the `Addon` doesn't name and that weren't seen since.
    pub(super) fn is_partial(&self, identifier: &Identifier) -> bool {
        self.addons.get(&object_name(identifier)).is_some_and(|addon| addon.partial.is_some())
    }

    /// Notes that an add-on was seen with so many components: with as many as its `Addon` counts,
    /// all of them were.
    pub(super) fn seen(&mut self, identifier: &Identifier, components: i32) {
        if let Some(addon) = self.addons.get_mut(&object_name(identifier)) {
            addon.partial = addon.partial.filter(|all| *all > components);
        }
    }
}

/// A status of these conditions and nothing else.
fn only(conditions: Vec<AddonCondition>) -> Box<AddonStatus> {
    Box::new(AddonStatus { conditions, ..AddonStatus::default() })
}

/// The components that `addons` remember, each once: what several say of an object is put together. One
/// comes after the other, as all of them in full take much more room than what is kept.
pub(super) fn remembered(addons: &[Addon]) -> impl Iterator<Item = Component> {
    let mut seen = HashSet::new();
    let shared: HashSet<ObjectKey> =
        told(addons).map(|(_, component)| key(component)).filter(|key| !seen.insert(*key)).collect();
    let mut joined: HashMap<ObjectKey, Component> = HashMap::new();
    for (identifier, component) in told(addons).filter(|_| !shared.is_empty()) {
        let key = key(component);
        if !shared.contains(&key) {
            continue;
        }
        let component = Component::of(&identifier, component);
        match joined.get_mut(&key) {
            Some(known) => known.join(component),
            None => drop(joined.insert(key, component)),
        }
    }
    let alone =
        told(addons).filter(move |(_, component)| shared.is_empty() || !shared.contains(&key(component)));
    alone.map(|(identifier, component)| Component::of(&identifier, component)).chain(joined.into_values())
}

/// What `Addon` objects of ours tell of their components.
fn told(addons: &[Addon]) -> impl Iterator<Item = (Identifier, &ComponentStatus)> {
    let ours = addons.iter().filter(|addon| is_ours(addon));
    let named =
        ours.filter_map(|addon| Some((Identifier::new(&addon.spec.identifier)?, addon.status.as_ref()?)));
    named.flat_map(|(identifier, status)| {
        status.components.iter().map(move |component| (identifier.clone(), component))
    })
}

fn key(component: &ComponentStatus) -> ObjectKey {
    let object = component.reference();
    ObjectKey::naming(&object.kind, &object.namespace, &object.name, &object.uid)
}

/// Nothing is to be concluded from what somebody else wrote.
fn is_ours(addon: &Addon) -> bool {
    addon.metadata.labels.as_ref().and_then(|labels| labels.get(MANAGED_BY)).is_some_and(|by| by == MANAGER)
}
