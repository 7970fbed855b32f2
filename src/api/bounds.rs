//! What an `Addon` object may hold.
//!
//! Everything here stays strictly below the bounds of the schema, so that the API server can't
//! refuse a status for its size. What is cut is served whole over HTTP and by `addonctl --live`.

use std::{collections::HashSet, io};

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use serde::Serialize;

use super::{
    AddonCondition, AddonStatus, ComponentCause, ComponentCondition, ComponentFlapping, ComponentStatus,
    Counts, Fact, InstallStatus,
};
use crate::model::{
    Health,
    text::{MESSAGE_BYTES, WORD_BYTES, cut},
};

/// The most bytes of a status, as the API server stores it. With what the object holds beside its
/// status it stays below 256 KiB.
pub const STATUS_BYTES: usize = 240 * 1024;

/// The most components that are listed.
pub const COMPONENTS: usize = 500;

/// The most facts.
pub const FACTS: usize = 128;

/// The most bytes of one fact.
pub const FACT_BYTES: usize = 2 * MESSAGE_BYTES;

/// The most bytes of all facts.
const ALL_FACTS_BYTES: usize = 32 * 1024;

/// The name of the fact that tells how many are left out, and the room for it.
const MORE_FACTS: &str = "...";
const MORE_FACTS_BYTES: usize = 128;

/// The most of each other list.
const CONDITIONS: usize = 8;
const COMPONENT_CONDITIONS: usize = 16;
const INSTALLS: usize = 100;

/// The most bytes of each kind of text.
const SUMMARY_BYTES: usize = 2 * MESSAGE_BYTES;
const NAME_BYTES: usize = 253;
const HEALTH_BYTES: usize = 32;
const VERSION_BYTES: usize = 256;

/// What a list costs beside its items: its key, brackets and a comma.
const LIST_BYTES: usize = 24;

/// The message of a status that stands without its components.
const WITHOUT_COMPONENTS: &str =
    "Shown without its components: the API server refused them. The log of addon-controller says why.";

/// Cuts a whole status to what an `Addon` object may hold.
///
/// Lists lose their end, which is where the best components stand; `omitted` counts them, `counts`
/// stays what it is. Before a component is left out, those that are healthy lose their own
/// conditions. The same status gives the same result, and a status that fits comes out as it is.
pub fn fit(status: &AddonStatus) -> AddonStatus {
    let mut fitted = AddonStatus {
        health: cut(&status.health, HEALTH_BYTES),
        reason: cut(&status.reason, WORD_BYTES),
        message: cut(&status.message, SUMMARY_BYTES),
        ready: cut(&status.ready, HEALTH_BYTES),
        counts: counts(status.counts),
        version: status.version.as_ref().map(|version| cut(version, VERSION_BYTES)),
        // The longest number, so that what is counted there later takes no room.
        omitted: i32::MAX,
        ..AddonStatus::default()
    };
    let mut room = STATUS_BYTES.saturating_sub(size(&fitted));
    fitted.conditions = take(conditions(&status.conditions), &mut room);
    fitted.installs = take(installs(&status.installs), &mut room);
    fitted.facts = take(facts(&status.facts), &mut room);
    let mut components: Vec<_> = status.components.iter().take(COMPONENTS).map(component).collect();
    if size(&components) > room {
        let healthy = components.iter_mut().filter(|component| component.health == Health::Healthy.as_str());
        healthy.for_each(|component| component.conditions.clear());
    }
    fitted.components = take(components, &mut room);
    let left_out = status.components.len() - fitted.components.len();
    fitted.omitted = status.omitted.max(0).saturating_add(i32::try_from(left_out).unwrap_or(i32::MAX));
    fitted
}

/// The headline of a status that the API server refused: how the add-on is, without what makes it
/// large or unusual.
pub fn headline(status: &AddonStatus) -> AddonStatus {
    let mut headline = fit(&AddonStatus {
        message: WITHOUT_COMPONENTS.to_owned(),
        version: None,
        facts: Vec::new(),
        installs: Vec::new(),
        components: Vec::new(),
        omitted: status.counts.total,
        ..status.clone()
    });
    for condition in &mut headline.conditions {
        condition.message.clear();
    }
    headline
}

/// The items of a list that fit into `room`, and takes their room.
fn take<T: Serialize>(mut items: Vec<T>, room: &mut usize) -> Vec<T> {
    let mut left = room.saturating_sub(LIST_BYTES);
    let fitting = items.iter().take_while(|item| {
        let needed = size(item) + 1;
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    });
    items.truncate(fitting.count());
    if !items.is_empty() {
        *room = left;
    }
    items
}

fn conditions(all: &[AddonCondition]) -> Vec<AddonCondition> {
    let mut kept: Vec<AddonCondition> = Vec::new();
    for condition in all {
        let kind = cut(&condition.kind, WORD_BYTES);
        // The list is a map by type: the API server refuses an empty or a second one.
        if kind.is_empty() || kept.iter().any(|other| other.kind == kind) {
            continue;
        }
        let reason = if condition.reason.is_empty() { Health::Unknown.as_str() } else { &condition.reason };
        kept.push(AddonCondition {
            kind,
            status: cut(&condition.status, HEALTH_BYTES),
            reason: cut(reason, WORD_BYTES),
            message: cut(&condition.message, SUMMARY_BYTES),
            last_transition_time: time(&condition.last_transition_time)
                .unwrap_or(Time(Timestamp::UNIX_EPOCH)),
            observed_generation: condition.observed_generation.filter(|generation| *generation >= 0),
        });
        if kept.len() == CONDITIONS {
            break;
        }
    }
    kept
}

