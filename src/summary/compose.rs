//! The components of one add-on with the verdict that holds now.

use std::collections::{BTreeMap, HashMap};

use super::{
    Combination, Observation, Past,
    members::{Key, Objects},
};
use crate::{
    api::Identifier,
    model::{Cause, Component, Explanation, GroupKind, Health, ObjectRef, Timestamp, Verdict, text},
};

/// What composing an add-on looks at besides its own objects.
pub(super) struct Surroundings<'a> {
    /// All labelled objects.
    pub(super) objects: &'a Objects,
    /// What is known of an object from before, by its key.
    pub(super) past: &'a dyn Fn(&str) -> Past,
    /// What explains an object that isn't well, by its key.
    pub(super) explanations: &'a HashMap<Key, Explanation>,
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

/// An object with its key.
type Member<'a> = (&'a str, &'a Observation);

impl Surroundings<'_> {
    /// How the object is, as it says itself and for how long.
    fn verdict(&self, (key, observation): Member) -> Verdict {
        observation.timeline_after((self.past)(key)).at(self.now).clone()
    }
}

/// The components of `identifier`, worst first, then by group, kind, namespace, name and uid.
/// `members` are the keys of all objects that carry its label.
pub(super) fn components<'a>(
    identifier: &Identifier,
    members: impl Iterator<Item = &'a str>,
    around: &Surroundings<'_>,
) -> Vec<Component> {
    let mut own: Vec<Member> = Vec::new();
    let mut derived: HashMap<&str, Vec<Member>> = HashMap::new();
    for key in members {
        let Some(observation) = around.objects.get(key) else { continue };
        match around.objects.root(key, identifier) {
            Some(root) => derived.entry(root).or_default().push((key, observation)),
            None => own.push((key, observation)),
        }
    }
    let mut components: Vec<Component> = own
        .into_iter()
        .map(|member| {
            let evidence = derived.get(member.0).map(Vec::as_slice).unwrap_or_default();
            component(identifier, member, evidence, around)
        })
        .collect();
    components.sort_by(order);
    components
}

fn order(a: &Component, b: &Component) -> std::cmp::Ordering {
    let rank = |c: &Component| c.verdict.health.rank();
    let (x, y) = (&a.object, &b.object);
    rank(a)
        .cmp(&rank(b))
        .then_with(|| x.kind.group.cmp(&y.kind.group))
        .then_with(|| x.kind.kind.cmp(&y.kind.kind))
        .then_with(|| x.namespace.cmp(&y.namespace))
        .then_with(|| x.name.cmp(&y.name))
        .then_with(|| x.uid.cmp(&y.uid))
}

fn component(
    identifier: &Identifier,
    member: Member,
    derived: &[Member],
    around: &Surroundings<'_>,
) -> Component {
    let own = own_verdict(identifier, member, around);
    let (key, observation) = member;
    let (verdict, cause) = match worst_evidence(derived, around) {
        Some((object, evidence)) if counts_for_owner(&own, &evidence) => {
            let cause = Cause {
                object: object.object.clone(),
                reason: evidence.reason.clone().into_owned(),
                message: evidence.message.clone(),
            };
            let said = tell(&cause, &observation.object);
            (blame(own, evidence, &said), Some(cause))
        }
        // What sums up an add-on names its cause already.
        _ if observation.sums_up.is_some() => (own, None),
        _ => explained(own, around.explanations.get(key), &observation.object),
    };
    Component {
        object: observation.object.clone(),
        install: observation.install_of(identifier).unwrap_or_default().to_owned(),
        verdict,
        conditions: observation.conditions.clone(),
        cause,
        version: observation.version.clone(),
        informational: observation.informational,
        spare: false,
        flapping: (around.past)(key).flapping,
        facts: observation.facts.clone(),
    }
}

fn own_verdict(identifier: &Identifier, member: Member, around: &Surroundings<'_>) -> Verdict {
    let (_, observation) = member;
    if let Some(why) = around.gaps.get(&observation.group_kind()) {
        return Verdict {
            health: Health::Unknown,
            reason: "NotObserved".into(),
            message: format!("{} can't be watched: {why}", observation.object.kind.resource_name()),
            since: None,
            rule: "coverage".into(),
        };
    }
    let nested = observation.sums_up.as_ref().and_then(|child| (around.nested)(identifier, child));
    nested.unwrap_or_else(|| around.verdict(member))
}

/// The worst of the objects that a component's controllers made for it. What ended or was replaced
/// says nothing any more.
fn worst_evidence<'a>(
    derived: &[Member<'a>],
    around: &Surroundings<'_>,
) -> Option<(&'a Observation, Verdict)> {
    derived
        .iter()
        .filter(|(_, observation)| {
            !observation.superseded && !around.gaps.contains_key(&observation.group_kind())
        })
        .map(|member| (member.1, around.verdict(*member)))
        .filter(|(_, verdict)| verdict.health == Health::Degraded)
        .min_by_key(|(observation, verdict)| {
            let object = &observation.object;
            (
                verdict.is_overdue(),
                object.kind.group.clone(),
                object.kind.kind.clone(),
                object.namespace.clone(),
                object.name.clone(),
            )
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

/// The verdict of `object` with what explains it, where it isn't well.
fn explained(
    own: Verdict,
    explanation: Option<&Explanation>,
    object: &ObjectRef,
) -> (Verdict, Option<Cause>) {
    let is_explained = own.health.wants_cause() && own.rule != "coverage";
    let Some(explanation) = explanation.filter(|_| is_explained) else { return (own, None) };
    let Some(cause) = explanation.last() else { return (own, None) };
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

/// What a verdict says, in a sentence where it has one.
pub(super) fn describe(verdict: &Verdict) -> &str {
    if verdict.message.is_empty() { &verdict.reason } else { &verdict.message }
}
