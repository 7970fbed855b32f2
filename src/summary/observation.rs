use crate::{
    api::{self, Identifier, LabelPrefix, importance},
    health::{self, Rules},
    model::{Condition, Fact, GroupKind, Object, ObjectRef, Owner, Timeline, text},
};

/// The label whose value is taken as a component's version.
const VERSION_LABEL: &str = "app.kubernetes.io/version";

/// That an object belongs to an add-on: what one label says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Membership {
    /// The add-on.
    pub identifier: Identifier,
    /// The label's value: which install of it. Empty for most.
    pub install: String,
}

/// One labelled object as it was seen last: all that an add-on needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Which object.
    pub object: ObjectRef,
    /// The add-ons that it belongs to, in order of identifier, each once. Never empty.
    pub memberships: Vec<Membership>,
    /// The owner that controls it.
    pub controller: Option<Box<Owner>>,
    /// The add-on that it sums up, where the object is an `Addon` itself.
    pub sums_up: Option<Identifier>,
    /// How it is.
    pub timeline: Timeline,
    /// Its own conditions, in order of type.
    pub conditions: Vec<Condition>,
    /// Its `app.kubernetes.io/version`.
    pub version: Option<String>,
    /// It is shown and doesn't colour (annotation `<prefix>importance: informational`).
    pub informational: bool,
    /// It ended or was replaced, and says nothing any more about the owner that made it.
    pub superseded: bool,
    /// What rules extracted from it, each name once.
    pub facts: Vec<Fact>,
    /// `metadata.generation`.
    pub generation: Option<i64>,
}

impl Observation {
    /// Judges `object` by `rules` and keeps what an add-on needs of it; `None` where it carries no label of
    /// `prefix` with a valid identifier.
    pub fn of(object: &Object, prefix: &LabelPrefix, rules: &Rules) -> Option<Self> {
        let memberships = memberships(object, prefix);
        if memberships.is_empty() {
            return None;
        }
        let annotation = prefix.annotation("importance");
        let judgement = health::judge(object, rules);
        Some(Self {
            object: object.reference.clone(),
            memberships,
            controller: object.controller.clone().map(Box::new),
            sums_up: sums_up(object),
            timeline: judgement.timeline,
            conditions: judgement.conditions,
            version: object
                .labels
                .iter()
                .find(|(key, value)| key == VERSION_LABEL && !value.is_empty())
                .map(|(_, value)| text::word(value)),
            informational: object
                .annotations
                .iter()
                .any(|(key, value)| *key == annotation && value == importance::INFORMATIONAL),
            superseded: judgement.superseded,
            facts: judgement.facts,
            generation: object.generation,
        })
    }

    /// Whether `object` carries a label of `prefix` with a valid identifier.
    pub fn is_of(object: &Object, prefix: &LabelPrefix) -> bool {
        object.labels.iter().any(|(key, _)| prefix.identifier(key).is_some())
    }

    /// The group and kind of the object.
    pub fn group_kind(&self) -> GroupKind {
        self.object.kind.group_kind()
    }
}

/// The identifier of an `Addon` object.
fn sums_up(object: &Object) -> Option<Identifier> {
    let kind = &object.reference.kind;
    if kind.group != api::GROUP || kind.kind != "Addon" {
        return None;
    }
    let spelled = object.spec.get("identifier").and_then(|value| value.as_str());
    spelled.and_then(Identifier::new).or_else(|| api::identifier_of_name(&object.reference.name))
}

fn memberships(object: &Object, prefix: &LabelPrefix) -> Vec<Membership> {
    let mut memberships: Vec<Membership> = object
        .labels
        .iter()
        .filter_map(|(key, value)| {
            Some(Membership { identifier: prefix.identifier(key)?, install: text::word(value) })
        })
        .collect();
    memberships.sort();
    memberships.dedup_by(|a, b| a.identifier == b.identifier);
    memberships
}
