#![allow(clippy::expect_used, clippy::unwrap_used)]

mod bounds;
mod references;
mod server;
mod workloads;

use std::sync::Arc;

use super::{
    testing::{Lab, at},
    *,
};
use crate::health::{Rule, Rules};

/// The clock of the tables.
const NOW: &str = "2025-03-01T10:00:30Z";

/// The built-in rules, and for each group and kind where its cause lies.
fn rules(causes: &[(&str, &str, &str)]) -> Rules {
    Rules::with(causes.iter().map(|(group, kind, causes)| {
        let spec = format!("{{match: {{group: {group}, kind: {kind}}}, causes: {causes}}}");
        let spec = serde_saphyr::from_str(&spec).expect(&spec);
        Arc::new(Rule::compile("test", &spec).expect("a rule"))
    }))
}

/// The tree below the first object of `yaml`.
async fn tree(lab: &Lab, root: &crate::model::Object, rules: &Rules, limits: Limits) -> Step {
    explain(lab, root, rules, limits, at(NOW)).await
}

/// From the first object below the component to the last cause, a line each, and `=` with the evidence.
fn chain(step: &Step) -> Vec<String> {
    let explanation = step.explanation();
    let steps = explanation.steps.iter();
    let mut lines: Vec<String> =
        steps.map(|cause| format!("{} {}: {}", cause.object, cause.reason, cause.message)).collect();
    lines.extend(explanation.evidence.map(|verdict| format!("= {} {}", verdict.health, verdict.reason)));
    lines.extend(explanation.incomplete.map(|gaps| format!("? {gaps}")));
    lines
}

async fn explained(yaml: &str) -> Vec<String> {
    let (lab, objects) = Lab::of(yaml);
    chain(&tree(&lab, &objects[0], &Rules::builtin(), Limits::BEST).await)
}

/// Checks that each line begins as is expected.
#[track_caller]
fn assert_chain(actual: &[String], expected: &[&str]) {
    let fits = actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, e)| a.starts_with(e));
    assert!(fits, "expected {expected:#?}\nactual {actual:#?}");
}
