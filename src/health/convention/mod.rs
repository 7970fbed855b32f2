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

use serde_json::Value;

use super::{
    Finding, Subject, conditions::Reading, dialect::ObservedGeneration, finding::joined, subject::generation,
};
use crate::model::{ConditionStatus, Health, StatusReporting};

pub(super) use by_condition::failing as failing_condition;
pub(super) use roles::{Role, role};
pub(super) use words::{Tone, normal, state, tone};

/// A finding, the rule that made it, and the generation that it is of where its source says so.
struct Evidence {
    finding: Finding,
    rule: Cow<'static, str>,
    generation: Option<i64>,
}

/// The verdict on what was stopped on purpose.
pub(super) fn suspended(subject: Subject) -> Option<(Finding, Cow<'static, str>)> {
    suspension::judge(subject).map(|suspended| (suspended, "convention/suspended".into()))
}

/// The verdict where a condition of the object, or of a part of it, reports a failure.
pub(super) fn failing(subject: Subject) -> Option<(Finding, Cow<'static, str>)> {
    let failing = by_conditions(subject).filter(|evidence| evidence.finding.health == Health::Degraded)?;
    let Evidence { finding, rule, generation } = failing;
    Some(fresh(subject, finding, generation, || rule))
}

/// Judges an object that wasn't stopped, of a kind of which nothing else is known.
pub(super) fn judge(subject: Subject) -> (Finding, Cow<'static, str>) {
    if subject.unreported() {
        // A status that is there and empty says that the kind has one.
        let reports = match subject.object.reference.kind.status {
            StatusReporting::Yes => true,
            StatusReporting::Unsaid => subject.object.status.is_object(),
            StatusReporting::No => false,
        };
        return if reports {
            (subject.not_yet_observed(), "convention/status".into())
        } else {
            (Finding::healthy("Exists"), "convention/exists".into())
        };
    }
    signal(subject).unwrap_or_else(|| {
        let finding = Finding::new(Health::Unknown, "NoSignal")
            .message("its status says nothing that is known to tell health");
        (finding, "convention/status".into())
    })
}

/// The verdict on an object whose status says anything that tells health.
pub(super) fn signal(subject: Subject) -> Option<(Finding, Cow<'static, str>)> {
    match evidence(subject) {
        Some(Evidence { finding, rule, generation }) => Some(fresh(subject, finding, generation, || rule)),
        None => fields::error(subject)
            .map(|failed| fresh(subject, failed, None, || "convention/failure".into()))
            .or_else(|| left_over(subject)),
    }
}

/// `finding`, unless the evidence for it is of an older generation, which makes it void. What failed
/// then is still worth reading. The evidence's own `generation` outranks the one of the whole status,
/// which some controllers leave at -1 for ever.
pub(super) fn fresh(
    subject: Subject,
    finding: Finding,
    generation: Option<i64>,
    rule: impl FnOnce() -> Cow<'static, str>,
) -> (Finding, Cow<'static, str>) {
    let observed = match subject.dialect.generation {
        ObservedGeneration::Nowhere => None,
        _ => generation.or_else(|| subject.observed_generation()),
    };
    match observed.and_then(|observed| subject.lag_behind(observed)) {
        _ if finding.health == Health::Suspended => (finding, rule()),
        None => (finding, rule()),
        Some(lag) => (behind(lag, &finding), "convention/generation".into()),
    }
}

/// The lag, with what failed at the older generation.
fn behind(lag: Finding, finding: &Finding) -> Finding {
    if finding.health != Health::Degraded {
        return lag;
    }
    let message = joined(&lag.message, &finding.message).into_owned();
    lag.message(message)
}

/// The best evidence there is: failures anywhere first, then conditions, then words and counters.
fn evidence(subject: Subject) -> Option<Evidence> {
    let conditions = by_conditions(subject);
    let said = fields::judge(subject);
    match (conditions, said) {
        (Some(conditions), Some(said)) => {
            let failing = |evidence: &Evidence| evidence.finding.health == Health::Degraded;
            Some(if failing(&said) && !failing(&conditions) { said } else { conditions })
        }
        (conditions, said) => conditions.or(said),
    }
}

/// What the conditions of an object and of its parts say, the worse of both.
fn by_conditions(subject: Subject) -> Option<Evidence> {
    let own = by_condition::judge(subject.conditions, subject.dialect);
    let all = [own, nested::judge(subject)].into_iter().flatten();
    all.reduce(|a, b| if b.finding.health.rank() < a.finding.health.rank() { b } else { a })
}

fn left_over(subject: Subject) -> Option<(Finding, Cow<'static, str>)> {
    let quiet = || Finding::healthy("Observed").message("its controller saw it and reports nothing wrong");
    let finding = subject.lag().or_else(|| seen_and_quiet(subject).then(quiet))?;
    Some((finding, "convention/generation".into()))
}

/// Whether the status tells that its generation was seen, and nothing besides that nobody knows.
fn seen_and_quiet(subject: Subject) -> bool {
    let told = |(field, _): (&String, &Value)| !matches!(field.as_str(), "observedGeneration" | "conditions");
    let idle = |reading: &Reading| {
        matches!(subject.dialect.role(&reading.kind), Role::Activity)
            && reading.status == ConditionStatus::False
    };
    generation(subject.status("observedGeneration")).is_some()
        && !subject.object.status.as_object().is_some_and(|status| status.iter().any(told))
        && (subject.conditions.is_empty() || subject.conditions.iter().any(idle))
}
