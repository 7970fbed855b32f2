//! From one object to its verdict.
//!
//! The first stage that has an answer decides:
//!
//! 1. deletion: whatever goes is Terminating,
//! 2. `kinds`: what is known of built-in kinds and our own,
//! 3. `convention`: what any other kind says in the ways that many controllers share: pause flags,
//!    generations, conditions by role, nested holders of conditions, words of state, counters.
//!
//! No clock is read: what time will change is written down in [`Timeline`].

mod conditions;
mod convention;
mod deletion;
mod finding;
mod kinds;
mod rules;
mod subject;
#[cfg(test)]
mod testing;

use std::borrow::Cow;

use finding::Finding;
use subject::Subject;

use crate::model::{Condition, Object, Timeline};

/// What judging an object gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How the object is, and what becomes of that when time passes.
    pub timeline: Timeline,
    /// Its own conditions, normalised, in order of type.
    pub conditions: Vec<Condition>,
    /// It ended or was replaced, and says nothing any more about the owner that made it: a Pod that
    /// ran to its end, a ReplicaSet scaled to zero.
    pub superseded: bool,
}

/// Judges an object. Total: any object gets an answer, whatever its status looks like.
pub fn judge(object: &Object) -> Judgement {
    let readings = conditions::read(object.status.get("conditions"));
    let (finding, rule) = decide(Subject { object, conditions: &readings });
    let superseded = finding.superseded;
    Judgement {
        timeline: finding.into_timeline(rule),
        conditions: readings.into_iter().map(|reading| reading.condition).collect(),
        superseded,
    }
}

fn decide(subject: Subject) -> (Finding, Cow<'static, str>) {
    if let Some(finding) = deletion::judge(subject) {
        return (finding, deletion::RULE.into());
    }
    let kind = &subject.object.reference.kind;
    match kinds::rule(&kind.group, &kind.kind) {
        Some(rule) => ((rule.judge)(subject), rule.name.into()),
        None => convention::judge(subject),
    }
}
