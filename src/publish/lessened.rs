//! The `Addon` objects of which the API server keeps less than was sent, or refuses the whole.
//!
//! Nothing tells when it would keep all of it: when the CRD has become as new as this program, or the policy that
//! refused it is gone. So one of them is tried again now and then. Once one is kept whole, all are tried.

use std::{
    collections::BTreeSet,
    ops::Bound,
    sync::Arc,
    time::{Duration, Instant},
};

/// How often one of them is tried again.
const EVERY: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Lessened {
    names: BTreeSet<Arc<str>>,
    /// The one that was tried last.
    last: Option<Arc<str>>,
    at: Option<Instant>,
}

impl Lessened {
    /// Notes whether all of what was written is kept. Gives those that are worth another try: all the others, where
    /// this one was among them until now.
    pub(super) fn note(&mut self, name: &Arc<str>, is_whole: bool, now: Instant) -> BTreeSet<Arc<str>> {
        if !is_whole {
            self.names.insert(Arc::clone(name));
            self.at.get_or_insert(now + EVERY);
        } else if self.names.remove(name) {
            self.at = None;
            return std::mem::take(&mut self.names);
        }
        BTreeSet::new()
    }

    /// The object is gone, or as it should be.
    pub(super) fn forget(&mut self, name: &str) {
        self.names.remove(name);
        if self.names.is_empty() {
            self.at = None;
        }
    }

    /// The one that is to be tried again now: each in its turn.
    pub(super) fn due(&mut self, now: Instant) -> Option<Arc<str>> {
        let at = self.at.as_mut().filter(|at| **at <= now)?;
        *at = now + EVERY;
        let after = self.last.take().map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.names.range((after, Bound::Unbounded)).next().or_else(|| self.names.first());
        self.last = next.cloned();
        self.last.clone()
    }

    /// When that is next.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(raw: &[&str]) -> BTreeSet<Arc<str>> {
        raw.iter().map(|name| Arc::from(*name)).collect()
    }

    #[test]
    fn each_is_tried_in_its_turn_and_all_once_one_is_whole() {
        let start = Instant::now();
        let mut lessened = Lessened::default();
        for name in ["a", "b", "c"] {
            assert!(lessened.note(&name.into(), false, start).is_empty());
        }
        let mut now = start;
        let mut tried = Vec::new();
        while tried.len() < 4 {
            assert_eq!(lessened.due(now), None);
            now = lessened.at().unwrap_or(start);
            tried.extend(lessened.due(now));
        }
        assert_eq!(tried, ["a".into(), "b".into(), "c".into(), "a".into()]);
        assert_eq!(now - start, EVERY * 4);
        lessened.forget("c");
        assert!(lessened.note(&"other".into(), true, now).is_empty(), "it always was");
        assert_eq!(lessened.note(&"a".into(), true, now), names(&["b"]));
        assert_eq!((lessened.at(), lessened.due(now + EVERY)), (None, None));
    }

    #[test]
    fn nothing_is_due_once_all_are_gone() {
        let now = Instant::now();
        let mut lessened = Lessened::default();
        lessened.note(&"a".into(), false, now);
        lessened.forget("a");
        assert_eq!(lessened.at(), None);
    }
}
