//! Cases that were written from public reports of what other tools get wrong.

use addons::{
    health::judge,
    model::{Health, StatusReporting, Timestamp},
};
use serde::Deserialize;
use serde_json::Value;

use crate::fixtures::{cases, object_of, rules};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    object: Value,
    expected: String,
    #[serde(default)]
    also_acceptable: Vec<String>,
    now: Option<Timestamp>,
}

#[test]
fn cases_from_public_reports() {
    let Some(cases) = cases::<Case>("health/cases.jsonl") else { return };
    let rules = rules();
    let mut wrong = Vec::new();
    for case in &cases {
        let object = object_of(&case.object, StatusReporting::Unsaid);
        let timeline = judge(&object, &rules).timeline;
        let verdict = case.now.map_or(&timeline.first, |now| timeline.at(now));
        // The cases call it Ready where we say Healthy.
        let word = if verdict.health == Health::Healthy { "Ready" } else { verdict.health.as_str() };
        if case.expected != word && !case.also_acceptable.iter().any(|also| also == word) {
            let kind = &object.reference.kind.kind;
            wrong.push(format!("{} {kind}: {} by {}, not {}", case.id, word, verdict.rule, case.expected));
        }
    }
    println!("cases from public reports: {} of {} agree", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
