//! The Gateway API: classes and gateways, and the routes and policies that hang on them. Each says
//! how it is to several others in conditions of their own; all of them count.

use serde_json::Value;

use super::failing;
use crate::{
    health::{
        Finding, Subject,
        conditions::{self, Reading},
        convention::{Tone, tone},
        finding::joined,
    },
    model::{Condition, ConditionStatus, Health, Timestamp},
};

#[cfg(test)]
mod tests;

/// The conditions that each holder has; False is bad for all of them.
const EXPECTED: [&str; 3] = ["Accepted", "ResolvedRefs", "Programmed"];

/// Conditions that are bad where they are True, beside those whose type tells so.
const DETACHED: &str = "Detached";

/// A class, or anything else that has conditions of its own only.
pub(super) fn class(subject: Subject) -> Finding {
    said(subject)
}

/// A Gateway or a ListenerSet: its own conditions, and those of each listener.
pub(super) fn gateway(subject: Subject) -> Finding {
    let listeners = parts(subject, "listeners");
    let own = said(subject);
    let routes: u64 = items(subject, "listeners").iter().filter_map(attached).sum();
    let message = format!("{} listeners, {routes} routes attached", listeners.len());
    worst(std::iter::once(own).chain(listeners.iter().map(|listener| listener.said(subject))), &message)
}

/// A route: what each of the parents that it names says of it.
pub(super) fn route(subject: Subject) -> Finding {
    let parents = parts(subject, "parents");
    let counted = fresh(subject, &parents);
    let unanswered = items_of(subject.spec("parentRefs"))
        .filter_map(|parent| text(parent, "name"))
        .find(|name| !parents.iter().any(|part| part.name == *name))
        .filter(|_| !parents.is_empty())
        .map(|name| unseen(subject).prefixed(name));
    if counted.is_empty() {
        return unseen(subject);
    }
    let message = format!("accepted by {}", names(&counted));
    worst(counted.iter().map(|part| part.said(subject)).chain(unanswered), &message)
}

/// A policy: what each of its ancestors says of it. Every implementation in the cluster answers, also
/// those that don't know its target; what they say doesn't count where another one took it.
pub(super) fn policy(subject: Subject) -> Finding {
    let ancestors = parts(subject, "ancestors");
    let taken = ancestors.iter().any(|part| part.subject(subject).holds("Accepted").is_some());
    let stranger = |part: &&Part| {
        let accepted = part.subject(subject).denies("Accepted");
        taken && accepted.is_some_and(|accepted| accepted.reason == "TargetNotFound")
    };
    let counted: Vec<_> = fresh(subject, &ancestors).into_iter().filter(|part| !stranger(part)).collect();
    if counted.is_empty() {
        return unseen(subject);
    }
    let message = format!("accepted by {}", names(&counted));
    worst(counted.iter().map(|part| part.said(subject)), &message)
}

/// A part of an object that has conditions of its own.
struct Part<'a> {
    name: &'a str,
    section: &'a str,
    controller: &'a str,
    conditions: Vec<Reading>,
}

impl Part<'_> {
    fn subject<'a>(&'a self, whole: Subject<'a>) -> Subject<'a> {
        Subject { conditions: &self.conditions, ..whole }
    }

    fn said(&self, whole: Subject) -> Finding {
        let name =
            if self.section.is_empty() { self.name } else { &format!("{}/{}", self.name, self.section) };
        said(self.subject(whole)).prefixed(name)
    }

    fn stale(&self, whole: Subject) -> bool {
        seen(self.subject(whole)).is_some_and(|seen| whole.lag_behind(seen).is_some())
    }
}

fn parts<'a>(subject: Subject<'a>, field: &str) -> Vec<Part<'a>> {
    let part = |item: &'a Value| {
        let reference = item.get("parentRef").or_else(|| item.get("ancestorRef"));
        Part {
            name: text(reference.unwrap_or(item), "name").unwrap_or_default(),
            section: reference.and_then(|reference| text(reference, "sectionName")).unwrap_or_default(),
            controller: text(item, "controllerName").unwrap_or_default(),
            conditions: conditions::read(item.get("conditions")),
        }
    };
    items(subject, field).iter().map(part).collect()
}

