use std::{borrow::Cow, sync::Arc};

use super::{Membership, Observation};
use crate::{
    api::{ComponentStatus, Identifier},
    model::{Condition, ConditionStatus, Health, Kind, ObjectRef, StatusReporting, Verdict},
};

impl Observation {
    /// A component as an `Addon` object remembers it: what is known of it before its kind was
    /// listed, and all that is known while its kind can't be. Text in it was cleaned when it was
    /// written, and is cleaned again, since anybody may edit an object.
    pub fn remembered(identifier: &Identifier, component: &ComponentStatus) -> Self {
        use crate::model::text::{message, name, word};
        let kind = Kind {
            group: name(&component.group),
            version: name(&component.version),
            kind: name(&component.kind),
            plural: name(&component.resource),
            namespaced: !component.namespace.is_empty(),
            status: StatusReporting::Unsaid,
        };
        let verdict = Verdict {
            health: Health::parse(&component.health),
            reason: word(&component.reason).into(),
            message: message(&component.message),
            since: component.since.as_ref().map(|time| time.0),
            rule: Cow::Owned(word(&component.rule)),
        };
        Self {
            object: ObjectRef {
                kind: Arc::new(kind),
                namespace: name(&component.namespace).into(),
                name: name(&component.name).into(),
                uid: name(&component.uid).into(),
            },
            memberships: vec![Membership {
                identifier: identifier.clone(),
                install: word(&component.install),
            }],
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
            informational: component.importance.as_deref() == Some("informational"),
            superseded: false,
        }
    }

    /// Adds what another `Addon` remembers of the same object.
    pub fn join(&mut self, other: Self) {
        self.memberships.extend(other.memberships);
        self.memberships.sort();
        self.memberships.dedup_by(|a, b| a.identifier == b.identifier);
    }
}
