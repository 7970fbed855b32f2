//! What `addonctl why` answers: the components that aren't well, each with what lies below it.

use std::collections::HashSet;

use serde::{Serialize, Serializer};

use crate::{
    api::{Addon, AddonStatus, ComponentStatus, Counts},
    ctl::looks::{Found, Looks, is_ill},
    explain::{Says, Step},
    model::{Health, ObjectRef, Timestamp},
};

/// An add-on with those of its components that aren't well. What `-o json` prints: docs/health.md
/// describes its fields.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub(super) identifier: String,
    pub(super) health: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) ready: String,
    /// The worst first, and of equals those that others are ill of.
    pub(super) components: Vec<Part>,
    /// How many more aren't well.
    pub(super) more: usize,
    /// Of those how many aren't known by name: an `Addon` object holds only so many.
    #[serde(skip)]
    pub(super) unlisted: usize,
}

/// A component as the add-on counts it.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    #[serde(serialize_with = "reference")]
    pub(super) reference: ObjectRef,
    pub(super) health: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) rule: String,
    pub(super) since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) importance: Option<String>,
    pub(super) gaps: Vec<String>,
    pub(super) causes: Vec<Cause>,
    /// What it says itself, without what lies below.
    #[serde(skip)]
    pub(super) own: Option<String>,
}

/// An object on the way down.
#[derive(Debug, Serialize)]
pub(super) struct Cause {
    pub(super) via: String,
    #[serde(serialize_with = "reference")]
    pub(super) reference: ObjectRef,
    #[serde(flatten)]
    pub(super) said: Said,
    pub(super) gaps: Vec<String>,
    pub(super) causes: Vec<Cause>,
}

/// What is known of an object on the way down.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Said {
    Verdict {
        health: &'static str,
        reason: String,
        message: String,
        rule: String,
        since: Option<Timestamp>,
    },
    Event {
        event: Reported,
    },
    /// It isn't there, lacks something, or is only known by what another says of it.
    Word {
        reason: String,
        message: String,
    },
}

/// What a controller reported.
#[derive(Debug, Serialize)]
pub(super) struct Reported {
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) last: Option<Timestamp>,
}

fn reference<S: Serializer>(object: &ObjectRef, to: S) -> Result<S::Ok, S::Error> {
    crate::ctl::output::Reference::of(object).serialize(to)
}

impl Answer {
    /// At most so many components of `addon`, each with what `looks` found below it.
    pub(super) fn of(addon: &Addon, mut looks: Looks, most: usize) -> Self {
        let unwritten = AddonStatus { health: Health::Unknown.to_string(), ..AddonStatus::default() };
        let status = addon.status.as_ref().unwrap_or(&unwritten);
        let ill = status.components.iter().filter(|component| is_ill(component));
        let mut components: Vec<Part> = ill
            .map(|component| {
                let object = component.reference();
                let found = looks.take(&object);
                Part::of(component, object, found)
            })
            .collect();
        let listed = components.len();
        worst_first(&mut components);
        components.truncate(most);
        let unlisted = ill_of(&status.counts).saturating_sub(listed);
        Self {
            identifier: addon.spec.identifier.clone(),
            health: status.health.clone(),
            reason: status.reason.clone(),
            message: status.message.clone(),
            ready: status.ready.clone(),
            more: listed - components.len() + unlisted,
            components,
            unlisted,
        }
    }
}

fn ill_of(counts: &Counts) -> usize {
    let Counts { degraded, unknown, progressing, terminating, .. } = *counts;
    [degraded, unknown, progressing, terminating].into_iter().filter_map(|n| usize::try_from(n).ok()).sum()
}

/// Puts the worst first, and among equals those that lie below others before these.
fn worst_first(components: &mut [Part]) {
    let known: HashSet<Id> = components.iter().map(|part| id(&part.reference)).collect();
    components.sort_by_cached_key(|part| {
        let mut below = HashSet::new();
        collect(&part.causes, &known, &mut below);
        below.remove(&id(&part.reference));
        (Health::parse(&part.health).rank(), below.len())
    });
}

/// Adds to `found` what of `known` lies below.
fn collect(causes: &[Cause], known: &HashSet<Id>, found: &mut HashSet<Id>) {
    for cause in causes {
        found.extend(known.get(&id(&cause.reference)).cloned());
        collect(&cause.causes, known, found);
    }
}

/// Group, kind, namespace and name.
type Id = (String, String, String, String);

fn id(object: &ObjectRef) -> Id {
    let kind = &object.kind;
    (kind.group.clone(), kind.kind.clone(), object.namespace.to_string(), object.name.to_string())
}

impl Part {
    fn of(component: &ComponentStatus, reference: ObjectRef, found: Option<Found>) -> Self {
        let mut part = Self {
            reference,
            health: component.health.clone(),
            reason: component.reason.clone(),
            message: component.message.clone(),
            rule: component.rule.clone(),
            since: component.since.as_ref().map(|time| time.0),
            importance: component.importance.clone(),
            gaps: Vec::new(),
            causes: Vec::new(),
            own: None,
        };
        match found {
            Some(Found::Step(step)) => {
                part.own = Some(step.says.message().to_owned()).filter(|own| !own.is_empty());
                part.gaps = gaps(&step);
                part.causes = step.below.into_iter().map(Cause::from).collect();
            }
            Some(Found::Gone) => part.gaps.push("it isn't there any more".to_owned()),
            Some(Found::Refused(refusal)) => part.gaps.push(refusal.to_string()),
            None => {}
        }
        part
    }
}

fn gaps(step: &Step) -> Vec<String> {
    step.gaps.iter().map(ToString::to_string).collect()
}

impl From<Step> for Cause {
    fn from(step: Step) -> Self {
        let gaps = gaps(&step);
        let Step { object, via, says, below, .. } = step;
        let said = match says {
            Says::Verdict(verdict) => Said::Verdict {
                health: verdict.health.as_str(),
                reason: verdict.reason.into_owned(),
                message: verdict.message,
                rule: verdict.rule.into_owned(),
                since: verdict.since,
            },
            Says::Event(event) => Said::Event {
                event: Reported { reason: event.reason, message: event.message, last: event.last },
            },
            Says::Lacks { reason, message } => Said::Word { reason: reason.to_owned(), message },
            Says::Told { reason, message } => Said::Word { reason, message },
        };
        let causes = below.into_iter().map(Self::from).collect();
        Self { via: via.into_owned(), reference: object, said, gaps, causes }
    }
}
