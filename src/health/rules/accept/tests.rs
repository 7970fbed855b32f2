#![allow(clippy::expect_used)]

use serde_json::{Value, json};

use super::*;

fn rule(name: &str, created: &str, spec: &Value) -> Registered {
    let metadata = json!({"name": name, "uid": name, "generation": 1, "creationTimestamp": created});
    Registered::read(&json!({"metadata": metadata, "spec": spec})).expect("a rule")
}

fn health(kind: &str) -> Value {
    json!({"match": {"group": "lab.example", "kind": kind}, "phases": [{"at": "status.x", "healthy": ["Up"]}]})
}

const OLD: &str = "2026-01-01T00:00:00Z";
const NEW: &str = "2026-01-02T00:00:00Z";

fn names(decided: &Decided) -> Vec<&str> {
    decided.in_force.iter().map(|rule| rule.name()).collect()
}

#[test]
fn the_older_of_two_for_one_kind_counts() {
    let rules = [rule("a", NEW, &health("Gear")), rule("b", OLD, &health("Gear"))];
    let mut register = Register::default();
    let decided = register.decide(&rules);
    assert_eq!(names(&decided), ["StatusRule/b"]);
    let told = "the older StatusRule 'b' judges Gear.lab.example already".to_owned();
    assert_eq!(decided.by_name["a"], Acceptance::Conflict(told));

    let decided = register.decide(&rules[..1]);
    assert_eq!(names(&decided), ["StatusRule/a"], "the older went");

    let same_age = [rule("b", OLD, &health("Gear")), rule("a", OLD, &health("Gear"))];
    assert_eq!(names(&Register::default().decide(&same_age)), ["StatusRule/a"]);
}

#[test]
fn only_what_judges_the_very_same_kinds_is_in_conflict() {
    let facts = json!({"match": {"group": "lab.example", "kind": "Gear"}, "facts": [{"name": "u", "at": "status.u"}]});
    let wide = json!({"match": {"group": "*.example"}, "deadline": "1h"});
    let several = json!({"match": {"group": "lab.example", "kinds": ["Lever", "Gear"]}, "empty": "Healthy"});
    let rules = [
        rule("exact", OLD, &health("Gear")),
        rule("facts", NEW, &facts),
        rule("wide", NEW, &wide),
        rule("other", NEW, &health("Cog")),
        rule("several", NEW, &several),
        rule("wider", NEW, &wide),
    ];
    let decided = Register::default().decide(&rules);
    let refused: Vec<_> = decided
        .by_name
        .iter()
        .filter(|(_, acceptance)| **acceptance != Acceptance::Accepted)
        .map(|(name, acceptance)| (name.as_str(), acceptance.message()))
        .collect();
    assert_eq!(
        refused,
        [
            ("several", "the older StatusRule 'exact' judges Gear.lab.example already"),
            ("wider", "the older StatusRule 'wide' judges every kind of the group \"*.example\" already"),
        ]
    );
}

#[test]
fn a_rule_that_makes_no_sense_is_told_where_and_stops_nobody() {
    let broken = json!({"match": {"group": "lab.example", "kind": "Gear"},
        "rows": [{"verdict": "Healthy"}, {"verdict": "Degraded", "if": [{"path": "nowhere.x"}]}]});
    let unreadable = json!({"rows": [{"verdict": "Fine"}]});
    let rules = [
        rule("broken", OLD, &broken),
        rule("unreadable", OLD, &unreadable),
        rule("good", NEW, &health("Gear")),
    ];
    let decided = Register::default().decide(&rules);
    assert_eq!(names(&decided), ["StatusRule/good"]);
    let said = decided.by_name["broken"].message();
    assert!(said.starts_with("rows[1].if[0].path: a path begins with spec, status"), "{said}");
    assert_eq!(decided.by_name["unreadable"].reason(), "Invalid");
}

#[test]
fn a_rule_that_did_not_change_stays_the_same_one() {
    let mut register = Register::default();
    let first = register.decide(&[rule("a", OLD, &health("Gear"))]).in_force;
    // Another status comes with another reading of the same spec.
    let again = register.decide(&[rule("a", OLD, &health("Gear"))]).in_force;
    assert!(Arc::ptr_eq(&first[0], &again[0]));
    let changed = register.decide(&[rule("a", OLD, &health("Cog"))]).in_force;
    assert!(!Arc::ptr_eq(&first[0], &changed[0]));
    let mut anew = rule("a", OLD, &health("Cog"));
    anew.uid = "another".into();
    assert!(!Arc::ptr_eq(&changed[0], &register.decide(&[anew]).in_force[0]));
}

#[test]
fn the_oldest_500_are_looked_at() {
    let rules: Vec<Registered> =
        (0..MAX_RULES + 2).map(|n| rule(&format!("r{n:03}"), OLD, &health(&format!("Gear{n}")))).collect();
    let decided = Register::default().decide(&rules);
    assert_eq!(decided.in_force.len(), MAX_RULES);
    for late in ["r500", "r501"] {
        assert_eq!(decided.by_name[late].reason(), "TooMany");
    }
}

#[test]
fn what_was_switched_off_stays_so_until_its_spec_changes() {
    let mut off = rule("a", OLD, &health("Gear"));
    off.accepted = serde_json::from_value(json!({
        "type": "Accepted", "status": "False", "reason": "SwitchedOff", "message": "rows[0].when: too slow",
        "lastTransitionTime": OLD, "observedGeneration": 1,
    }))
    .ok();
    assert!(off.accepted.is_some());
    let mut register = Register::default();
    let decided = register.decide([&off]);
    assert_eq!(decided.by_name["a"], Acceptance::SwitchedOff("rows[0].when: too slow".into()));
    assert!(decided.in_force.is_empty());
    off.generation = Some(2);
    assert_eq!(register.decide([&off]).by_name["a"], Acceptance::Accepted);
}
