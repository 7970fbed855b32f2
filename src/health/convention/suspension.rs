use serde_json::Value;

use super::{roles::Role, words::Tone};
use crate::{
    health::{Finding, Subject, conditions::Reading, dialect::Dialect},
    model::{ConditionStatus, Health},
};

/// Fields of a spec that stop the object where they are true.
const FLAGS: [&str; 4] = ["suspend", "suspended", "paused", "pause"];

/// What the name of an annotation ends in that stops the object where it is `true`.
const ANNOTATIONS: [&str; 4] =
    ["/paused", "/pause-reconciliation", "/reconcile-paused", "/reconciliation-paused"];

/// The verdict on what its user stopped on purpose. An outage that shows outranks the pause.
pub(super) fn judge(subject: Subject) -> Option<Finding> {
    let finding = by_spec(subject).or_else(|| by_condition(subject))?;
    let outage = subject
        .denies("Available")
        .filter(|available| subject.dialect.tone(&available.reason) != Tone::Paused);
    if let Some(outage) = outage {
        return Some(Finding::of(Health::Degraded, outage).prefixed("stopped by its user and not available"));
    }
    // What failed before it was stopped is still worth reading.
    let failed =
        subject.denies("Ready").filter(|ready| finding.message.is_empty() && !ready.message.is_empty());
    Some(match failed {
        Some(ready) => finding.message(format!("stopped by its user; before that: {}", ready.message)),
        None => finding,
    })
}

fn by_spec(subject: Subject) -> Option<Finding> {
    let flag = FLAGS.iter().any(|flag| *subject.spec(flag) == Value::Bool(true));
    let annotated = subject
        .object
        .annotations
        .iter()
        .any(|(key, value)| value == "true" && ANNOTATIONS.iter().any(|end| key.ends_with(end)));
    (flag || annotated).then(|| {
        let since = subject.conditions.iter().find_map(|reading| paused(reading, subject.dialect));
        Finding::suspended("Suspended").since(since.and_then(Reading::last_transition))
    })
}

fn by_condition(subject: Subject) -> Option<Finding> {
    let condition = subject.conditions.iter().find_map(|reading| paused(reading, subject.dialect))?;
    Some(Finding::of(Health::Suspended, condition))
}

/// The condition, where it says that the object was stopped.
fn paused<'a>(condition: &'a Reading<'a>, dialect: &Dialect) -> Option<&'a Reading<'a>> {
    let stopped = match dialect.role(&condition.kind) {
        Role::Pause => condition.status == ConditionStatus::True,
        Role::Summary(_) => {
            condition.status == ConditionStatus::False
                && !condition.severe
                && dialect.tone(&condition.reason) == Tone::Paused
        }
        _ => false,
    };
    stopped.then_some(condition)
}
