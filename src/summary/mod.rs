//! From components to the status of an add-on.
//!
//! [`summarize`] computes everything from a fresh list; [`Index`] keeps the same result up to date
//! from changes. Both give the same answer, which is what the tests of the index compare.

mod board;
mod combination;
mod compose;
mod facts;
mod headline;
mod illness;
mod index;
mod members;
mod nesting;
mod observation;
mod past;
mod remembered;
mod status;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

pub use board::{Board, KindCoverage, WatchState};
pub use combination::Combination;
pub use illness::Illness;
pub use index::{Change, Index};
pub use members::object_key;
pub use observation::{Membership, Observation};
pub use past::{FLAP_CHANGES, FLAP_WINDOW, MOST_CHANGES, Past};
pub use remembered::Remembered;

use self::{
    compose::Surroundings,
    members::{Key, Objects},
    nesting::Nesting,
};
use crate::{
    api::{AddonStatus, Identifier},
    model::{Explanation, GroupKind, Health, Timestamp, Verdict},
};

/// One add-on, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which add-on.
    pub identifier: Identifier,
    /// What it is made of and how it is, with every component: `api::bounds::fit` cuts it to what
    /// an `Addon` object may hold. Its conditions changed when the components say so, and at the
    /// time of the computation where they don't say.
    pub status: AddonStatus,
    /// Since when it is so, where the components say so.
    pub since: Option<Timestamp>,
}

impl Summary {
    /// How much the add-on is worth as a component of another.
    fn verdict(&self) -> Verdict {
        Verdict {
            health: Health::parse(&self.status.health),
            reason: self.status.reason.clone().into(),
            message: self.status.message.clone(),
            since: self.since,
            rule: nesting::RULE.into(),
        }
    }
}

/// Everything that was found in a cluster or in files at one time.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// The labelled objects.
    pub observations: Vec<Observation>,
    /// Objects without a label that are controlled by another: the `uid` of each and of its
    /// controller.
    pub links: Vec<(Box<str>, Box<str>)>,
    /// What is known of objects from before, by [`object_key`]. Nothing where they are seen for the
    /// first time.
    pub pasts: HashMap<Arc<str>, Past>,
    /// What explains objects that aren't well, by [`object_key`].
    pub explanations: HashMap<Arc<str>, Explanation>,
    /// How the components of add-ons combine.
    pub combinations: BTreeMap<Identifier, Combination>,
    /// The kinds that could not be read, and why.
    pub gaps: BTreeMap<GroupKind, String>,
}

/// Sums up everything that was found: one summary per identifier, worst first, then by identifier.
pub fn summarize(census: Census, now: Timestamp) -> Vec<Summary> {
    let Census { observations, links, pasts, explanations, combinations, gaps } = census;
    let (combinations, gaps) = (&combinations, &gaps);
    let past = |key: &str| pasts.get(key).copied().unwrap_or_default();
    let mut objects = Objects::default();
    for observation in observations {
        objects.insert(members::key(&observation.object), observation);
    }
    for (controlled, controller) in &links {
        objects.link(controlled, controller);
    }
    let mut groups: BTreeMap<&Identifier, Vec<Key>> = BTreeMap::new();
    for (key, observation) in objects.iter() {
        for membership in &observation.memberships {
            groups.entry(&membership.identifier).or_default().push(key.clone());
        }
    }
    let nesting: Nesting = objects.iter().flat_map(|(_, observation)| observation.nests()).collect();
    // Nested add-ons come out right once those inside them are: as many rounds as they are deep.
    let mut summaries: BTreeMap<Identifier, Summary> = BTreeMap::new();
    loop {
        let nested = |parent: &Identifier, child: &Identifier| {
            nesting.circle(parent, child).or_else(|| summaries.get(child).map(Summary::verdict))
        };
        let around = Surroundings {
            objects: &objects,
            past: &past,
            explanations: &explanations,
            combinations,
            gaps,
            nested: &nested,
            now,
        };
        let round: BTreeMap<Identifier, Summary> = groups
            .iter()
            .map(|(identifier, members)| {
                ((*identifier).clone(), summary(identifier, members.iter(), &around))
            })
            .collect();
        if round == summaries {
            break;
        }
        summaries = round;
    }
    let mut sorted: Vec<Summary> = summaries.into_values().collect();
    sorted.sort_by_key(|summary| Health::parse(&summary.status.health).rank());
    sorted
}

/// The summary of one add-on from the keys of all objects that carry its label.
fn summary<'a>(
    identifier: &Identifier,
    members: impl Iterator<Item = &'a Key>,
    around: &Surroundings<'_>,
) -> Summary {
    let mut components = compose::components(identifier, members.map(|key| &**key), around);
    let combination = around.combinations.get(identifier);
    let tallies = combination.map(|combination| combination.apply(&mut components, around.gaps));
    let (status, since) = status::status(&components, &tallies.unwrap_or_default(), around.gaps, around.now);
    Summary { identifier: identifier.clone(), status, since }
}

impl Observation {
    /// The pairs of parent and child that the object makes, where it is an `Addon`.
    fn nests(&self) -> Vec<(Identifier, Identifier)> {
        let Some(child) = &self.sums_up else { return Vec::new() };
        let parents: BTreeSet<&Identifier> = self.memberships.iter().map(|m| &m.identifier).collect();
        parents.into_iter().map(|parent| (parent.clone(), child.clone())).collect()
    }
}
