//! Kinds that aren't served any more, as it seems.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use crate::discover::{Catalogue, ResourceName};

/// How long discovery documents must lack a kind before it is taken for gone.
pub(super) const CONFIRMATION: Duration = Duration::from_secs(2);

/// The kinds that the discovery documents lack, and since when.
///
/// A server that has just started serves before it knows its custom resources
/// (kubernetes/kubernetes#104342).
#[derive(Debug, Default)]
pub(super) struct Absences(BTreeMap<ResourceName, Instant>);

impl Absences {
    /// What is served, by what was `known` and is `read` now: a kind that is lacking stays until it has been
    /// for [`CONFIRMATION`]. One that comes under another name of its resource doesn't.
    pub(super) fn confirm(&mut self, known: &Catalogue, mut read: Catalogue, now: Instant) -> Catalogue {
        self.0.retain(|name, _| known.kinds.contains_key(name) && !read.kinds.contains_key(name));
        for (name, kind) in known.lacking_in(&read) {
            let renamed = read.serves(&kind.group_kind());
            let since = *self.0.entry(name.clone()).or_insert(now);
            if renamed || now.duration_since(since) >= CONFIRMATION {
                self.0.remove(&name);
            } else {
                read.kinds.insert(name, kind);
            }
        }
        read
    }

    /// Whether a kind may be gone.
    pub(super) fn is_open(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether this one may be gone.
    pub(super) fn has(&self, name: &ResourceName) -> bool {
        self.0.contains_key(name)
    }

    /// Counts from now on: what was read before tells nothing.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Kind, StatusReporting};

    /// Kinds as `PLURAL=KIND`.
    fn catalogue(kinds: &[&str]) -> Catalogue {
        let kinds = kinds.iter().filter_map(|entry| {
            let (plural, kind) = entry.split_once('=')?;
            let name = ResourceName { group: "x.example".into(), plural: plural.into() };
            let kind = Kind {
                group: "x.example".into(),
                version: "v1".into(),
                kind: kind.into(),
                plural: plural.into(),
                namespaced: false,
                status: StatusReporting::Yes,
            };
            Some((name, Arc::new(kind)))
        });
        Catalogue { kinds: kinds.collect(), ..Catalogue::default() }
    }

    /// What is taken for served at each second, where the documents say so.
    fn served(documents: &[(u64, &[&str])]) -> Vec<Vec<String>> {
        let start = Instant::now();
        let mut absences = Absences::default();
        let mut known = Catalogue::default();
        let mut all = Vec::new();
        for (second, kinds) in documents {
            known = absences.confirm(&known, catalogue(kinds), start + Duration::from_secs(*second));
            all.push(known.kinds.keys().map(|name| name.plural.clone()).collect());
        }
        all
    }

    #[test]
    fn a_kind_goes_once_it_has_been_lacking_for_a_while() {
        let (both, one): (&[&str], &[&str]) = (&["as=A", "bs=B"], &["as=A"]);
        let all = served(&[(0, both), (1, one), (2, one), (3, one)]);
        assert_eq!(all, [vec!["as", "bs"], vec!["as", "bs"], vec!["as", "bs"], vec!["as"]]);
    }

    #[test]
    fn a_kind_that_is_back_counts_from_the_start() {
        let (both, one): (&[&str], &[&str]) = (&["as=A", "bs=B"], &["as=A"]);
        let all = served(&[(0, both), (1, one), (2, both), (3, one), (4, one)]);
        assert!(all.iter().all(|kinds| kinds.len() == 2), "{all:?}");
    }

    #[test]
    fn a_kind_with_another_plural_is_the_same_and_never_there_twice() {
        let all = served(&[(0, &["as=A"]), (1, &["alphas=A"])]);
        assert_eq!(all, [["as"], ["alphas"]]);
    }
}