/// The worst of them, in the order in which they came.
fn installs(all: &[InstallStatus]) -> Vec<InstallStatus> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by_key(|place| Health::parse(&all[*place].health).rank());
    places.truncate(INSTALLS);
    places.sort_unstable();
    places
        .into_iter()
        .map(|place| InstallStatus {
            name: cut(&all[place].name, WORD_BYTES),
            health: cut(&all[place].health, HEALTH_BYTES),
            ready: cut(&all[place].ready, HEALTH_BYTES),
        })
        .collect()
}

/// The facts that an add-on may have, each name once, in the order in which they came. Where they are
/// too many or too large, the last one tells how many are left out.
pub fn facts(all: &[Fact]) -> Vec<Fact> {
    let mut names = HashSet::new();
    let mut facts: Vec<Fact> = all
        .iter()
        .map(|fact| Fact { name: cut(&fact.name, WORD_BYTES), value: cut(&fact.value, FACT_BYTES) })
        // A map by name, like the conditions.
        .filter(|fact| !fact.name.is_empty() && names.insert(fact.name.clone()))
        .collect();
    if facts.len() <= FACTS && size(&facts) <= ALL_FACTS_BYTES {
        return facts;
    }
    facts.retain(|fact| fact.name != MORE_FACTS);
    let total = facts.len();
    facts.truncate(FACTS - 1);
    let mut kept = take(facts, &mut (ALL_FACTS_BYTES - MORE_FACTS_BYTES));
    let value = format!("and {} more", total - kept.len());
    kept.push(Fact { name: MORE_FACTS.to_owned(), value });
    kept
}

fn component(component: &ComponentStatus) -> ComponentStatus {
    ComponentStatus {
        group: cut(&component.group, NAME_BYTES),
        kind: cut(&component.kind, NAME_BYTES),
        resource: cut(&component.resource, NAME_BYTES),
        version: cut(&component.version, NAME_BYTES),
        namespace: cut(&component.namespace, NAME_BYTES),
        name: cut(&component.name, NAME_BYTES),
        uid: cut(&component.uid, NAME_BYTES),
        install: cut(&component.install, WORD_BYTES),
        health: cut(&component.health, HEALTH_BYTES),
        reason: cut(&component.reason, WORD_BYTES),
        message: cut(&component.message, MESSAGE_BYTES),
        since: component.since.as_ref().and_then(time),
        rule: cut(&component.rule, NAME_BYTES),
        importance: component.importance.as_ref().map(|importance| cut(importance, HEALTH_BYTES)),
        flapping: component.flapping.as_ref().and_then(flapping),
        conditions: component.conditions.iter().take(COMPONENT_CONDITIONS).map(component_condition).collect(),
        cause: component.cause.as_ref().map(|cause| ComponentCause {
            kind: cut(&cause.kind, NAME_BYTES),
            namespace: cut(&cause.namespace, NAME_BYTES),
            name: cut(&cause.name, NAME_BYTES),
            reason: cut(&cause.reason, WORD_BYTES),
            message: cut(&cause.message, MESSAGE_BYTES),
        }),
    }
}

fn flapping(flapping: &ComponentFlapping) -> Option<ComponentFlapping> {
    Some(ComponentFlapping {
        changes: flapping.changes.max(0),
        first: time(&flapping.first)?,
        last: time(&flapping.last)?,
    })
}

fn component_condition(condition: &ComponentCondition) -> ComponentCondition {
    ComponentCondition {
        kind: cut(&condition.kind, WORD_BYTES),
        status: cut(&condition.status, WORD_BYTES),
        reason: cut(&condition.reason, WORD_BYTES),
        message: cut(&condition.message, MESSAGE_BYTES),
        last_transition_time: condition.last_transition_time.as_ref().and_then(time),
    }
}

fn counts(counts: Counts) -> Counts {
    Counts {
        total: counts.total.max(0),
        healthy: counts.healthy.max(0),
        progressing: counts.progressing.max(0),
        degraded: counts.degraded.max(0),
        suspended: counts.suspended.max(0),
        terminating: counts.terminating.max(0),
        unknown: counts.unknown.max(0),
        informational: counts.informational.max(0),
    }
}

/// A time to the second, which is what the API keeps; `None` where RFC 3339 can't write it.
fn time(time: &Time) -> Option<Time> {
    const YEAR_ONE: i64 = -62_135_596_800;
    let second = time.0.as_second();
    (second >= YEAR_ONE).then(|| Timestamp::from_second(second).ok().map(Time)).flatten()
}

/// The bytes of `value` as the API server writes it into its store: JSON, where `<`, `>` and `&`
/// take six bytes each.
fn size(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Counting never fails, and neither do our own types.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let escaped = bytes.iter().filter(|byte| matches!(byte, b'<' | b'>' | b'&')).count();
        self.0 += bytes.len() + 5 * escaped;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
