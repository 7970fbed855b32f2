//! The Gateway API: classes and gateways, and the routes and policies that hang on them. Each says
//! how it is to several others in conditions of their own; all of them count.

use std::{collections::HashSet, fmt::Write};

use serde_json::Value;
use smallvec::SmallVec;

use super::failing;
use crate::{
    health::{
        Finding, Subject,
        conditions::{self, Reading, Readings},
        convention::{Tone, tone},
        finding::joined,
    },
    model::{ConditionStatus, Health, Timestamp},
};

#[cfg(test)]
mod tests;

/// The conditions that each holder has; False is bad for all of them.
const EXPECTED: [&str; 3] = ["Accepted", "ResolvedRefs", "Programmed"];

/// How many parents of a route are looked for; the API takes half as many.
const MOST_PARENTS: usize = 64;

/// Conditions that are bad where they are True, beside those whose type tells so.
const DETACHED: &str = "Detached";

/// A class, or anything else that has conditions of its own only.
pub(super) fn class(subject: Subject) -> Finding {
    said(subject)
}

/// A Gateway or a ListenerSet: its own conditions, and those of each listener.
pub(super) fn gateway(subject: Subject) -> Finding {
    let listeners = parts(subject, "listeners");
    let findings = listeners.iter().map(|listener| listener.said(subject));
    let routes: u64 = items(subject.status("listeners")).iter().filter_map(attached).sum();
    worst(std::iter::once(said(subject)).chain(findings), || {
        format!("{} listeners, {routes} routes attached", listeners.len())
    })
}

/// A route: what each of the parents that it names says of it.
pub(super) fn route(subject: Subject) -> Finding {
    let parents = parts(subject, "parents");
    if parents.is_empty() {
        return unseen(subject);
    }
    let counted = fresh(subject, &parents);
    let findings = counted.iter().map(|part| part.said(subject));
    let unanswered = items(subject.spec("parentRefs"))
        .iter()
        .take(MOST_PARENTS)
        .filter_map(|parent| text(parent, "name"))
        .find(|name| !parents.iter().any(|part| part.name == *name))
        .map(|name| unseen(subject).prefixed(name));
    worst(findings.chain(unanswered), || accepted_by(&counted))
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
    let mut counted = fresh(subject, &ancestors);
    counted.retain(|part| !stranger(part));
    if counted.is_empty() {
        return unseen(subject);
    }
    worst(counted.iter().map(|part| part.said(subject)), || accepted_by(&counted))
}

/// A part of an object that has conditions of its own.
struct Part<'a> {
    name: &'a str,
    section: &'a str,
    controller: &'a str,
    conditions: Readings<'a>,
}

/// Most objects have few parts.
type Parts<'a> = SmallVec<[Part<'a>; 2]>;
type PartRefs<'b, 'a> = SmallVec<[&'b Part<'a>; 8]>;

impl<'a> Part<'a> {
    fn of(item: &'a Value) -> Self {
        let reference = item.get("parentRef").or_else(|| item.get("ancestorRef"));
        Self {
            name: text(reference.unwrap_or(item), "name").unwrap_or_default(),
            section: reference.and_then(|reference| text(reference, "sectionName")).unwrap_or_default(),
            controller: text(item, "controllerName").unwrap_or_default(),
            conditions: conditions::read(item.get("conditions")),
        }
    }

    fn subject<'b>(&'b self, whole: Subject<'b>) -> Subject<'b> {
        Subject { conditions: &self.conditions, ..whole }
    }

    fn said(&self, whole: Subject) -> Finding {
        let finding = said(self.subject(whole));
        match (finding.health, self.section) {
            (Health::Healthy, _) => finding,
            (_, "") => finding.prefixed(self.name),
            (_, section) => finding.prefixed(format!("{}/{section}", self.name)),
        }
    }

    fn stale(&self, whole: Subject) -> bool {
        seen(self.subject(whole)).is_some_and(|seen| whole.object.generation.is_some_and(|now| seen < now))
    }
}

fn parts<'a>(subject: Subject<'a>, field: &str) -> Parts<'a> {
    items(subject.status(field)).iter().map(Part::of).collect()
}

