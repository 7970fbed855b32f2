//! Conditions by role. The order in which they stand never matters.

use std::borrow::Cow;

use super::{
    Evidence,
    roles::{Role, VETOES},
    words::{self, Tone, tone_of},
};
use crate::{
    health::{Finding, conditions::Reading, dialect::Dialect},
    model::{ConditionStatus, Health},
};

/// What `conditions` (in order of type, each once) say together. `None` where none of them tells
/// anything about health.
pub(super) fn judge(conditions: &[Reading], dialect: &Dialect) -> Option<Evidence> {
    let (condition, finding) = decide(conditions, dialect)?;
    Some(Evidence { finding, rule: rule(&condition.kind), generation: condition.observed_generation })
}

/// The name of the rule; most objects speak by one of a few types.
fn rule(kind: &str) -> Cow<'static, str> {
    match kind {
        "Ready" => "convention/condition-Ready".into(),
        "Available" => "convention/condition-Available".into(),
        "Accepted" => "convention/condition-Accepted".into(),
        "Synced" => "convention/condition-Synced".into(),
        other => format!("convention/condition-{other}").into(),
    }
}

/// The first condition that reports a failure by itself: a negative one that is True.
pub(in crate::health) fn failing<'a>(
    conditions: &'a [Reading<'a>],
    dialect: &Dialect,
) -> Option<&'a Reading<'a>> {
    let fails = |reading: &&Reading| {
        !reading.mild
            && reading.status == ConditionStatus::True
            && dialect.role(&reading.kind) == Role::Negative
            && dialect.tone(&reading.reason) != Tone::Moving
    };
    conditions.iter().find(fails)
}

fn decide<'a>(conditions: &'a [Reading<'a>], dialect: &Dialect) -> Option<(&'a Reading<'a>, Finding)> {
    if let Some(condition) = failing(conditions, dialect) {
        return Some((condition, Finding::of(Health::Degraded, condition)));
    }
    if let Some(condition) = failing_witness(conditions, dialect) {
        return Some((condition, Finding::of(Health::Degraded, condition)));
    }
    let active = active(conditions, dialect);
    let spoken = summary(conditions, dialect);
    if let Some(down) = spoken.and_then(|(_, step)| down(conditions, step)) {
        return Some((down, moving(down)));
    }
    match spoken {
        Some((rank, summary)) => {
            // `Deployed` and the like say that a step was made; a part may still not work.
            let unmet = all_good(conditions, dialect).filter(|(_, good)| good.health != Health::Healthy);
            if rank > *VETOES.end() && unmet.is_some() {
                unmet
            } else {
                Some(by_summary(conditions, summary, active, dialect))
            }
        }
        None => active
            .map(|active| (active, moving(active)))
            .or_else(|| all_good(conditions, dialect))
            .or_else(|| last_resort(conditions)),
    }
}

/// Types that say that a step was made once, of an object that goes on from there;
const STEPS: [&str; 7] =
    ["Applied", "Configured", "Deployed", "Initialized", "Installed", "Provisioned", "Registered"];

/// and those that say whether it works now.
const WORKS: [&str; 4] = ["Running", "Online", "Joined", "Connected"];

/// What doesn't work of an object of which nothing says more than that a step was made.
fn down<'a>(conditions: &'a [Reading<'a>], step: &Reading) -> Option<&'a Reading<'a>> {
    let is_down =
        |reading: &&Reading| reading.status == ConditionStatus::False && WORKS.contains(&&*reading.kind);
    let is_step = step.status == ConditionStatus::True && STEPS.contains(&&*step.kind);
    conditions.iter().find(is_down).filter(|_| is_step)
}

/// Types that mean something else for some kinds, and are the only ones that tell anything of others.
const LAST: [&str; 5] = ["Active", "Operational", "Serving", "ReadyToUse", "Connected"];

fn last_resort<'a>(conditions: &'a [Reading<'a>]) -> Option<(&'a Reading<'a>, Finding)> {
    let found = LAST.iter().find_map(|kind| conditions.iter().find(|reading| reading.kind == *kind))?;
    match found.status {
        ConditionStatus::True => Some((found, Finding::of(Health::Healthy, found))),
        ConditionStatus::False => Some((found, moving(found))),
        _ => None,
    }
}

/// Types that say that something came to its end.
const ENDS: [&str; 5] = ["Succeeded", "Complete", "Completed", "Success", "Successful"];

/// Whether it runs on towards an end that it hasn't reached, for as long as that takes.
fn runs_on(conditions: &[Reading], end: &Reading, dialect: &Dialect) -> bool {
    let runs = |reading: &Reading| {
        reading.status == ConditionStatus::True && matches!(&*reading.kind, "Running" | "Active" | "Started")
    };
    let moves = end.status == ConditionStatus::Unknown && dialect.tone(&end.reason) == Tone::Moving;
    ENDS.contains(&&*end.kind) && (moves || conditions.iter().any(runs))
}

