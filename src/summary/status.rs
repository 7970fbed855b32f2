//! From the components of an add-on to its status.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{compose::describe, past::whole_second};
use crate::{
    api::{
        AddonCondition, AddonStatus, ComponentCause, ComponentCondition, ComponentFlapping, ComponentStatus,
        Counts, InstallStatus, condition,
    },
    model::{Component, GroupKind, Health, Timestamp, text},
};

/// How many different causes a message names, and how many objects for each.
const NAMED: usize = 3;

/// The status of an add-on with all its components, which are in order already, and since when it
/// is so, where the components say so.
pub(super) fn status(
    components: &[Component],
    gaps: &BTreeMap<GroupKind, String>,
    now: Timestamp,
) -> (AddonStatus, Option<Timestamp>) {
    let health = overall(components);
    let (reason, message) = headline(components, health);
    let since = since(components, health).map(|since| since.min(now));
    let counts = counts(components);
    let status = AddonStatus {
        conditions: conditions(components, gaps, health, (&reason, &message), since, now),
        health: health.to_string(),
        reason,
        message,
        ready: ready(&counts),
        counts,
        version: version(components),
        facts: Vec::new(),
        installs: installs(components),
        components: components.iter().map(component).collect(),
        omitted: 0,
    };
    (status, since)
}

/// The worst of the components that colour: neither suspended nor informational.
fn overall<C: Borrow<Component>>(components: &[C]) -> Health {
    let colouring = components.iter().map(C::borrow).filter(|c| !c.informational);
    let mut suspended = false;
    let mut worst = None;
    for health in colouring.map(|c| c.verdict.health) {
        if health == Health::Suspended {
            suspended = true;
        } else {
            worst = Some(worst.map_or(health, |worst: Health| worst.worst(health)));
        }
    }
    match worst {
        Some(worst) => worst,
        None if suspended => Health::Suspended,
        None if components.is_empty() => Health::Unknown,
        None => Health::Healthy,
    }
}

fn headline(components: &[Component], health: Health) -> (String, String) {
    let total = components.len();
    if total == 0 {
        return ("NoComponents".to_owned(), "no object carries the label".to_owned());
    }
    let bad: Vec<&Component> = components
        .iter()
        .filter(|c| !c.informational && !matches!(c.verdict.health, Health::Healthy | Health::Suspended))
        .collect();
    let Some(worst) = bad.first() else {
        let colouring = components.iter().filter(|c| !c.informational).count();
        let suspended =
            components.iter().filter(|c| !c.informational && c.verdict.health == Health::Suspended).count();
        let (reason, mut message) = match health {
            Health::Suspended => ("AllSuspended", format!("{suspended} of {colouring} suspended")),
            _ if suspended > 0 => {
                ("AllHealthy", format!("{} healthy, {suspended} suspended", colouring - suspended))
            }
            _ => ("AllHealthy", format!("all {colouring} healthy")),
        };
        if colouring < total {
            message.push_str(&format!(", {} informational", total - colouring));
        }
        return (reason.to_owned(), message);
    };
    let message = format!("{} of {total} not healthy: {}", bad.len(), causes(&bad));
    (worst.verdict.reason.clone(), text::message(&message))
}

/// At most [`NAMED`] causes, worst first, each with the objects that share it.
fn causes(bad: &[&Component]) -> String {
    let mut groups: Vec<(Health, &str, Vec<&Component>)> = Vec::new();
    for component in bad {
        let (health, said) = (component.verdict.health, describe(&component.verdict));
        match groups.iter_mut().find(|group| (group.0, group.1) == (health, said)) {
            Some(group) => group.2.push(component),
            None => groups.push((health, said, vec![component])),
        }
    }
    let mut text: Vec<String> = groups
        .iter()
        .take(NAMED)
        .map(|(_, said, objects)| {
            let mut names: Vec<String> = objects.iter().take(NAMED).map(|c| name(c)).collect();
            if objects.len() > NAMED {
                names.push(format!("{} more", objects.len() - NAMED));
            }
            format!("{}: {said}", names.join(", "))
        })
        .collect();
    let rest: usize = groups.iter().skip(NAMED).map(|group| group.2.len()).sum();
    if rest > 0 {
        text.push(format!("and {rest} more"));
    }
    text.join("; ")
}

fn name(component: &Component) -> String {
    let mark = if component.flapping.is_some() { " (flapping)" } else { "" };
    format!("{}{mark}", component.object)
}

/// Since when the add-on is as it is: the oldest of the worst, or the last that became healthy.
fn since(components: &[Component], health: Health) -> Option<Timestamp> {
    if health == Health::Healthy {
        components.iter().filter(|c| !c.informational).filter_map(|c| c.verdict.since).max()
    } else {
        oldest(components, |is| is == health)
    }
}

