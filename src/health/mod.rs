//! From one object to its verdict.
//!
//! The first stage that has an answer decides:
//!
//! 1. deletion: whatever goes is Terminating,
//! 2. the rules of users,
//! 3. `kinds`: what is known of built-in kinds and our own,
//! 4. the built-in rules for the kinds of other projects, which are data,
//! 5. `convention`: what any other kind says in the ways that many controllers share: pause flags,
//!    generations, conditions by role, nested holders of conditions, words of state, counters.
//!
//! No clock is read: what time will change is written down in [`Timeline`].

mod conditions;
mod convention;
mod deletion;
mod dialect;
mod finding;
mod kinds;
mod rules;
mod subject;
#[cfg(test)]
mod testing;

use arc_swap::ArcSwap;
use std::{borrow::Cow, sync::Arc};

use finding::Finding;
use subject::Subject;

pub use rules::{
    Acceptance, Case, Cases, CauseLead, Clash, Decided, Failure, FileError, KindRules, Register, Registered,
    Rule, RuleError, Rules, Taken, Written, builtin_cases, builtin_files, cases_name, read_case_text,
    read_cases, read_file, read_text, rule_files, stray_cases,
};

use crate::model::{Condition, Fact, Object, Timeline};

/// Rules that are exchanged while objects are judged.
pub type SharedRules = Arc<ArcSwap<Rules>>;

/// What judging an object gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How the object is, and what becomes of that when time passes.
    pub timeline: Timeline,
    /// Its own conditions, normalised, in order of type.
    pub conditions: Vec<Condition>,
    /// What rules extracted from it, each name once.
    pub facts: Vec<Fact>,
    /// It ended or was replaced, and says nothing any more about the owner that made it: a Pod that
    /// ran to its end, a ReplicaSet scaled to zero.
    pub superseded: bool,
}

/// Judges an object by `rules`. Total: any object gets an answer, whatever its status looks like.
pub fn judge(object: &Object, rules: &Rules) -> Judgement {
    let kind = &object.reference.kind;
    judge_by(object, &rules.of_kind(&kind.group, &kind.kind))
}

/// The same with the rules of the object's kind, for those who judge many of one kind.
pub fn judge_by(object: &Object, rules: &KindRules) -> Judgement {
    let readings = conditions::read(object.status.get("conditions"));
    let subject = Subject { object, conditions: &readings, dialect: rules.dialect() };
    let (finding, rule) = decide(subject, rules);
    let superseded = finding.superseded;
    let facts = rules.facts(subject);
    Judgement {
        timeline: finding.into_timeline(rule),
        conditions: readings.into_iter().map(Condition::from).collect(),
        facts,
        superseded,
    }
}

/// Only how the object is: [`judge_by`] without copies of its conditions and without facts.
pub fn verdict_by(object: &Object, rules: &KindRules) -> Timeline {
    let readings = conditions::read(object.status.get("conditions"));
    let (finding, rule) = decide(Subject { object, conditions: &readings, dialect: rules.dialect() }, rules);
    finding.into_timeline(rule)
}

/// What the stages say. A certificate is well until it ends, whatever its controller wrote last: that it
/// isn't renewed may mean that there is no controller any more.
fn decide(subject: Subject, rules: &KindRules) -> (Finding, Cow<'static, str>) {
    let (finding, rule) = rules.decide(subject);
    (finding.until(subject.time("notAfter")), rule)
}
