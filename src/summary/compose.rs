//! The components of one add-on with the verdict that holds now.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{Combination, Component, ObjectKey, Past, component::Shown, members::Objects, record::Record};
use crate::{
    api::Identifier,
    model::{Cause, Explanation, GroupKind, Health, ObjectRef, Timestamp, Verdict, text},
};

/// What composing an add-on looks at besides its own objects.
pub(super) struct Surroundings<'a> {
    /// All labelled objects.
    pub(super) objects: &'a Objects,
    /// What is known of an object from before.
    pub(super) past: &'a dyn Fn(ObjectKey) -> Past,
    /// What explains an object that isn't well.
    pub(super) explanations: &'a HashMap<ObjectKey, Explanation>,
    /// How the components of an add-on combine.
    pub(super) combinations: &'a BTreeMap<Identifier, Combination>,
    /// The kinds that can't be observed, and why.
    pub(super) gaps: &'a BTreeMap<GroupKind, String>,
    /// How the add-on `.1` counts as a component of the add-on `.0`; `None` where nothing better is
    /// known than what the object itself says.
    pub(super) nested: &'a dyn Fn(&Identifier, &Identifier) -> Option<Verdict>,
    /// The time at which verdicts are taken.
    pub(super) now: Timestamp,
}

impl Surroundings<'_> {
    /// How the object is, as it says itself and for how long.
    fn verdict(&self, record: &Record) -> Verdict {
        (self.past)(record.key).age(record.timeline()).at(self.now).clone()
    }

    /// Why the object can't be observed, where it can't.
    fn gap(&self, record: &Record) -> Option<&String> {
        if self.gaps.is_empty() { None } else { self.gaps.get(&record.group_kind()) }
    }
}

/// The objects of an add-on.
#[derive(Default)]
pub(super) struct Members {
    /// Its components in order.
    pub(super) components: Vec<Component>,
    /// Those that are derived from one.
    pub(super) derived: Vec<ObjectKey>,
}

/// The objects of `identifier` among `members`, which are all that carry its label.
pub(super) fn members(
    identifier: &Identifier,
    members: impl IntoIterator<Item = ObjectKey>,
    around: &Surroundings<'_>,
) -> Members {
    let mut own: Vec<&Arc<Record>> = Vec::new();
    let mut derived: HashMap<ObjectKey, Vec<&Record>> = HashMap::new();
    for key in members {
        let Some(record) = around.objects.get(key).filter(|record| record.belongs_to(identifier)) else {
            continue;
        };
        match around.objects.root(key, identifier) {
            Some(root) => derived.entry(root).or_default().push(record),
            None => own.push(record),
        }
    }
    let evidence = |record: &Record| derived.get(&record.key).map(Vec::as_slice).unwrap_or_default();
    let mut components: Vec<Component> =
        own.into_iter().map(|record| component(identifier, record, evidence(record), around)).collect();
    components.sort_by(Component::order);
    Members { components, derived: derived.values().flatten().map(|record| record.key).collect() }
}

/// The component that `record` is of `identifier`. `derived` are the objects that its controllers made
/// for it.
pub(super) fn component(
    identifier: &Identifier,
    record: &Arc<Record>,
    derived: &[&Record],
    around: &Surroundings<'_>,
) -> Component {
    let component = Component::of(record, identifier);
    let explanation = around.explanations.get(&record.key);
    let past = (around.past)(record.key);
    let is_plain = derived.is_empty() && explanation.is_none() && past == Past::default();
    // Most are as they are by themselves.
    if is_plain && record.later().is_none() && record.sums_up().is_none() && around.gap(record).is_none() {
        return component;
    }
    let own = own_verdict(identifier, record, around);
    let (verdict, cause) = match worst_evidence(derived, around) {
        Some((object, evidence)) if counts_for_owner(&own, &evidence) => {
            let cause = Cause {
                object: object.object(),
                reason: evidence.reason.clone().into_owned(),
                message: evidence.message.clone(),
            };
            let said = tell(&cause, &record.object());
            (blame(own, evidence, &said), Some(cause))
        }
        // What sums up an add-on names its cause already.
        _ if record.sums_up().is_some() => (own, None),
        _ => explained(own, explanation, record),
    };
    component.shown(Shown { verdict, cause, flapping: past.flapping })
}

