//! From components to the status of an add-on.
//!
//! [`summarize`] computes everything from a fresh list; [`Index`] keeps the same result up to date
//! from changes. Both give the same answer, which is what the tests of the index compare.

mod board;
mod combination;
mod component;
mod compose;
mod due;
mod facts;
mod group;
mod headline;
mod illness;
mod index;
mod key;
mod members;
mod nesting;
mod observation;
mod past;
mod record;
mod remembered;
mod second;
mod shared;
mod status;
#[cfg(test)]
mod tests;
mod unseen;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

pub use board::{Board, KindCoverage, WatchState};
pub use combination::Combination;
pub use component::Component;
pub use illness::Illness;
pub use index::{Change, Index};
pub use key::ObjectKey;
pub use members::object_key;
pub use observation::{Membership, Observation};
pub use past::{FLAP_CHANGES, FLAP_WINDOW, MOST_CHANGES, Past};
pub use remembered::Remembered;
pub use unseen::{Listing, Unnamed};

use self::{compose::Surroundings, members::Objects, nesting::Nesting};
use crate::{
    api::{AddonStatus, Identifier},
    model::{Explanation, GroupKind, Health, Timestamp, Verdict},
};

/// One add-on, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which add-on.
    pub identifier: Identifier,
    /// How it is, without its components: [`Summary::whole`] and [`Summary::worst`] have them. Its
    /// conditions changed when the components say so, and at the time of the computation where they
    /// don't say.
    pub status: AddonStatus,
    /// Since when it is so, where the components say so.
    pub since: Option<Timestamp>,
    /// What it is made of, worst first, then by group, kind, namespace, name and uid.
    pub components: Arc<[Component]>,
}

impl Summary {
    /// The status with every component: `api::bounds::fit` cuts it to what an `Addon` object may hold.
    pub fn whole(&self) -> AddonStatus {
        self.worst(self.components.len())
    }

    /// The status with so many components, and how many are left out.
    pub fn worst(&self, most: usize) -> AddonStatus {
        let shown = most.min(self.components.len());
        let mut status = self.status.clone();
        status.components.extend(self.components.iter().take(shown).map(status::component));
        status.omitted += i32::try_from(self.components.len() - shown).unwrap_or(i32::MAX);
        status
    }

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
    let pasts: HashMap<ObjectKey, Past> = by_key(pasts);
    let explanations: HashMap<ObjectKey, Explanation> = by_key(explanations);
    let past = |key: ObjectKey| pasts.get(&key).copied().unwrap_or_default();
    let mut objects = Objects::default();
    for observation in observations {
        let record = objects.record(observation);
        objects.insert(Arc::new(record));
    }
    for (controlled, controller) in &links {
        let controller = Some(controller).filter(|uid| !uid.is_empty()).map(|uid| ObjectKey::of(uid));
        objects.link(ObjectKey::of(controlled), controller);
    }
    let mut groups: BTreeMap<&Identifier, Vec<ObjectKey>> = BTreeMap::new();
    for record in objects.iter() {
        for identifier in record.identifiers() {
            groups.entry(identifier).or_default().push(record.key);
        }
    }
    let nesting: Nesting = objects.iter().flat_map(|record| record.nests()).collect();
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
                let members = compose::members(identifier, members.iter().copied(), &around);
                ((*identifier).clone(), summary(identifier, members.components.into(), &around))
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

fn by_key<T>(of: HashMap<Arc<str>, T>) -> HashMap<ObjectKey, T> {
    of.into_iter().map(|(key, value)| (ObjectKey::of(&key), value)).collect()
}

/// The summary of one add-on from its components, which are in order.
fn summary(identifier: &Identifier, components: Arc<[Component]>, around: &Surroundings<'_>) -> Summary {
    let (components, tallies) = match around.combinations.get(identifier) {
        Some(combination) => {
            let mut components = components.to_vec();
            let tallies = combination.apply(&mut components, around.gaps);
            (components.into(), tallies)
        }
        None => (components, Vec::new()),
    };
    let (status, since) = status::status(&components, &tallies, around.gaps, around.now);
    Summary { identifier: identifier.clone(), status, since, components }
}
