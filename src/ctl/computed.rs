use kube::ResourceExt;

use super::looks::{Below, Bounds, Looks};
use crate::{
    api::{Addon, AddonSpec, condition, object_name},
    health::Rules,
    model::Timestamp,
    summary::{Census, Observation, Summary, summarize},
};

/// An add-on that was computed here rather than read from the API server, with every component.
pub(super) struct Computed {
    /// As the controller would write it. Nothing is watched here, so it doesn't say that all is.
    pub addon: Addon,
    /// Since when it is so, where its components say.
    pub since: Option<Timestamp>,
}

/// The add-ons as the controller says they are once it knows what lies below their components, the
/// worst first, with what was found there. Of one with all that is part of it where `names` say which.
pub(super) async fn explained(
    mut census: Census,
    now: Timestamp,
    (below, rules): (&Below, &Rules),
    bounds: Bounds,
    names: Option<&[String]>,
) -> (Vec<Computed>, Looks) {
    let by_themselves = addons(census.clone(), now);
    let asked_for = match names {
        None => by_themselves.iter().map(|computed| &computed.addon).collect(),
        Some(names) => match place(&by_themselves, names) {
            Some(place) => within(&by_themselves[place].addon, &by_themselves, &census),
            None => Vec::new(),
        },
    };
    let mut looks = Looks::new(bounds);
    for addon in asked_for {
        looks.look(addon, below, rules).await;
    }
    census.explanations = looks.explanations();
    if census.explanations.is_empty() {
        return (by_themselves, looks);
    }
    (addons(census, now), looks)
}

/// The add-ons in what was found, the worst first.
fn addons(census: Census, now: Timestamp) -> Vec<Computed> {
    summarize(census, now).into_iter().map(Computed::from).collect()
}

impl From<Summary> for Computed {
    fn from(summary: Summary) -> Self {
        let mut status = summary.whole();
        let Summary { identifier, since, .. } = summary;
        status.conditions.retain(|known| known.kind != condition::OBSERVED || known.status != "True");
        let mut addon = Addon::new(&object_name(&identifier), AddonSpec { identifier: identifier.into() });
        addon.status = Some(status);
        Self { addon, since }
    }
}

/// An add-on and, at any depth, those that are part of it.
fn within<'a>(addon: &'a Addon, addons: &'a [Computed], census: &Census) -> Vec<&'a Addon> {
    let mut found = vec![addon];
    let mut next = 0;
    while let Some(whole) = found.get(next).map(|addon| addon.spec.identifier.as_str()) {
        let is_part = |observation: &&Observation| {
            observation.memberships.iter().any(|membership| membership.identifier.as_str() == whole)
        };
        let parts = census.observations.iter().filter(is_part).filter_map(|part| part.sums_up.as_ref());
        for part in parts {
            let is_new = found.iter().all(|known| known.spec.identifier != part.as_str());
            let part = addons.iter().filter(|_| is_new).find(|a| a.addon.spec.identifier == part.as_str());
            found.extend(part.map(|computed| &computed.addon));
        }
        next += 1;
    }
    found
}

/// The first of `names` that there is.
pub(super) fn find(mut addons: Vec<Computed>, names: &[String]) -> Option<Computed> {
    let place = place(&addons, names)?;
    Some(addons.swap_remove(place))
}

fn place(addons: &[Computed], names: &[String]) -> Option<usize> {
    names.iter().find_map(|name| addons.iter().position(|computed| computed.addon.name_any() == *name))
}

/// Puts add-ons into the order of their names.
pub(super) fn sort_by_name(addons: &mut [Computed]) {
    addons.sort_by_key(|computed| computed.addon.name_any());
}
