use kube::ResourceExt;

use crate::{
    api::{Addon, AddonSpec, condition, object_name},
    model::Timestamp,
    summary::{Census, Summary, summarize},
};

/// An add-on that was computed here rather than read from the API server, with every component.
pub(super) struct Computed {
    /// As the controller would write it. Nothing is watched here, so it doesn't say that all is.
    pub addon: Addon,
    /// Since when it is so, where its components say.
    pub since: Option<Timestamp>,
}

/// The add-ons in what was found, the worst first.
pub(super) fn addons(census: Census, now: Timestamp) -> Vec<Computed> {
    summarize(census, now).into_iter().map(Computed::from).collect()
}

impl From<Summary> for Computed {
    fn from(summary: Summary) -> Self {
        let Summary { identifier, mut status, since } = summary;
        status.conditions.retain(|known| known.kind != condition::OBSERVED || known.status != "True");
        let mut addon = Addon::new(&object_name(&identifier), AddonSpec { identifier: identifier.into() });
        addon.status = Some(status);
        Self { addon, since }
    }
}

/// The first of `names` that there is.
pub(super) fn find(mut addons: Vec<Computed>, names: &[String]) -> Option<Computed> {
    let place = |name: &String| addons.iter().position(|computed| computed.addon.name_any() == *name);
    let place = names.iter().find_map(place)?;
    Some(addons.swap_remove(place))
}

/// Puts add-ons into the order of their names.
pub(super) fn sort_by_name(addons: &mut [Computed]) {
    addons.sort_by_key(|computed| computed.addon.name_any());
}