fn oldest(components: &[Component], wanted: impl Fn(Health) -> bool) -> Option<Timestamp> {
    components
        .iter()
        .filter(|c| !c.informational && wanted(c.verdict.health))
        .filter_map(|c| c.verdict.since)
        .min()
}

fn conditions(
    components: &[Component],
    gaps: &BTreeMap<GroupKind, String>,
    health: Health,
    (reason, message): (&str, &str),
    since: Option<Timestamp>,
    now: Timestamp,
) -> Vec<AddonCondition> {
    let first = |wanted: Health| components.iter().find(|c| !c.informational && c.verdict.health == wanted);
    let ready = match health {
        Health::Healthy => "True",
        Health::Unknown => "Unknown",
        _ => "False",
    };
    let mut all = vec![draft(condition::READY, ready, reason, message, since, now)];
    for (kind, wanted, otherwise) in [
        (condition::PROGRESSING, Health::Progressing, "NothingMoves"),
        (condition::DEGRADED, Health::Degraded, "NothingFails"),
    ] {
        all.push(match first(wanted) {
            Some(component) => {
                let message =
                    text::message(&format!("{}: {}", component.object, describe(&component.verdict)));
                let since = oldest(components, |is| is == wanted).map(|since| since.min(now));
                draft(kind, "True", &component.verdict.reason, &message, since, now)
            }
            None => draft(kind, "False", otherwise, "", None, now),
        });
    }
    let unseen: BTreeSet<String> = components
        .iter()
        .filter(|c| gaps.contains_key(&c.object.kind.group_kind()))
        .map(|c| c.object.kind.resource_name())
        .collect();
    all.push(if unseen.is_empty() {
        draft(condition::OBSERVED, "True", "AllKindsWatched", "", None, now)
    } else {
        let names: Vec<String> = unseen.into_iter().collect();
        let message = text::message(&format!("can't be watched: {}", names.join(", ")));
        draft(condition::OBSERVED, "False", "KindsNotWatched", &message, None, now)
    });
    all
}

fn draft(
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
        *match component.verdict.health {
            Health::Healthy => &mut counts.healthy,
            Health::Suspended => &mut counts.suspended,
            Health::Terminating => &mut counts.terminating,
            Health::Progressing => &mut counts.progressing,
            Health::Unknown => &mut counts.unknown,
            Health::Degraded => &mut counts.degraded,
        } += 1;
    }
    counts
}

fn ready(counts: &Counts) -> String {
    format!("{}/{}", counts.healthy, counts.total)
}

fn version(components: &[Component]) -> Option<String> {
    let versions: BTreeSet<&str> = components.iter().filter_map(|c| c.version.as_deref()).collect();
    if versions.is_empty() {
        return None;
    }
    Some(text::word(&versions.into_iter().collect::<Vec<_>>().join(", ")))
}

/// The installs by name, empty where no label has a value.
fn installs(components: &[Component]) -> Vec<InstallStatus> {
    let mut by_name: BTreeMap<&str, Vec<&Component>> = BTreeMap::new();
    for component in components {
        by_name.entry(&component.install).or_default().push(component);
    }
    if by_name.keys().all(|name| name.is_empty()) {
        return Vec::new();
    }
    by_name
        .into_iter()
        .map(|(name, components)| InstallStatus {
            name: name.to_owned(),
            health: overall(&components).to_string(),
            ready: ready(&counts(&components)),
        })
        .collect()
}

fn component(component: &Component) -> ComponentStatus {
    let Component { object, verdict, .. } = component;
    ComponentStatus {
        group: object.kind.group.clone(),
        kind: object.kind.kind.clone(),
        resource: object.kind.plural.clone(),
        version: object.kind.version.clone(),
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        uid: object.uid.to_string(),
        install: component.install.clone(),
        health: verdict.health.to_string(),
        reason: verdict.reason.clone(),
        message: verdict.message.clone(),
        since: verdict.since.map(seconds),
        rule: verdict.rule.to_string(),
        importance: component.informational.then(|| "informational".to_owned()),
        flapping: component.flapping.map(|flapping| ComponentFlapping {
            changes: i32::try_from(flapping.changes).unwrap_or(i32::MAX),
            first: seconds(flapping.first),
            last: seconds(flapping.last),
        }),
        conditions: component
            .conditions
            .iter()
            .map(|condition| ComponentCondition {
                kind: condition.kind.clone(),
                status: condition.status.as_str().to_owned(),
                reason: condition.reason.clone(),
                message: condition.message.clone(),
                last_transition_time: condition.last_transition.map(seconds),
            })
            .collect(),
        cause: component.cause.as_ref().map(|cause| ComponentCause {
            kind: cause.object.kind.kind.clone(),
            namespace: cause.object.namespace.to_string(),
            name: cause.object.name.to_string(),
            reason: cause.reason.clone(),
            message: cause.message.clone(),
        }),
    }
}
