//! What the `Addon` objects say of the time before the start.

use std::collections::{BTreeMap, HashMap};

use crate::{
    api::{Addon, AddonStatus, Identifier},
    publish::{MANAGED_BY, MANAGER},
    summary::{Observation, WatchState, object_key},
};

/// What the `Addon` objects say, by name.
#[derive(Debug)]
pub(super) struct Memory {
    state: WatchState,
    addons: BTreeMap<String, Remembered>,
}

#[derive(Debug)]
struct Remembered {
    identifier: Identifier,
    /// Without the components.
    status: AddonStatus,
    partial: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Self { state: WatchState::Syncing, addons: BTreeMap::new() }
    }
}

impl Memory {
    /// Notes how the `Addon` objects are watched.
    pub(super) fn set_state(&mut self, state: WatchState) {
        if let WatchState::Forbidden(why) | WatchState::Failing(why) = &state
            && self.state != state
        {
            tracing::error!(
                %why,
                "Addon objects can't be read or written. Is their CustomResourceDefinition installed (kubectl apply -k deploy/)? \
                 The HTTP endpoint works without"
            );
        }
        self.state = state;
    }

    /// Whether it is known what the `Addon` objects say.
    pub(super) fn is_known(&self) -> bool {
        self.state == WatchState::Synced
    }

    /// Takes in all of them; gives the components that they remember.
    pub(super) fn listed(&mut self, addons: &[Addon]) -> Vec<Observation> {
        self.addons.clear();
        self.state = WatchState::Synced;
        let mut remembered: HashMap<Box<str>, Observation> = HashMap::new();
        for addon in addons {
            self.changed(addon);
            let Some(identifier) = Identifier::new(&addon.spec.identifier) else { continue };
            if !is_ours(addon) {
                continue;
            }
            for component in addon.status.iter().flat_map(|status| &status.components) {
                let observation = Observation::remembered(&identifier, component);
                let object = &observation.object;
                let key = object_key(&object.kind, &object.namespace, &object.name, &object.uid);
                match remembered.get_mut(&key) {
                    Some(known) => known.join(observation),
                    None => drop(remembered.insert(key, observation)),
                }
            }
        }
        remembered.into_values().collect()
    }

    pub(super) fn changed(&mut self, addon: &Addon) {
        let (Some(name), Some(identifier)) = (&addon.metadata.name, Identifier::new(&addon.spec.identifier))
        else {
            return;
        };
        let status = addon.status.clone().unwrap_or_default();
        let remembered = Remembered {
            identifier,
            partial: status.omitted > 0,
            status: AddonStatus { components: Vec::new(), ..status },
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

    /// What the `Addon` of this identifier says, without its components.
    pub(super) fn status(&self, identifier: &Identifier) -> Option<&AddonStatus> {
        self.addons.get(&crate::api::object_name(identifier)).map(|addon| &addon.status)
    }

    /// Whether the `Addon` doesn't name all its components.
    pub(super) fn is_partial(&self, identifier: &Identifier) -> bool {
        self.addons.get(&crate::api::object_name(identifier)).is_some_and(|addon| addon.partial)
    }
}

/// Nothing is to be concluded from what somebody else wrote.
fn is_ours(addon: &Addon) -> bool {
    addon.metadata.labels.as_ref().and_then(|labels| labels.get(MANAGED_BY)).is_some_and(|by| by == MANAGER)
}
