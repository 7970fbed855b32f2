use std::collections::HashSet;

use serde_json::Value;

use super::{Evidence, behind, by_condition};
use crate::health::{
    Finding, Subject, conditions,
    dialect::{Dialect, ObservedGeneration},
};

/// Fields of a status that hold parts with conditions of their own.
const HOLDERS: [&str; 5] = ["parents", "listeners", "ancestors", "ingress", "conditionedStatus"];

/// The worst of what an object's parts say in conditions of their own: the parents of a route, the
/// listeners of a gateway. A part that is of an older generation doesn't count where its controller
/// has seen the newest one in another part; else that is awaited.
pub(super) fn judge(subject: Subject) -> Option<Evidence> {
    let parts = HOLDERS.iter().flat_map(|field| match subject.status(field) {
        Value::Array(items) => items.as_slice(),
        Value::Object(_) => std::slice::from_ref(subject.status(field)),
        _ => &[],
    });
    let judged: Vec<(&Value, Evidence)> =
        parts.filter_map(|holder| Some((holder, part(holder, subject.dialect)?))).collect();
    let told = !matches!(subject.dialect.generation, ObservedGeneration::Nowhere);
    let lag =
        |evidence: &Evidence| evidence.generation.filter(|_| told).and_then(|seen| subject.lag_behind(seen));
    let controller = |holder: &Value| holder.get("controllerName").and_then(Value::as_str).map(str::to_owned);
    let stale = judged.iter().any(|(_, evidence)| lag(evidence).is_some());
    let current: HashSet<_> = judged
        .iter()
        .filter(|(_, evidence)| stale && lag(evidence).is_none())
        .map(|(holder, _)| controller(holder))
        .collect();
    judged
        .into_iter()
        .filter_map(|(holder, evidence)| match lag(&evidence) {
            None => Some(evidence),
            Some(_) if current.contains(&controller(holder)) => None,
            Some(lag) => {
                let finding = behind(lag.prefixed(name(holder)), &evidence.finding);
                let generation = subject.object.generation;
                Some(Evidence { finding, rule: "convention/generation".into(), generation })
            }
        })
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
