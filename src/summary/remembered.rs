use std::{borrow::Cow, sync::Arc};

use super::{Membership, Observation, Past, compose, object_key};
use crate::{
    api::{ComponentCause, ComponentFlapping, ComponentStatus, Identifier, importance},
    model::{
        Cause, Condition, ConditionStatus, Explanation, Flapping, Health, Kind, ObjectRef, StatusReporting,
        Timestamp, Verdict,
    },
};

/// A component as an `Addon` object remembers it: what is known of it before its kind was listed, and
/// all that is known while its kind can't be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// What was seen of it.
    pub observation: Observation,
    /// What can't be seen anew.
    pub past: Past,
    /// An object below it that takes too long, as an [`ObjectRef`] is written, and since when.
    pub overdue_part: Option<(String, Timestamp)>,
    /// What explained it.
    pub explanation: Option<Explanation>,
}

impl Remembered {
    /// What the `Addon` of `identifier` says of `component`. Text in it was cleaned when it was
    /// written, and is cleaned again, since anybody may edit an object.
    pub fn of(identifier: &Identifier, component: &ComponentStatus) -> Self {
        let observation = observation(identifier, component);
        let verdict = &observation.timeline.first;
        let waits = verdict.health == Health::Progressing || verdict.is_overdue();
        let past = Past {
            waiting_since: verdict.since.filter(|_| waits),
            flapping: component.flapping.as_ref().map(flapping),
        };
        let overdue_part = component.cause.as_ref().and_then(|cause| overdue_part(cause, verdict));
        let explanation = component.cause.as_ref().map(|cause| explanation(cause, &observation));
        Self { observation, past, overdue_part, explanation }
    }

    /// The [`object_key`] of the object.
    pub fn key(&self) -> Box<str> {
        let object = &self.observation.object;
        object_key(&object.kind, &object.namespace, &object.name, &object.uid)
    }

    /// Adds what another `Addon` remembers of the same object.
    pub fn join(&mut self, other: Self) {
        let memberships = &mut self.observation.memberships;
        memberships.extend(other.observation.memberships);
        memberships.sort();
        memberships.dedup_by(|a, b| a.identifier == b.identifier);
        self.past.join(other.past);
        self.overdue_part = self.overdue_part.take().or(other.overdue_part);
        // What explained it in one add-on alone may be a part of it there.
        self.explanation = self.explanation.take().filter(|known| other.explanation.as_ref() == Some(known));
    }
}

fn overdue_part(cause: &ComponentCause, verdict: &Verdict) -> Option<(String, Timestamp)> {
    let said =
        Verdict { reason: cause.reason.clone().into(), message: cause.message.clone(), ..verdict.clone() };
    // Where it only is named, the time is that of the component itself.
    let start = verdict.since.filter(|_| said.is_overdue() && verdict.reason == said.reason)?;
    let namespace = if cause.namespace.is_empty() { String::new() } else { format!("{}/", cause.namespace) };
    Some((format!("{} {namespace}{}", cause.kind, cause.name), start))
}

/// What explained a component, which is `observation` with that. Whether it made the component worse
/// shows in how its message begins.
fn explanation(cause: &ComponentCause, observation: &Observation) -> Explanation {
    use crate::model::text::{message, name, word};
    let kind = Kind {
        group: String::new(),
        version: String::new(),
        kind: name(&cause.kind),
        plural: String::new(),
        namespaced: !cause.namespace.is_empty(),
        status: StatusReporting::Unsaid,
    };
    let cause = Cause {
        object: ObjectRef {
            kind: Arc::new(kind),
            namespace: name(&cause.namespace).into(),
            name: name(&cause.name).into(),
            uid: "".into(),
        },
        reason: word(&cause.reason),
        message: message(&cause.message),
    };
    let verdict = &observation.timeline.first;
    let is_blamed = verdict.health == Health::Degraded
        && verdict.reason == cause.reason
        && verdict.message == compose::tell(&cause, &observation.object);
    let evidence = is_blamed.then(|| Verdict { message: cause.message.clone(), ..verdict.clone() });
    Explanation { steps: vec![cause], evidence, incomplete: None }
}

fn flapping(flapping: &ComponentFlapping) -> Flapping {
    Flapping {
        changes: usize::try_from(flapping.changes).unwrap_or_default(),
        first: flapping.first.0,
        last: flapping.last.0,
    }
}

fn observation(identifier: &Identifier, component: &ComponentStatus) -> Observation {
    use crate::model::text::{message, word};
    let verdict = Verdict {
        health: Health::parse(&component.health),
        reason: word(&component.reason).into(),
        message: message(&component.message),
        since: component.since.as_ref().map(|time| time.0),
        rule: Cow::Owned(word(&component.rule)),
    };
    Observation {
        object: component.reference(),
        memberships: vec![Membership { identifier: identifier.clone(), install: word(&component.install) }],
        controller: None,
        sums_up: None,
        timeline: verdict.into(),
        conditions: component
            .conditions
            .iter()
            .map(|condition| Condition {
                kind: word(&condition.kind),
                status: match condition.status.as_str() {
                    "True" => ConditionStatus::True,
                    "False" => ConditionStatus::False,
                    "Unknown" => ConditionStatus::Unknown,
                    other => ConditionStatus::Other(word(other)),
                },
                reason: word(&condition.reason),
                message: message(&condition.message),
                last_transition: condition.last_transition_time.as_ref().map(|time| time.0),
                observed_generation: None,
            })
            .collect(),
        version: None,
        informational: component.importance.as_deref() == Some(importance::INFORMATIONAL),
        superseded: false,
        facts: Vec::new(),
        generation: None,
    }
}
