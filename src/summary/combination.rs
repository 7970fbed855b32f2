//! How the components of an add-on combine where not all of them must be well.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::Component;
use crate::{
    api::{Combine, CountBy, Identifier, Quorum, Select},
    model::{GroupKind, Health, text},
};

/// What rules say of how the components of one add-on combine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combination {
    quorums: Vec<Quorum>,
    informational: Vec<Select>,
}

/// How a quorum came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    healthy: usize,
    all: usize,
    needed: usize,
    name: String,
    /// What the add-on is because there aren't as many as are needed, though none of them is ill.
    pub(super) lack: Option<Health>,
}

impl Combination {
    /// What rules say of each add-on that they name. Of several that name the same, all counts. What is
    /// no identifier names none.
    pub fn of<'a>(rules: impl IntoIterator<Item = &'a Combine>) -> BTreeMap<Identifier, Self> {
        let mut all: BTreeMap<Identifier, Self> = BTreeMap::new();
        for rule in rules {
            let identifiers: BTreeSet<Identifier> =
                rule.identifiers.iter().filter_map(|identifier| Identifier::new(identifier)).collect();
            for identifier in identifiers {
                let combination = all.entry(identifier).or_default();
                combination.quorums.extend(rule.quorums.iter().cloned());
                combination.informational.extend(rule.informational.iter().cloned());
            }
        }
        all
    }

    /// Notes at each component whether it colours the add-on, and counts the quorums. `gaps` are the
    /// kinds that can't be observed.
    pub(super) fn apply(
        &self,
        components: &mut [Component],
        gaps: &BTreeMap<GroupKind, String>,
    ) -> Vec<Tally> {
        for component in &mut *components {
            component.informational |= self.informational.iter().any(|select| fits(select, component));
        }
        // Where several quorums select a component, it is spare when all of them have enough.
        let mut enough: Vec<Option<bool>> = vec![None; components.len()];
        let mut tallies = Vec::new();
        for quorum in &self.quorums {
            let places: Vec<usize> =
                (0..components.len()).filter(|place| counts(quorum, &components[*place])).collect();
            let selected: Vec<&Component> = places.iter().map(|place| &components[*place]).collect();
            let tally = Tally::of(quorum, &selected, gaps);
            for place in places {
                enough[place] = Some(enough[place].unwrap_or(true) && tally.is_met());
            }
            tallies.push(tally);
        }
        for (component, enough) in components.iter_mut().zip(enough) {
            component.spare = enough == Some(true) && component.health().is_ill();
        }
        tallies
    }
}

impl Tally {
    fn of(quorum: &Quorum, selected: &[&Component], gaps: &BTreeMap<GroupKind, String>) -> Self {
        let healths = |component: &&Component| component.health();
        let (healthy, all, things) = match quorum.by {
            CountBy::Component => {
                let healthy = selected.iter().map(healths).filter(|health| *health == Health::Healthy);
                (healthy.count(), selected.len(), "components")
            }
            CountBy::Install => {
                let mut installs: BTreeMap<&str, Vec<Health>> = BTreeMap::new();
                for component in selected {
                    installs.entry(component.install()).or_default().push(component.health());
                }
                let healthy = installs.values().filter(|healths| {
                    healths.contains(&Health::Healthy) && !healths.iter().any(|health| health.is_ill())
                });
                (healthy.count(), installs.len(), "installs")
            }
        };
        let needed = usize::try_from(quorum.at_least).unwrap_or(usize::MAX);
        let lacks = healthy < needed && !selected.iter().map(healths).any(Health::is_ill);
        let unseen = quorum.select.kind.is_some() && gaps.keys().any(|kind| may_be(&quorum.select, kind));
        let lack = if unseen { Health::Unknown } else { Health::Degraded };
        let name = quorum.name.as_deref().map(text::word).filter(|name| !name.is_empty());
        Self {
            healthy,
            all,
            needed,
            name: name.unwrap_or_else(|| things.to_owned()),
            lack: lacks.then_some(lack),
        }
    }

    pub(super) fn is_met(&self) -> bool {
        self.healthy >= self.needed
    }

    /// Whether it is worth a word: not all that are counted are healthy, or there are too few.
    pub(super) fn is_news(&self) -> bool {
        self.healthy < self.all || !self.is_met()
    }
}

impl fmt::Display for Tally {
    /// `2 of 3 zones healthy, 2 needed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {} healthy, {} needed", self.healthy, self.all, self.name, self.needed)
    }
}

/// Whether a quorum counts the component. What belongs to no install is shared by all of them: it is an
/// install of its own only where that is said.
fn counts(quorum: &Quorum, component: &Component) -> bool {
    let by_install = quorum.by == CountBy::Install;
    let is_shared = component.install().is_empty() && !quorum.select.installs.iter().any(String::is_empty);
    let has_a_place = !(by_install && is_shared);
    has_a_place && !component.informational && fits(&quorum.select, component)
}

fn fits(select: &Select, component: &Component) -> bool {
    let (kind, record) = (component.kind(), component.record());
    let any_of = |list: &[String], value: &str| list.is_empty() || list.iter().any(|item| item == value);
    select.group.as_ref().is_none_or(|group| *group == kind.group)
        && select.kind.as_ref().is_none_or(|name| *name == kind.kind)
        && any_of(&select.namespaces, record.namespace())
        && any_of(&select.installs, component.install())
        && (select.names.is_empty() || select.names.iter().any(|name| is_like(name, &record.name)))
}

fn may_be(select: &Select, kind: &GroupKind) -> bool {
    select.group.as_ref().is_none_or(|group| *group == kind.group)
        && select.kind.as_ref().is_none_or(|name| *name == kind.kind)
}

/// Whether `name` is like `pattern`, where `*` stands for any text. Takes the first place that fits each
/// part: no more steps than the two are long, multiplied.
fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else { return false };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("db", "db", true),
            ("db", "db-1", false),
            ("db-*", "db-1", true),
            ("db-*", "db", false),
            ("*", "", true),
            ("*-a", "db-a-a", true),
            ("*-a", "db-a-b", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("aa*aa", "aaa", false),
            ("a**b", "ab", true),
            ("", "x", false),
        ] {
            assert_eq!(is_like(pattern, name), expected, "{pattern} {name}");
        }
    }
}