/// The parts without those that are left over from an older generation: a controller that saw the
/// newest one in another part has no more to say in these.
fn fresh<'a, 'b>(subject: Subject, parts: &'b [Part<'a>]) -> Vec<&'b Part<'a>> {
    let current: Vec<&str> =
        parts.iter().filter(|part| !part.stale(subject)).map(|part| part.controller).collect();
    parts.iter().filter(|part| !part.stale(subject) || !current.contains(&part.controller)).collect()
}

/// What the conditions of `part` say together.
fn said(part: Subject) -> Finding {
    let finding = by_conditions(part);
    match seen(part).and_then(|seen| part.lag_behind(seen)) {
        // What failed at an older generation is still worth reading.
        Some(lag) if finding.health == Health::Degraded => {
            let message = joined(&lag.message, &finding.message).into_owned();
            lag.message(message)
        }
        Some(lag) => lag,
        None => finding,
    }
}

fn seen(part: Subject) -> Option<i64> {
    part.conditions.iter().filter_map(|reading| reading.condition.observed_generation).max()
}

fn by_conditions(part: Subject) -> Finding {
    let bad = EXPECTED.into_iter().filter_map(|kind| part.denies(kind)).find(|denied| fails(denied));
    if let Some(bad) = bad.or_else(|| part.holds(DETACHED)).or_else(|| failing(part)) {
        return Finding::of(Health::Degraded, bad).since(since(part, bad));
    }
    let unmet = |condition: &&Condition| condition.status != ConditionStatus::True;
    if let Some(unmet) = EXPECTED.into_iter().filter_map(|kind| part.condition(kind)).find(unmet) {
        let since = since(part, unmet);
        let finding = Finding::of(Health::Progressing, unmet).since(since);
        return match unmet.status {
            ConditionStatus::False => finding.overdue(),
            _ => finding.then_unknown(since),
        };
    }
    let good = ["Accepted", "Programmed", "Ready"].into_iter().find_map(|kind| part.holds(kind));
    match good {
        Some(good) => Finding::healthy(&good.kind).since(since(part, good)),
        None => unseen(part),
    }
}

/// Whether a condition that should hold fails, and doesn't only wait. Programming a data plane takes
/// its time; the two others are answered at once.
fn fails(denied: &Condition) -> bool {
    match tone(&denied.reason) {
        Tone::Failing => true,
        Tone::Moving => false,
        _ => denied.kind != "Programmed",
    }
}

/// Since when the condition is as it is. The conditions that an object is created with are of 1970.
fn since(part: Subject, condition: &Condition) -> Option<Timestamp> {
    condition.last_transition.max(part.object.created)
}

fn unseen(part: Subject) -> Finding {
    let created = part.object.created;
    Finding::progressing("NotYetObserved")
        .message("no controller has answered yet")
        .since(created)
        .then_unknown(created)
}

/// The worst, whatever the order; where all are well, with `message`.
fn worst(findings: impl Iterator<Item = Finding>, message: &str) -> Finding {
    let order = |a: &Finding, b: &Finding| {
        a.health.rank().cmp(&b.health.rank()).then_with(|| a.message.cmp(&b.message))
    };
    match findings.min_by(order) {
        Some(finding) if finding.health == Health::Healthy => finding.message(message),
        Some(finding) => finding,
        None => Finding::healthy("Exists"),
    }
}

/// `eg, other and 2 more`
fn names(parts: &[&Part]) -> String {
    let mut names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    names.sort_unstable();
    names.dedup();
    match names.len() {
        0..=3 => names.join(", "),
        all => format!("{} and {} more", names[..2].join(", "), all - 2),
    }
}

fn attached(listener: &Value) -> Option<u64> {
    listener.get("attachedRoutes")?.as_u64().map(|routes| routes.min(u64::from(u32::MAX)))
}

fn items<'a>(subject: Subject<'a>, field: &str) -> &'a [Value] {
    subject.status(field).as_array().map(Vec::as_slice).unwrap_or_default()
}

fn items_of(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}