fn own_verdict(identifier: &Identifier, record: &Record, around: &Surroundings<'_>) -> Verdict {
    if let Some(why) = around.gap(record) {
        return Verdict {
            health: Health::Unknown,
            reason: "NotObserved".into(),
            message: format!("{} can't be watched: {why}", record.kind.resource_name()),
            since: None,
            rule: "coverage".into(),
        };
    }
    let nested = record.sums_up().and_then(|child| (around.nested)(identifier, child));
    nested.unwrap_or_else(|| around.verdict(record))
}

/// The worst of the objects that a component's controllers made for it. What ended or was replaced
/// says nothing any more.
fn worst_evidence<'a>(derived: &[&'a Record], around: &Surroundings<'_>) -> Option<(&'a Record, Verdict)> {
    derived
        .iter()
        .filter(|record| !record.is_superseded() && around.gap(record).is_none())
        .map(|record| (*record, around.verdict(record)))
        .filter(|(_, verdict)| verdict.health == Health::Degraded)
        .min_by(|(a, one), (b, other)| {
            let place = |record: &'a Record| {
                (&record.kind.group, &record.kind.kind, record.namespace(), &record.name)
            };
            one.is_overdue().cmp(&other.is_overdue()).then_with(|| place(a).cmp(&place(b)))
        })
}

/// A failing derived object makes its owner fail where the owner isn't there yet, or where it is
/// called well only because it exists. An owner that counts its pods itself is believed, and has a
/// deadline of its own for what takes long.
fn counts_for_owner(own: &Verdict, evidence: &Verdict) -> bool {
    evidence.health == Health::Degraded
        && match own.health {
            Health::Progressing | Health::Degraded => !evidence.is_overdue(),
            Health::Unknown => own.rule != "coverage",
            Health::Healthy => own.reason == "Exists",
            Health::Suspended | Health::Terminating => false,
        }
}

/// The verdict of an object with what explains it, where it isn't well.
fn explained(own: Verdict, explanation: Option<&Explanation>, record: &Record) -> (Verdict, Option<Cause>) {
    let is_explained = own.health.wants_cause() && own.rule != "coverage";
    let Some(explanation) = explanation.filter(|_| is_explained) else { return (own, None) };
    let Some(cause) = explanation.last() else { return (own, None) };
    let object = &record.object();
    let verdict = match &explanation.evidence {
        Some(evidence) if counts_for_owner(&own, evidence) => {
            let evidence = Verdict { reason: cause.reason.clone().into(), ..evidence.clone() };
            blame(own, evidence, &tell(cause, object))
        }
        _ => name(own, cause, object),
    };
    (verdict, Some(cause.clone()))
}

/// What `cause` says, with its name where it isn't `object` itself.
pub(super) fn tell(cause: &Cause, object: &ObjectRef) -> String {
    let Cause { object: of, reason, message } = cause;
    let said = match (is_same(of, object), message.is_empty()) {
        (true, false) => format!("{reason}: {message}"),
        (true, true) => reason.clone(),
        (false, false) => format!("{of}: {message}"),
        (false, true) => format!("{of}: {reason}"),
    };
    text::message(&said)
}

/// Whether both are one object. What an `Addon` remembers of a cause says no group.
fn is_same(one: &ObjectRef, other: &ObjectRef) -> bool {
    (&one.kind.kind, &one.namespace, &one.name) == (&other.kind.kind, &other.namespace, &other.name)
}

/// The owner's verdict with the reason of what explains it.
fn blame(own: Verdict, evidence: Verdict, said: &str) -> Verdict {
    Verdict {
        health: Health::Degraded,
        reason: evidence.reason,
        message: said.to_owned(),
        since: if own.health == Health::Degraded && !own.is_overdue() { own.since } else { evidence.since },
        rule: own.rule,
    }
}

/// The owner's verdict, which names what explains it, with its reason: the owner keeps its own.
fn name(own: Verdict, cause: &Cause, object: &ObjectRef) -> Verdict {
    let Cause { reason, message, .. } = cause;
    let is_new = *reason != *own.reason && !message.is_empty() && !is_same(&cause.object, object);
    let said = if is_new {
        text::message(&format!("{}: {reason}: {message}", cause.object))
    } else {
        tell(cause, object)
    };
    // What an `Addon` remembers of it names it already.
    let message = match &*own.message {
        "" => said,
        message if message.ends_with(&said) => own.message,
        message => text::message(&format!("{message}: {said}")),
    };
    Verdict { message, ..own }
}
