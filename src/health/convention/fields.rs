//! Words of state, plain yes or no, recorded failures and counters: what statuses without
//! conditions say.

use serde_json::Value;

use super::{Evidence, words};
use crate::{
    health::{Finding, Subject, subject::int},
    model::Health,
};

/// Fields of a status that hold a word of state.
const STATES: [&str; 11] = [
    "phase",
    "updateStatus",
    "state",
    "currentState",
    "currentPhase",
    "health",
    "healthStatus",
    "status",
    "result",
    "compliant",
    "printableStatus",
];

/// Fields that are true where the object does its job.
const ANSWERS: [&str; 7] = ["ready", "readyToUse", "healthy", "available", "succeeded", "success", "valid"];

/// Pairs of a reason and a message that stand there only where something failed for good.
const FAILURES: [(&str, &str); 3] =
    [("failureReason", "failureMessage"), ("errorReason", "errorMessage"), ("errorCode", "errorMessage")];

/// Texts that are empty where nothing failed.
const ERRORS: [&str; 3] = ["error", "errorMessage", "validationError"];

/// Counters of parts that are ready, and the fields of a spec that ask for so many.
const COUNTERS: [&str; 4] = ["readyReplicas", "availableReplicas", "readyInstances", "readyNodes"];
const ASKED: [&str; 4] = ["replicas", "instances", "size", "nodes"];

pub(super) fn judge(subject: Subject) -> Option<Evidence> {
    let (finding, rule) = failure(subject)
        .map(|finding| (finding, "convention/failure"))
        .or_else(|| Some((answer(subject)?, "convention/answer")))
        .or_else(|| Some((state(subject)?, "convention/phase")))
        // A good word doesn't hide that parts are missing.
        .filter(|(finding, _)| finding.health != Health::Healthy || !lacks_parts(subject))
        .or_else(|| Some((counters(subject)?, "convention/counters")))?;
    Some(Evidence { finding, rule: rule.into(), generation: None })
}

fn failure(subject: Subject) -> Option<Finding> {
    let recorded = FAILURES.iter().find_map(|(reason, message)| {
        let (reason, message) = (subject.word(reason), subject.word(message));
        let empty = reason.is_empty() && message.is_empty();
        (!empty).then(|| Finding::told(Health::Degraded, or(reason, "Failed")).message(message))
    });
    recorded.or_else(|| {
        let first = subject.status("errors").as_array()?.first()?;
        let said = first.as_str().or_else(|| first.get("message").and_then(Value::as_str));
        Some(Finding::degraded("Failed").message(said.unwrap_or_default()))
    })
}

/// A recorded error where nothing else tells anything. Many statuses keep the last one beside what is
/// well again.
pub(super) fn error(subject: Subject) -> Option<Finding> {
    let said = ERRORS.iter().find_map(|field| text(subject.status(field)))?;
    Some(Finding::degraded("Failed").message(said))
}

fn text(error: &Value) -> Option<&str> {
    let text = error.as_str().or_else(|| error.get("message").and_then(Value::as_str));
    text.filter(|text| !text.is_empty())
}

fn answer(subject: Subject) -> Option<Finding> {
    let mut unmet = None;
    let mut met = None;
    for field in ANSWERS {
        match subject.status(field) {
            Value::Bool(true) => met = met.or(Some(field)),
            Value::Bool(false) => unmet = unmet.or(Some(field)),
            _ => {}
        }
    }
    // A recorded error is the last one, not the present one: it counts only while the answer is no.
    match (unmet, text(subject.status("error")), met) {
        (Some(_), Some(error), _) => Some(Finding::degraded("Failed").message(error)),
        (Some(field), ..) => Some(
            Finding::progressing("NotReady")
                .message(format!("status.{field} is false"))
                .then_degraded(subject.object.created),
        ),
        // Many controllers keep `ready` beside a word of state that tells more.
        (None, _, Some(_)) => state(subject)
            .filter(|state| state.health != Health::Healthy)
            .or_else(|| Some(Finding::healthy("Ready"))),
        (None, _, None) => None,
    }
}

/// The worst of the words that are known.
fn state(subject: Subject) -> Option<Finding> {
    let (health, word) = STATES
        .iter()
        .filter_map(|field| {
            let word = subject.word(field);
            Some((words::state(word)?, word))
        })
        .min_by_key(|(health, _)| health.rank())?;
    let reason = subject.word("reason");
    let finding = Finding::told(health, if health == Health::Healthy { word } else { or(reason, word) })
        .message(subject.said());
    Some(if health == Health::Progressing { finding.ages() } else { finding })
}

/// How many parts are ready, and how many are asked for. The API leaves zeros out, and a spec that
/// doesn't say what the status counts takes what it gets.
fn counted(subject: Subject) -> Option<(i64, i64)> {
    let counted = int(subject.status("replicas"));
    let asked = ASKED.iter().find_map(|field| int(subject.spec(field))).or(counted)?;
    let ready = COUNTERS.iter().find_map(|field| int(subject.status(field))).or(counted.map(|_| 0))?;
    Some((ready, asked))
}

fn lacks_parts(subject: Subject) -> bool {
    // `replicas` alone may be all that a status counts.
    let counts = COUNTERS.iter().any(|field| int(subject.status(field)).is_some());
    counts && counted(subject).is_some_and(|(ready, asked)| ready < asked)
}

fn counters(subject: Subject) -> Option<Finding> {
    let (ready, asked) = counted(subject)?;
    let message = format!("{ready} of {asked} ready");
    Some(if ready >= asked {
        Finding::healthy("ReplicasReady").message(message)
    } else {
        let finding = Finding::progressing("ReplicasUnavailable").message(message);
        // Where some are there, it may be that one restarts just now.
        if ready == 0 { finding.then_degraded(subject.object.created) } else { finding.ages() }
    })
}

fn or<'a>(word: &'a str, other: &'a str) -> &'a str {
    if word.is_empty() { other } else { word }
}
