//! What any kind says in the ways that many controllers share.

mod by_condition;
mod fields;
mod nested;
pub(super) mod roles;
mod suspension;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use roles::Role;
use serde_json::Value;

use super::{Finding, Subject, conditions::Reading, finding::joined, subject::generation};
use crate::model::{ConditionStatus, Health, StatusReporting};

pub(super) use by_condition::failing as failing_condition;
pub(super) use words::{Tone, tone};

/// A finding, the rule that made it, and the generation that it is of where its source says so.
struct Evidence {
    finding: Finding,
    rule: Cow<'static, str>,
    generation: Option<i64>,
}

/// Judges an object of a kind of which nothing else is known.
pub(super) fn judge(subject: Subject) -> (Finding, Cow<'static, str>) {
    if let Some(suspended) = suspension::judge(subject) {
        return (suspended, "convention/suspended".into());
    }
    if subject.unreported() {
        return match subject.object.reference.kind.status {
            StatusReporting::Yes => (subject.not_yet_observed(), "convention/status".into()),
            StatusReporting::No | StatusReporting::Unsaid => {
                (Finding::healthy("Exists"), "convention/exists".into())
            }
        };
    }
    match evidence(subject) {
        Some(Evidence { finding, rule, generation }) => match lag(subject, generation) {
            // What is known of an older generation is void; what failed then is still worth reading.
            Some(lag) if finding.health == Health::Degraded => {
                let message = joined(&lag.message, &finding.message).into_owned();
                (lag.message(message), "convention/generation".into())
            }
            Some(lag) => (lag, "convention/generation".into()),
            None => (finding, rule),
        },
        None => left_over(subject),
    }
}

/// The best evidence there is: failures anywhere first, then conditions, then words and counters.
fn evidence(subject: Subject) -> Option<Evidence> {
    let own = by_condition::judge(subject.conditions);
    let conditions = [own, nested::judge(subject)]
        .into_iter()
        .flatten()
        .reduce(|a, b| if b.finding.health.rank() < a.finding.health.rank() { b } else { a });
    let said = fields::judge(subject);
    match (conditions, said) {
        (Some(conditions), Some(said)) => {
            let failing = |evidence: &Evidence| evidence.finding.health == Health::Degraded;
            Some(if failing(&said) && !failing(&conditions) { said } else { conditions })
        }
        (conditions, said) => conditions.or(said),
    }
}

/// The verdict where the evidence is older than the object. The evidence's own generation outranks
/// the one of the whole status, which some controllers leave at -1 for ever.
fn lag(subject: Subject, own: Option<i64>) -> Option<Finding> {
    subject.lag_behind(own.or_else(|| generation(subject.status("observedGeneration")))?)
}

fn left_over(subject: Subject) -> (Finding, Cow<'static, str>) {
    if let Some(lag) = subject.lag() {
        return (lag, "convention/generation".into());
    }
    if seen_and_quiet(subject) {
        let finding = Finding::healthy("Observed").message("its controller saw it and reports nothing wrong");
        return (finding, "convention/generation".into());
    }
    let finding = Finding::new(Health::Unknown, "NoSignal")
        .message("its status says nothing that is known to tell health");
    (finding, "convention/status".into())
}

/// Whether the status tells that its generation was seen, and nothing besides that nobody knows.
fn seen_and_quiet(subject: Subject) -> bool {
    let told = |(field, _): (&String, &Value)| !matches!(field.as_str(), "observedGeneration" | "conditions");
    let idle = |reading: &Reading| {
        matches!(roles::role(&reading.condition.kind), Role::Activity)
            && reading.condition.status == ConditionStatus::False
    };
    generation(subject.status("observedGeneration")).is_some()
        && !subject.object.status.as_object().is_some_and(|status| status.iter().any(told))
        && (subject.conditions.is_empty() || subject.conditions.iter().any(idle))
}
