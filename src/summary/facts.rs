//! What the components of an add-on tell besides their health.

use std::collections::{BTreeMap, BTreeSet};

use super::Component;
use crate::{
    api::{self, bounds},
    model::text,
};

/// The facts of all components by name; where they disagree, all that is said.
pub(super) fn facts(components: &[Component]) -> Vec<api::Fact> {
    let mut by_name: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for fact in components.iter().flat_map(|component| component.record().facts()) {
        by_name.entry(&fact.name).or_default().insert(&fact.value);
    }
    let merged = by_name.into_iter().map(|(name, values)| api::Fact {
        name: text::word(name),
        value: text::cut(&values.into_iter().collect::<Vec<_>>().join(", "), bounds::FACT_BYTES),
    });
    bounds::facts(&merged.collect::<Vec<_>>())
}
