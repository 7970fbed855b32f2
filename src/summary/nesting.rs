//! Add-ons of add-ons: an `Addon` object may carry the label of another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    api::Identifier,
    model::{Health, Verdict, text},
};

/// The rule behind the verdict on an `Addon` as a component.
pub(super) const RULE: &str = "builtin/addons.x-k8s.io.Addon";

/// Which add-on has which others as components.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Nesting {
    children: BTreeMap<Identifier, BTreeSet<Identifier>>,
}

impl FromIterator<(Identifier, Identifier)> for Nesting {
    /// From pairs of parent and child.
    fn from_iter<I: IntoIterator<Item = (Identifier, Identifier)>>(pairs: I) -> Self {
        let mut nesting = Self::default();
        for (parent, child) in pairs {
            nesting.children.entry(parent).or_default().insert(child);
        }
        nesting
    }
}

impl Nesting {
    /// What the component `child` of `parent` counts as where the two form a circle: it is
    /// reported, never followed.
    pub(super) fn circle(&self, parent: &Identifier, child: &Identifier) -> Option<Verdict> {
        let path = self.path(child, parent)?;
        let names: Vec<&str> = std::iter::once(parent).chain(path).map(Identifier::as_str).collect();
        Some(Verdict {
            health: Health::Unknown,
            reason: "Circular".into(),
            message: text::message(&format!("add-ons contain each other: {}", names.join(" > "))),
            since: None,
            rule: RULE.into(),
        })
    }

    /// The shortest way down from one add-on to another, both included.
    fn path<'a>(&'a self, from: &'a Identifier, to: &Identifier) -> Option<Vec<&'a Identifier>> {
        let mut came_from: BTreeMap<&Identifier, &Identifier> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(current) = queue.pop_front() {
            if current == to {
                let mut path = vec![current];
                while let Some(previous) =
                    path.last().filter(|last| **last != from).and_then(|last| came_from.get(last))
                {
                    path.push(previous);
                }
                path.reverse();
                return Some(path);
            }
            for next in self.children.get(current).into_iter().flatten() {
                if next != from && !came_from.contains_key(next) {
                    came_from.insert(next, current);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// The add-ons that have `child` as a component.
    pub(super) fn parents(&self, child: &Identifier) -> impl Iterator<Item = &Identifier> {
        let child = child.clone();
        self.children.iter().filter(move |(_, children)| children.contains(&child)).map(|(parent, _)| parent)
    }

    /// `of` and everything that contains one of them, at any depth.
    pub(super) fn with_ancestors(&self, of: impl IntoIterator<Item = Identifier>) -> BTreeSet<Identifier> {
        let mut found: BTreeSet<Identifier> = of.into_iter().collect();
        let mut queue: Vec<Identifier> = found.iter().cloned().collect();
        while let Some(current) = queue.pop() {
            for parent in self.parents(&current) {
                if found.insert(parent.clone()) {
                    queue.push(parent.clone());
                }
            }
        }
        found
    }
}
