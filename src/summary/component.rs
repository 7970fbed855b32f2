use std::{cmp::Ordering, fmt, sync::Arc};

use super::{Membership, record::Record, second::Second};
use crate::{
    api::Identifier,
    model::{Cause, Flapping, Health, Kind, Timestamp, Verdict},
};

/// A part of an add-on, with the verdict that holds now.
///
/// It holds what is kept of its object and, where it is shown otherwise than that says, how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    record: Arc<Record>,
    /// Where it isn't shown as its object is by itself.
    shown: Option<Arc<Shown>>,
    since: Second,
    /// Which of the object's memberships it is.
    membership: u32,
    health: Health,
    /// It is shown and doesn't colour.
    pub(super) informational: bool,
    /// It is ill and doesn't colour, as enough others of its sort are well.
    pub(super) spare: bool,
}

/// How a component is shown that isn't shown as its object is by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) verdict: Verdict,
    /// The object further down that explains a bad verdict.
    pub(super) cause: Option<Cause>,
    /// It goes to and fro between well and ill.
    pub(super) flapping: Option<Flapping>,
}

impl Component {
    /// The part that `record` is of `identifier`, as the object is by itself until time passes.
    pub(super) fn of(record: &Arc<Record>, identifier: &Identifier) -> Self {
        let place = record.identifiers().position(|known| known == identifier).unwrap_or_default();
        Self {
            shown: None,
            since: record.since(),
            membership: u32::try_from(place).unwrap_or_default(),
            health: record.health(),
            informational: record.is_informational(),
            spare: false,
            record: Arc::clone(record),
        }
    }

    /// The same, shown so.
    pub(super) fn shown(mut self, shown: Shown) -> Self {
        let Shown { verdict, cause, flapping } = &shown;
        if cause.is_some() || flapping.is_some() || *verdict != self.record.first() {
            (self.health, self.since) = (verdict.health, verdict.since.into());
            self.shown = Some(Arc::new(shown));
        }
        self
    }

    pub(super) fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Its kind.
    pub(super) fn kind(&self) -> &Kind {
        &self.record.kind
    }

    /// Which install of the add-on it belongs to, empty for most.
    pub(super) fn install(&self) -> &str {
        let place = usize::try_from(self.membership).unwrap_or_default();
        self.record
            .memberships()
            .get(place)
            .map(|Membership { install, .. }| install.as_str())
            .unwrap_or_default()
    }

    pub(super) fn health(&self) -> Health {
        self.health
    }

    pub(super) fn reason(&self) -> &str {
        self.shown.as_ref().map_or_else(|| self.record.reason(), |shown| &shown.verdict.reason)
    }

    pub(super) fn message(&self) -> &str {
        self.shown.as_ref().map_or_else(|| self.record.message(), |shown| &shown.verdict.message)
    }

    pub(super) fn rule(&self) -> &str {
        self.shown.as_ref().map_or_else(|| self.record.rule(), |shown| &shown.verdict.rule)
    }

    /// What is said of it, in a sentence where there is one.
    pub(super) fn said(&self) -> &str {
        let message = self.message();
        if message.is_empty() { self.reason() } else { message }
    }

    pub(super) fn since(&self) -> Option<Timestamp> {
        self.since.get()
    }

    pub(super) fn cause(&self) -> Option<&Cause> {
        self.shown.as_ref()?.cause.as_ref()
    }

    pub(super) fn flapping(&self) -> Option<Flapping> {
        self.shown.as_ref()?.flapping
    }

    /// Whether it counts for how its add-on is.
    pub(super) fn colours(&self) -> bool {
        !self.informational && !self.spare
    }

    /// Worst first, then by group, kind, namespace, name and uid.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.record, &other.record);
        let by_kind = || match Arc::ptr_eq(&a.kind, &b.kind) {
            true => Ordering::Equal,
            false => (&a.kind.group, &a.kind.kind).cmp(&(&b.kind.group, &b.kind.kind)),
        };
        let by_namespace = || match a.is_marked_like(b) {
            true => Ordering::Equal,
            false => a.namespace().cmp(b.namespace()),
        };
        (self.health.rank().cmp(&other.health.rank()))
            .then_with(by_kind)
            .then_with(by_namespace)
            .then_with(|| a.name.cmp(&b.name))
            .then_with(|| a.uid().cmp(&b.uid()))
    }
}

impl fmt::Display for Component {
    /// `Deployment ingress/controller`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record.fmt(f)
    }
}
