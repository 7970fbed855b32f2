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
    match summary(conditions, dialect) {
        Some((rank, summary)) => {
            // `Deployed` and the like say that a step was made; a part may still not work.
            let unmet = all_good(conditions, dialect).filter(|(_, good)| good.health != Health::Healthy);
            if rank > *VETOES.end() && unmet.is_some() {
                unmet
            } else {
                Some(by_summary(summary, active, dialect))
            }
        }
        None => active.map(|active| (active, moving(active))).or_else(|| all_good(conditions, dialect)),
    }
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
        ConditionStatus::False if summary.mild => Finding::of(Health::Progressing, condition),
        ConditionStatus::False => match active {
            Some(active) => return (active, moving(active)),
            None => moving(condition),
        },
        ConditionStatus::Unknown => {
            let finding = Finding::of(Health::Progressing, condition);
            // What runs to an end may take its time.
            let runs = condition.kind == "Succeeded" && dialect.tone(&condition.reason) == Tone::Moving;
            if runs { finding } else { finding.then_unknown(condition.last_transition()) }
        }
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
