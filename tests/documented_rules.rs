//! The examples of `docs/rules.md` are what they say.
#![allow(missing_docs, clippy::expect_used)]

use std::{fs, path::Path, sync::Arc};

use addons::{
    health::{Judgement, Rules, Written, judge, read_case_text, read_text},
    model::{Health, Kind, StatusReporting, decode::Raw},
};
use serde::Deserialize;
use serde_json::Value;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    fs::read_to_string(path).expect("the document")
}

/// The YAML of the document, block by block.
fn blocks() -> Vec<String> {
    let text = document();
    let parts = text.split("```yaml\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn written(block: &str) -> Vec<Written> {
    read_text("docs/rules.md", block).expect("rules")
}

fn judged(object: &Value, rules: &Rules) -> Judgement {
    let raw = Raw::deserialize(object).expect("an object");
    let kind = Kind {
        group: "pottery.example".to_owned(),
        version: "v1".to_owned(),
        kind: "Kiln".to_owned(),
        plural: "kilns".to_owned(),
        namespaced: false,
        status: StatusReporting::Yes,
    };
    judge(&raw.into_object(Arc::new(kind)).expect("an object with a name"), rules)
}

#[test]
fn every_rule_of_the_document_is_right() {
    let rules: Vec<String> =
        blocks().into_iter().filter(|block| block.contains("kind: StatusRule")).collect();
    assert_eq!(rules.len(), 2);
    for block in rules {
        for written in written(&block) {
            written.compile().expect("a rule that makes sense");
        }
    }
}

#[test]
fn the_kiln_is_as_the_document_says() {
    let blocks = blocks();
    let kiln: Value = serde_saphyr::from_str(&blocks[0]).expect("the object");
    let without = judged(&kiln, &Rules::builtin()).timeline.first;
    assert_eq!((without.health, &*without.reason), (Health::Progressing, "Firing"));

    let rule = written(&blocks[1]).remove(0).compile().expect("the rule");
    let rules = Rules::with([Arc::new(rule)]);
    let with = judged(&kiln, &rules);
    assert_eq!(
        (with.timeline.first.health, &*with.timeline.first.rule),
        (Health::Healthy, "StatusRule/kilns")
    );
    let facts: Vec<_> = with.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect();
    assert_eq!(facts, [("door", "https://east.kilns.example/"), ("temperature", "1180 C")]);

    for (field, value, health, reason) in [
        ("lastError", Value::from("no gas"), Health::Degraded, "FiringFailed"),
        ("temperature", 1310.into(), Health::Degraded, "TooHot"),
        ("shelvesReady", 2.into(), Health::Progressing, "ShelvesMissing"),
        ("state", "Cold".into(), Health::Suspended, "Cold"),
        ("state", "Heating".into(), Health::Progressing, "Heating"),
    ] {
        let mut other = kiln.clone();
        other["status"][field] = value;
        let verdict = judged(&other, &rules).timeline.first;
        assert_eq!((verdict.health, &*verdict.reason), (health, reason), "{field}");
    }
}

#[test]
fn the_cases_of_the_document_hold_and_show_every_field() {
    let blocks = blocks();
    let rule = written(&blocks[1]).remove(0).compile().expect("the rule");
    let rules = Rules::with([Arc::new(rule)]);
    let cases = |text: &str| read_case_text("docs/rules.md", text).expect("cases").cases;
    let all = cases(&blocks[2]);
    assert_eq!(all.len(), 2);
    for (_, case) in &all {
        assert_eq!(case.fault(&rules), None, "{}", case.name);
    }
    let (_, full) = &all[1];
    assert!(full.reason.is_some() && full.now.is_some() && !full.facts.is_empty());
    let fields = serde_saphyr::from_str::<Vec<Value>>(&blocks[2]).expect("a list");
    let document = document();
    for field in fields[1].as_object().expect("a case").keys() {
        assert!(document.contains(&format!("\n| `{field}` | ")), "{field}");
    }

    // Each field counts.
    for (right, wrong, told) in [
        ("health: Suspended", "health: Healthy", "expected Healthy, got Suspended Cold by StatusRule/kilns"),
        ("reason: Progress", "reason: No", "got Degraded ProgressDeadlineExceeded"),
        ("now: \"2026-03-01T20:30", "now: \"2026-03-01T19:30", "got Progressing ShelvesMissing"),
        ("{temperature: 20 C}", "{temperature: 21 C}", "expected the fact temperature to be 21 C, got 20 C"),
    ] {
        let faults: Vec<String> = cases(&blocks[2].replace(right, wrong))
            .iter()
            .filter_map(|(_, case)| case.fault(&rules))
            .collect();
        assert!(faults.len() == 1 && faults[0].contains(told), "{wrong}: {faults:?}");
    }
}
