use serde_json::Value;

use super::{Evidence, by_condition};
use crate::health::{Finding, Subject, conditions, dialect::Dialect};

/// Fields of a status that hold parts with conditions of their own.
const HOLDERS: [&str; 5] = ["parents", "listeners", "ancestors", "ingress", "conditionedStatus"];

/// The worst of what an object's parts say in conditions of their own: the parents of a route, the
/// listeners of a gateway. Parts that are of an older generation don't count beside one that isn't.
pub(super) fn judge(subject: Subject) -> Option<Evidence> {
    let parts = HOLDERS.iter().flat_map(|field| match subject.status(field) {
        Value::Array(items) => items.as_slice(),
        Value::Object(_) => std::slice::from_ref(subject.status(field)),
        _ => &[],
    });
    let judged: Vec<Evidence> = parts.filter_map(|holder| part(holder, subject.dialect)).collect();
    let stale = |evidence: &Evidence| {
        evidence.generation.is_some_and(|generation| subject.lag_behind(generation).is_some())
    };
    let any_current = judged.iter().any(|evidence| !stale(evidence));
    judged
        .into_iter()
        .filter(|evidence| !any_current || !stale(evidence))
        .reduce(|a, b| if b.finding.health.rank() < a.finding.health.rank() { b } else { a })
}

fn part(holder: &Value, dialect: &Dialect) -> Option<Evidence> {
    let listed = holder.get("conditions")?;
    let name = name(holder);
    match by_condition::judge(&conditions::read(Some(listed)), dialect) {
        Some(mut evidence) => {
            evidence.finding = evidence.finding.prefixed(name);
            Some(evidence)
        }
        None => Some(Evidence {
            finding: Finding::progressing("NotYetObserved")
                .message("no conditions reported yet")
                .prefixed(name),
            rule: "convention/parts".into(),
            generation: None,
        }),
    }
}

/// What the part is called.
fn name(holder: &Value) -> &str {
    let names = [
        holder.get("name"),
        holder.pointer("/parentRef/sectionName"),
        holder.pointer("/parentRef/name"),
        holder.pointer("/ancestorRef/name"),
        holder.get("host"),
    ];
    names.into_iter().flatten().find_map(Value::as_str).unwrap_or_default()
}
