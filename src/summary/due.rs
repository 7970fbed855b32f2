use std::collections::{BTreeSet, HashMap};

use super::ObjectKey;
use crate::model::Timestamp;

/// When the verdict on which object changes by itself.
#[derive(Debug, Default)]
pub(super) struct Due {
    order: BTreeSet<(Timestamp, ObjectKey)>,
    of: HashMap<ObjectKey, Timestamp>,
}

impl Due {
    /// Notes when that of an object changes next, if it does.
    pub(super) fn set(&mut self, key: ObjectKey, at: Option<Timestamp>) {
        let before = match at {
            Some(at) => self.of.insert(key, at),
            None => self.of.remove(&key),
        };
        if before != at {
            self.order.extend(at.map(|at| (at, key)));
            if let Some(before) = before {
                self.order.remove(&(before, key));
            }
        }
    }

    /// The next moment.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes an object whose moment has come.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<ObjectKey> {
        self.order.first().filter(|(at, _)| *at <= now)?;
        let (_, key) = self.order.pop_first()?;
        self.of.remove(&key);
        Some(key)
    }
}