/// The condition that speaks for the whole, with its rank: the first, or the first that denies it.
fn summary<'a>(conditions: &'a [Reading<'a>], dialect: &Dialect) -> Option<(usize, &'a Reading<'a>)> {
    let ranked = |reading: &'_ Reading| match dialect.role(&reading.kind) {
        Role::Summary(rank) => Some(rank),
        _ => None,
    };
    let all = conditions.iter().filter_map(|reading| Some((ranked(reading)?, reading)));
    let (rank, first) = all.clone().min_by_key(|(rank, _)| *rank)?;
    if !VETOES.contains(&rank) {
        return Some((rank, first));
    }
    let veto = all
        .filter(|(rank, reading)| VETOES.contains(rank) && reading.status == ConditionStatus::False)
        .min_by_key(|(rank, _)| *rank);
    Some(veto.unwrap_or((rank, first)))
}

/// A condition that should hold and doesn't, for a reason that tells of a failure: the other half
/// of pairs such as Ready and Synced.
fn failing_witness<'a>(conditions: &'a [Reading<'a>], dialect: &Dialect) -> Option<&'a Reading<'a>> {
    let fails = |reading: &&Reading| {
        !reading.mild
            && reading.status == ConditionStatus::False
            && matches!(dialect.role(&reading.kind), Role::Summary(_) | Role::Positive)
            && (reading.severe || tone_of(reading, dialect) == Tone::Failing)
    };
    // What speaks for the whole says it best.
    summary(conditions, dialect)
        .map(|(_, summary)| summary)
        .filter(fails)
        .or_else(|| conditions.iter().find(fails))
}

/// A condition that tells of something under way.
fn active<'a>(conditions: &'a [Reading<'a>], dialect: &Dialect) -> Option<&'a Reading<'a>> {
    let moves = |condition: &&Reading| {
        condition.status == ConditionStatus::True
            && match dialect.role(&condition.kind) {
                Role::Activity => dialect.tone(&condition.reason) != Tone::Done,
                Role::Renewal => true,
                Role::Negative => dialect.tone(&condition.reason) == Tone::Moving,
                _ => false,
            }
    };
    conditions.iter().find(moves)
}

fn by_summary<'a>(
    conditions: &[Reading],
    summary: &'a Reading<'a>,
    active: Option<&'a Reading<'a>>,
    dialect: &Dialect,
) -> (&'a Reading<'a>, Finding) {
    let condition = summary;
    let finding = match &condition.status {
        ConditionStatus::True => match active {
            Some(active) if dialect.role(&active.kind) != Role::Renewal => return (active, moving(active)),
            // Operators made with Ansible: Running is the loop, not the object.
            _ if condition.kind == "Running" && dialect.tone(&condition.reason) == Tone::Moving => {
                moving(condition)
            }
            _ => Finding::of(Health::Healthy, condition),
        },
        ConditionStatus::False | ConditionStatus::Unknown if runs_on(conditions, condition, dialect) => {
            Finding::of(Health::Progressing, condition)
        }
        ConditionStatus::False if summary.mild => moving(condition),
        ConditionStatus::False => match active {
            Some(active) => return (active, moving(active)),
            None => moving(condition),
        },
        ConditionStatus::Unknown => match active {
            Some(active) => return (active, moving(active)),
            None => Finding::of(Health::Progressing, condition).then_unknown(condition.last_transition()),
        },
        ConditionStatus::Other(word) => Finding::of(words::state(word).unwrap_or(Health::Unknown), condition),
    };
    (condition, finding)
}

fn moving(condition: &Reading) -> Finding {
    Finding::of(Health::Progressing, condition).overdue()
}

/// No condition speaks for the whole, but those that speak for parts do.
fn all_good<'a>(conditions: &'a [Reading<'a>], dialect: &Dialect) -> Option<(&'a Reading<'a>, Finding)> {
    let mut positive = conditions
        .iter()
        .filter(|condition| dialect.role(&condition.kind) == Role::Positive && speaks(&condition.kind))
        .peekable();
    let first = *positive.peek()?;
    match positive.find(|condition| condition.status != ConditionStatus::True) {
        Some(unmet) => Some((unmet, moving(unmet))),
        None => Some((first, Finding::of(Health::Healthy, first))),
    }
}

/// Whether a condition of this type tells that something works, and not only that a step was made.
fn speaks(kind: &str) -> bool {
    ["Ready", "Available", "Healthy", "Succeeded"].iter().any(|end| kind.ends_with(end))
}