/// The parts without those that are left over from an older generation: a controller that saw the
/// newest one in another part has no more to say in these.
fn fresh<'b, 'a>(subject: Subject, parts: &'b [Part<'a>]) -> PartRefs<'b, 'a> {
    let stale = |part: &Part| part.stale(subject);
    if !parts.iter().any(stale) {
        return parts.iter().collect();
    }
    let current: HashSet<&str> =
        parts.iter().filter(|part| !stale(part)).map(|part| part.controller).collect();
    parts.iter().filter(|part| !stale(part) || !current.contains(&part.controller)).collect()
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
    part.conditions.iter().filter_map(|reading| reading.observed_generation).max()
}

fn by_conditions(part: Subject) -> Finding {
    let bad = EXPECTED.into_iter().filter_map(|kind| part.denies(kind)).find(|denied| fails(denied));
    if let Some(bad) = bad.or_else(|| part.holds(DETACHED)).or_else(|| failing(part)) {
        return Finding::of(Health::Degraded, bad).since(since(part, bad));
    }
    let unmet = |condition: &&Reading| condition.status != ConditionStatus::True;
    if let Some(unmet) = EXPECTED.into_iter().filter_map(|kind| part.condition(kind)).find(unmet) {
        let since = since(part, unmet);
        let finding = Finding::of(Health::Progressing, unmet).since(since);
        return match unmet.status {
            ConditionStatus::False => finding.overdue(),
            _ => finding.then_unknown(since),
        };
    }
    let mut good =
        ["Accepted", "Programmed", "Ready"].into_iter().filter_map(|kind| Some((kind, part.holds(kind)?)));
    match good.next() {
        Some((kind, good)) => Finding::healthy(kind).since(since(part, good)),
        None => unseen(part),
    }
}

/// Whether a condition that should hold fails, and doesn't only wait. Programming a data plane takes
/// its time; the two others are answered at once.
fn fails(denied: &Reading) -> bool {
    match tone(&denied.reason) {
        Tone::Failing => true,
        Tone::Moving => false,
        _ => denied.kind != "Programmed",
    }
}

/// Since when the condition is as it is. Those that an object is created with have no time.
fn since(part: Subject, condition: &Reading) -> Option<Timestamp> {
    condition.last_transition().max(part.object.created)
}

fn unseen(part: Subject) -> Finding {
    let created = part.object.created;
    Finding::progressing("NotYetObserved")
        .message("no controller has answered yet")
        .since(created)
        .then_unknown(created)
}

/// The worst, whatever the order; where all are well, with `message`.
fn worst(findings: impl Iterator<Item = Finding>, message: impl FnOnce() -> String) -> Finding {
    let order = |a: &Finding, b: &Finding| {
        a.health.rank().cmp(&b.health.rank()).then_with(|| a.message.cmp(&b.message))
    };
    match findings.min_by(order) {
        Some(finding) if finding.health == Health::Healthy => finding.message(message()),
        Some(finding) => finding,
        None => Finding::healthy("Exists"),
    }
}

/// `accepted by eg, other and 2 more`
fn accepted_by(parts: &[&Part]) -> String {
    let mut names: SmallVec<[&str; 8]> = parts.iter().map(|part| part.name).collect();
    names.sort_unstable();
    names.dedup();
    let (shown, more) = if names.len() > 3 { names.split_at(2) } else { names.split_at(names.len()) };
    let length = shown.iter().map(|name| name.len() + 2).sum::<usize>();
    let mut text = String::with_capacity("accepted by  and 99999 more".len().saturating_add(length));
    text.push_str("accepted by ");
    for (place, name) in shown.iter().enumerate() {
        text.push_str(if place == 0 { "" } else { ", " });
        text.push_str(name);
    }
    // Writing to a String can't fail.
    if !more.is_empty() {
        let _ = write!(text, " and {} more", more.len());
    }
    text
}

fn attached(listener: &Value) -> Option<u64> {
    listener.get("attachedRoutes")?.as_u64().map(|routes| routes.min(u64::from(u32::MAX)))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}
