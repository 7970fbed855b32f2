//! From the components of an add-on to its status.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{
    Component,
    combination::Tally,
    facts::facts,
    headline::{Headline, overall},
    past::whole_second,
};
use crate::{
    api::{
        AddonCondition, AddonStatus, ComponentCause, ComponentCondition, ComponentFlapping, ComponentStatus,
        Counts, InstallStatus, condition, importance,
    },
    model::{GroupKind, Health, Timestamp, text},
};

/// The status of an add-on but for its components, which are in order already, and since when it is
/// so, where the components say so.
pub(super) fn status(
    components: &[Component],
    tallies: &[Tally],
    gaps: &BTreeMap<GroupKind, String>,
    now: Timestamp,
) -> (AddonStatus, Option<Timestamp>) {
    let headline = Headline::of(components, tallies);
    let since = since(components, headline.health).map(|since| since.min(now));
    let counts = counts(components);
    let status = AddonStatus {
        conditions: conditions(components, &headline, gaps, since, now),
        health: headline.health.to_string(),
        reason: headline.reason,
        message: headline.message,
        ready: ready(&counts),
        counts,
        version: version(components),
        facts: facts(components),
        installs: installs(components),
        components: Vec::new(),
        omitted: 0,
    };
    (status, since)
}

/// Since when the add-on is as it is: the oldest of the worst, or the last that became healthy.
fn since(components: &[Component], health: Health) -> Option<Timestamp> {
    if health == Health::Healthy {
        components.iter().filter(|c| c.colours()).filter_map(Component::since).max()
    } else {
        oldest(components, |is| is == health)
    }
}

fn oldest(components: &[Component], wanted: impl Fn(Health) -> bool) -> Option<Timestamp> {
    components.iter().filter(|c| c.colours() && wanted(c.health())).filter_map(Component::since).min()
}

fn conditions(
    components: &[Component],
    headline: &Headline,
    gaps: &BTreeMap<GroupKind, String>,
    since: Option<Timestamp>,
    now: Timestamp,
) -> Vec<AddonCondition> {
    let first = |wanted: Health| components.iter().find(|c| c.colours() && c.health() == wanted);
    let ready = match headline.health {
        Health::Healthy => "True",
        Health::Unknown => "Unknown",
        _ => "False",
    };
    let mut all = vec![draft(condition::READY, ready, &headline.reason, &headline.message, since, now)];
    for (kind, wanted, otherwise) in [
        (condition::PROGRESSING, Health::Progressing, "NothingMoves"),
        (condition::DEGRADED, Health::Degraded, "NothingFails"),
    ] {
        let lack = headline.lack.as_ref().filter(|lack| lack.health == wanted);
        all.push(match (first(wanted), lack) {
            (Some(component), _) => {
                let message = text::message(&format!("{component}: {}", component.said()));
                let since = oldest(components, |is| is == wanted).map(|since| since.min(now));
                draft(kind, "True", component.reason(), &message, since, now)
            }
            (None, Some(lack)) => draft(kind, "True", lack.reason, &lack.message, None, now),
            (None, None) => draft(kind, "False", otherwise, "", None, now),
        });
    }
    let unseen: BTreeSet<String> = if gaps.is_empty() {
        BTreeSet::new()
    } else {
        let unseen = components.iter().filter(|c| gaps.contains_key(&c.kind().group_kind()));
        unseen.map(|c| c.kind().resource_name()).collect()
    };
    all.push(if unseen.is_empty() {
        draft(condition::OBSERVED, "True", "AllKindsWatched", "", None, now)
    } else {
        let names: Vec<String> = unseen.into_iter().collect();
        let message = text::message(&format!("can't be watched: {}", names.join(", ")));
        draft(condition::OBSERVED, "False", "KindsNotWatched", &message, None, now)
    });
    all
}

pub(super) fn draft(
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    since: Option<Timestamp>,
    now: Timestamp,
) -> AddonCondition {
    AddonCondition {
        kind: kind.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: seconds(since.unwrap_or(now)),
        observed_generation: None,
    }
}

fn seconds(time: Timestamp) -> Time {
    Time(whole_second(time))
}

fn counts<C: Borrow<Component>>(components: &[C]) -> Counts {
    let mut counts = Counts::default();
    for component in components.iter().map(C::borrow) {
        counts.total += 1;
        counts.informational += i32::from(component.informational);
        *counts.of(component.health()) += 1;
    }
    counts
}

pub(super) fn ready(counts: &Counts) -> String {
    format!("{}/{}", counts.healthy, counts.total)
}

fn version(components: &[Component]) -> Option<String> {
    let mut versions: BTreeSet<&str> = BTreeSet::new();
    let mut last: Option<&Component> = None;
    for component in components {
        // Most say the same as the one before.
        if last.is_none_or(|last| !last.record().is_marked_like(component.record())) {
            versions.extend(component.record().version());
            last = Some(component);
        }
    }
    if versions.is_empty() {
        return None;
    }
    Some(text::word(&versions.into_iter().collect::<Vec<_>>().join(", ")))
}

/// The installs by name, empty where no label has a value.
fn installs(components: &[Component]) -> Vec<InstallStatus> {
    let mut by_name: BTreeMap<&str, Vec<&Component>> = BTreeMap::new();
    for component in components {
        by_name.entry(component.install()).or_default().push(component);
    }
    if by_name.keys().all(|name| name.is_empty()) {
        return Vec::new();
    }
    by_name
        .into_iter()
        .map(|(name, components)| InstallStatus {
            name: name.to_owned(),
            // What is spare for the whole isn't for its own install.
            health: overall(&components, |component| !component.informational).to_string(),
            ready: ready(&counts(&components)),
        })
        .collect()
}

fn importance(component: &Component) -> Option<&'static str> {
    match component {
        Component { informational: true, .. } => Some(importance::INFORMATIONAL),
        Component { spare: true, .. } => Some(importance::SPARE),
        _ => None,
    }
}

/// A component as the API shows it.
pub(super) fn component(component: &Component) -> ComponentStatus {
    let (kind, record) = (component.kind(), component.record());
    ComponentStatus {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        resource: kind.plural.clone(),
        version: kind.version.clone(),
        namespace: record.namespace().to_string(),
        name: record.name.to_string(),
        uid: record.uid().into_owned(),
        install: component.install().to_owned(),
        health: component.health().to_string(),
        reason: component.reason().to_owned(),
        message: component.message().to_owned(),
        since: component.since().map(seconds),
        rule: component.rule().to_owned(),
        importance: importance(component).map(str::to_owned),
        flapping: component.flapping().map(|flapping| ComponentFlapping {
            changes: i32::try_from(flapping.changes).unwrap_or(i32::MAX),
            first: seconds(flapping.first),
            last: seconds(flapping.last),
        }),
        conditions: record
            .conditions()
            .iter()
            .map(|said| (said.words(), said.last_transition()))
            .map(|(words, last_transition)| ComponentCondition {
                kind: words.kind.to_string(),
                status: words.status.as_str().to_owned(),
                reason: words.reason.to_string(),
                message: words.message.to_string(),
                last_transition_time: last_transition.map(seconds),
            })
            .collect(),
        cause: component.cause().map(|cause| ComponentCause {
            kind: cause.object.kind.kind.clone(),
            namespace: cause.object.namespace.to_string(),
            name: cause.object.name.to_string(),
            reason: cause.reason.clone(),
            message: cause.message.clone(),
        }),
    }
}
