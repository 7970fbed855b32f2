#![allow(clippy::expect_used, clippy::panic)]

use std::{path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Case, Rule, Rules, builtin, read_cases, read_text};
use crate::{
    health::{judge, testing::object_of},
    model::{Health, StatusReporting, Verdict},
};

/// The rules in `text`, in force beside the built-in ones.
fn rules(text: &str) -> Rules {
    let written = read_text("test.yaml", text).expect("rules");
    Rules::with(written.iter().map(|written| Arc::new(written.compile().expect("a rule that makes sense"))))
}

fn verdict(rules: &Rules, object: &str) -> Verdict {
    let object: Value = serde_saphyr::from_str(object).expect("YAML");
    judge(&object_of(&object, StatusReporting::Unsaid), rules).timeline.first
}

/// Checks what a rule for `Widget` says of objects: each with `Health Reason: message`.
fn check(rule: &str, rows: &[(&str, &str)]) {
    let rules = rules(&format!("- match: {{group: acme.test, kind: Widget}}\n{rule}"));
    for (rest, expected) in rows {
        let mut object: Value = serde_saphyr::from_str(rest).expect("YAML");
        object["apiVersion"] = "acme.test/v1".into();
        object["kind"] = "Widget".into();
        object["metadata"]["name"] = "x".into();
        let verdict = judge(&object_of(&object, StatusReporting::Unsaid), &rules).timeline.first;
        let actual = format!("{} {}: {}", verdict.health, verdict.reason, verdict.message);
        assert!(actual.starts_with(expected), "{rest}\n  expected {expected}\n  actual   {actual}");
    }
}

#[test]
fn the_first_row_that_holds_decides() {
    check(
        "  rows:
  - {verdict: Degraded, if: [{condition: Issuing, status: 'False', reason: [Failed, Denied]}]}
  - {verdict: Healthy, if: [{condition: Ready}]}
  - {verdict: Progressing, if: [{path: status.phase, in: [Making]}], messageAt: [status.note]}
  - {verdict: Degraded, if: [{path: status.ready, below: spec.size}, {path: status.tries, atLeast: 3}], reason: TooFew}",
        &[
            (
                "{status: {conditions: [{type: Ready, status: 'True'}, {type: Issuing, status: 'False', reason: Denied, message: refused}]}}",
                "Degraded Denied: refused",
            ),
            ("{status: {conditions: [{type: Ready, status: 'True'}, {type: Issuing, status: 'False', reason: Other}]}}", "Healthy Ready"),
            ("{status: {phase: Making, note: soon}}", "Progressing Making: soon"),
            ("{spec: {size: 2}, status: {ready: 1, tries: 3}}", "Degraded TooFew"),
            ("{spec: {size: 2}, status: {tries: 3}}", "Degraded TooFew"),
            ("{spec: {size: 2}, status: {ready: 2, tries: 3}}", "Progressing NotYetObserved"),
            ("{status: {tries: 3}}", "Progressing NotYetObserved"),
            ("{}", "Progressing NotYetObserved"),
        ],
    );
}

#[test]
fn a_good_word_of_an_older_generation_is_void() {
    let stale = "metadata: {generation: 2}";
    check(
        "  rows: [{verdict: Healthy, if: [{condition: Ready}]}, {verdict: Degraded, if: [{condition: Bad}]}]",
        &[
            (
                &format!(
                    "{{{stale}, status: {{observedGeneration: 1, conditions: [{{type: Ready, status: 'True'}}]}}}}"
                ),
                "Progressing SpecNotObserved",
            ),
            (
                &format!(
                    "{{{stale}, status: {{observedGeneration: 1, conditions: [{{type: Ready, status: 'True', observedGeneration: 2}}]}}}}"
                ),
                "Healthy Ready",
            ),
            (
                &format!(
                    "{{{stale}, status: {{observedGeneration: 1, conditions: [{{type: Bad, status: 'True', message: broken}}]}}}}"
                ),
                "Progressing SpecNotObserved: generation 2 not seen yet, the status is of 1: broken",
            ),
        ],
    );
    check(
        "  observedGeneration: status.seen\n  rows: [{verdict: Healthy, if: [{condition: Ready}]}]",
        &[(
            &format!("{{{stale}, status: {{seen: 1, conditions: [{{type: Ready, status: 'True'}}]}}}}"),
            "Progressing",
        )],
    );
    check(
        "  observedGeneration: none\n  rows: [{verdict: Healthy, if: [{condition: Ready}]}]",
        &[(
            &format!(
                "{{{stale}, status: {{observedGeneration: 1, conditions: [{{type: Ready, status: 'True'}}]}}}}"
            ),
            "Healthy",
        )],
    );
}

#[test]
fn tests_look_into_lists_and_maps() {
    check(
        "  rows:
  - verdict: Degraded
    if: [{some: {at: status.parts, where: [{path: state, in: [Broken]}]}}]
  - verdict: Progressing
    if: [{some: {at: status.parts, where: [{condition: Ready, status: ['False', Unknown]}]}}]
  - verdict: Healthy
    if: [{every: {at: status.parts, where: [{any: [{condition: Ready}, {path: state, in: [Fine]}]}]}}]",
        &[
            ("{status: {parts: [{state: Fine}, {state: Broken}]}}", "Degraded Broken"),
            (
                "{status: {parts: {a: {state: Fine}, b: {conditions: [{type: Ready, status: 'False', reason: Slow}]}}}}",
                "Progressing Slow",
            ),
            (
                "{status: {parts: {a: {state: Fine}, b: {conditions: [{type: Ready, status: 'True'}]}}}}",
                "Healthy",
            ),
            ("{status: {parts: []}}", "Progressing NotYetObserved"),
        ],
    );
}

#[test]
fn words_of_state_mean_what_the_table_says() {
    check(
        "  phases: [{at: status.phase, healthy: [Zeta], degraded: [In Ruins], messageAt: [status.why]}]",
        &[
            ("{status: {phase: zeta}}", "Healthy Zeta"),
            ("{status: {phase: inRuins, why: fire}}", "Degraded InRuins: fire"),
            ("{status: {phase: Creating}}", "Progressing Creating"),
            ("{status: {phase: Eta}}", "Progressing NotYetObserved"),
            (
                "{status: {phase: Zeta, conditions: [{type: Ready, status: 'False', reason: PartFailed}]}}",
                "Degraded PartFailed",
            ),
            ("{spec: {paused: true}, status: {phase: Zeta}}", "Suspended Suspended"),
        ],
    );
    check(
        "  phases: [{at: status.phase, healthy: [Zeta], others: Degraded}]",
        &[("{status: {phase: Eta}}", "Degraded Eta"), ("{status: {}}", "Progressing NotYetObserved")],
    );
}

#[test]
fn condition_types_and_reasons_mean_what_the_rule_says() {
    check(
        "  conditions: {summary: [Fit], negative: [Moody], only: true}\n  reasons: {failing: [Meh], moving: [BackoffExceeded]}",
        &[
            (
                "{status: {conditions: [{type: Fit, status: 'True'}, {type: Failed, status: 'True'}]}}",
                "Healthy Fit",
            ),
            (
                "{status: {conditions: [{type: Fit, status: 'True'}, {type: Moody, status: 'True'}]}}",
                "Degraded Moody",
            ),
            ("{status: {conditions: [{type: Fit, status: 'False', reason: Meh}]}}", "Degraded Meh"),
            (
                "{status: {conditions: [{type: Fit, status: 'False', reason: BackoffExceeded}]}}",
                "Progressing BackoffExceeded",
            ),
        ],
    );
}

#[test]
fn deadlines_are_those_of_the_rule() {
    let object = json!({"apiVersion": "acme.test/v1", "kind": "Widget", "metadata": {"name": "x"},
        "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Creating", "lastTransitionTime": "2025-03-01T10:00:00Z"}]}});
    for (deadline, at) in
        [("30m", Some("2025-03-01T10:30:00Z")), ("2h", Some("2025-03-01T12:00:00Z")), ("never", None)]
    {
        let rules = rules(&format!("- {{match: {{group: acme.test}}, deadline: {deadline}}}"));
        let timeline = judge(&object_of(&object, StatusReporting::Unsaid), &rules).timeline;
        assert_eq!(timeline.later.map(|later| later.at.to_string()).as_deref(), at, "{deadline}");
    }
}

#[test]
fn a_rule_takes_over_only_what_it_says() {
    let rules = rules(
        "- {match: {group: batch, kind: Job}, conditions: {neutral: [Odd]}}
- {match: {group: acme.test, kind: Late}, deadline: 3h}
- match: {group: acme.test, kind: Torn}
  rows: [{verdict: Degraded, when: 'status.size + 1 > 2'}, {verdict: Healthy}]",
    );
    let of = |object: &str| verdict(&rules, object).health;
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {suspend: true}, status: {conditions: [{type: Odd, status: 'True'}]}}";
    assert_eq!(of(job), Health::Suspended);
    let late = "{apiVersion: acme.test/v1, kind: Late, metadata: {name: x}, status: {gibberish: 1}}";
    assert_eq!(of(late), Health::Unknown);
    // An expression that has no answer leaves the object to what is known without the rule.
    let torn = "{apiVersion: acme.test/v1, kind: Torn, metadata: {name: x}, status: {size: many, conditions: [{type: Ready, status: 'False', reason: Failed}]}}";
    assert_eq!(verdict(&rules, torn).rule, "convention/condition-Ready");
}

#[test]
fn the_deadline_of_a_row_goes_before_that_of_its_rule() {
    let object = json!({"apiVersion": "acme.test/v1", "kind": "Widget", "metadata": {"name": "x"},
        "status": {"phase": "Slow", "since": "2025-03-01T10:00:00Z"}});
    let rules = rules(
        "- match: {group: acme.test}\n  deadline: 1h\n  rows: [{verdict: Progressing, if: [{path: status.phase}], sinceAt: status.since, deadline: 30m}]",
    );
    let later = judge(&object_of(&object, StatusReporting::Unsaid), &rules).timeline.later;
    assert_eq!(later.map(|later| later.at.to_string()).as_deref(), Some("2025-03-01T10:30:00Z"));
}

#[test]
fn the_narrower_rule_and_the_users_rule_go_first() {
    let rules = rules(
        "- {match: {group: '*.acme.test'}, rows: [{verdict: Unknown}]}
- {match: {group: a.acme.test}, rows: [{verdict: Suspended}]}
- {match: {group: a.acme.test, kinds: [B, C]}, rows: [{verdict: Degraded}]}
- {match: {group: apps, kind: Deployment}, rows: [{verdict: Degraded, if: [{path: spec.cursed}]}]}",
    );
    let of = |api: &str, kind: &str, spec: &str| {
        verdict(
            &rules,
            &format!("{{apiVersion: {api}/v1, kind: {kind}, metadata: {{name: x}}, spec: {spec}}}"),
        )
        .health
    };
    assert_eq!(of("b.acme.test", "B", "{}"), Health::Unknown);
    assert_eq!(of("a.acme.test", "A", "{}"), Health::Suspended);
    assert_eq!(of("a.acme.test", "C", "{}"), Health::Degraded);
    assert_eq!(of("apps", "Deployment", "{cursed: true}"), Health::Degraded);
    assert_eq!(of("apps", "Deployment", "{}"), Health::Progressing);
}

#[test]
fn an_expression_says_what_tests_cannot() {
    check(
        "  rows:
  - {verdict: Degraded, reason: TooFew, when: 'status.parts.filter(p, p.up).size() * 2 < spec.size'}
  - {verdict: Healthy, if: [{condition: Ready}], when: 'gen() && !has(status.note.urgent)'}",
        &[
            ("{spec: {size: 3}, status: {parts: [{up: true}, {up: false}]}}", "Degraded TooFew"),
            (
                "{spec: {size: 2}, status: {parts: [{up: true}], conditions: [{type: Ready, status: 'True'}]}}",
                "Healthy Ready",
            ),
            (
                "{status: {note: {urgent: 1}, conditions: [{type: Ready, status: 'True', reason: Else}]}}",
                "Healthy",
            ),
            ("{}", "Progressing NotYetObserved"),
        ],
    );
}

#[test]
fn an_expression_that_fails_on_all_is_switched_off_and_the_rest_stands() {
    let rules = rules(
        "- match: {group: acme.test, kind: Widget}
  rows: [{verdict: Degraded, when: 'status.phase + 1 == 2'}, {verdict: Healthy, if: [{path: status.phase}]}]",
    );
    let rule = Arc::clone(&rules.of_kind("acme.test", "Widget").users[0]);
    for _ in 0..20 {
        assert_eq!(rule.switched_off(), None);
        let verdict = verdict(
            &rules,
            "{apiVersion: acme.test/v1, kind: Widget, metadata: {name: x}, status: {phase: Up}}",
        );
        assert_eq!(verdict.health, Health::Healthy);
    }
    let why = rule.switched_off().expect("it failed on all");
    assert!(why.contains("20 failures in a row, the last: can't add a text and a whole number"), "{why}");
}

#[test]
fn facts_are_read() {
    let rules = rules(
        "- match: {group: acme.test, kind: Widget}
  facts: [{name: url, at: status.url}, {name: size, at: spec.size}, {name: none, at: status.none}, {name: all, at: status},
    {name: sum, value: 'spec.size + 1'}, {name: gone, value: status.none.x}]",
    );
    let object = json!({"apiVersion": "acme.test/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"size": 3}, "status": {"url": "http://x\u{1b}"}});
    let facts = judge(&object_of(&object, StatusReporting::Unsaid), &rules).facts;
    let facts: Vec<_> = facts.iter().map(|fact| format!("{}={}", fact.name, fact.value)).collect();
    assert_eq!(facts, ["url=http://x\u{fffd}", "size=3", "sum=4"]);
}

#[test]
fn a_rule_that_only_extracts_facts_leaves_the_verdict_alone() {
    for kind in ["{group: acme.test, kind: Widget}", "{group: cert-manager.io, kind: Certificate}"] {
        let rules = rules(&format!("- match: {kind}\n  facts: [{{name: mood, at: status.mood}}]"));
        for object in [
            "{apiVersion: acme.test/v1, kind: Widget, metadata: {name: x}, status: {mood: good}}",
            "{apiVersion: acme.test/v1, kind: Widget, metadata: {name: x}}",
            "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: x}, spec: {suspend: true}}",
        ] {
            assert_eq!(verdict(&rules, object), verdict(&Rules::builtin(), object), "{kind} {object}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    for (rule, expected) in [
        ("rows: [{verdict: Healthy, if: [{path: phase}]}]", "rows[0].if[0].path: a path begins with"),
        ("rows: [{verdict: Healthy, if: [{}]}]", "rows[0].if[0]: tests nothing"),
        ("rows: [{verdict: Healthy, if: [{status: 'True'}]}]", "rows[0].if[0]: status, reason"),
        ("rows: [{verdict: Healthy, if: [{in: [a]}]}]", "rows[0].if[0]: in, contains"),
        (
            "rows: [{verdict: Healthy, if: [{path: spec.x, atLeast: [1]}]}]",
            "rows[0].if[0].atLeast: is a number",
        ),
        (
            "rows: [{verdict: Healthy, when: 'stats.x == 1'}]",
            "rows[0].when: line 1, column 1: unknown name `stats`, did you mean `status`?",
        ),
        ("facts: [{name: a, value: 'status.'}]", "facts[0].value: line 1, column 8: the expression ends"),
        ("deadline: soon", "deadline: \"soon\" is no time"),
        ("deadline: 0m", "deadline: \"0m\" is no time"),
        ("deadline: ä", "deadline: \"ä\" is no time"),
        (
            "phases: [{at: status.phase, healthy: [Up], degraded: [up]}]",
            "phases[0]: the word \"up\" stands there twice",
        ),
        ("conditions: {summary: [A], neutral: [A]}", "conditions: the type \"A\" stands there twice"),
        ("facts: [{name: a}]", "facts[0]: has either a path"),
        ("facts: [{name: '...', at: status.a}]", "facts[0].name: \"...\" isn't a name"),
        ("combine: {identifiers: [a b]}", "combine.identifiers: \"a b\" can't be"),
        ("combine: {identifiers: [a]}", "combine: has either"),
        ("combine: {identifiers: [a], quorums: [{atLeast: 0}]}", "combine.quorums[0].atLeast: is at least 1"),
        ("causes: [{at: nowhere}]", "causes[0].at: a path begins with"),
        ("observedGeneration: x", "observedGeneration: a path begins with"),
    ] {
        let text = format!("- match: {{group: acme.test, kind: Widget}}\n  {rule}");
        let written = read_text("test.yaml", &text).expect(rule);
        let error = written[0].compile().expect_err(rule).to_string();
        assert!(error.starts_with("test.yaml:1: ") && error.contains(expected), "{rule}: {error}");
    }
    for (text, expected) in [
        ("- {match: {group: A}}", "is no API group"),
        ("- {match: {group: a, kind: b/c}}", "is no kind"),
        ("- {deadline: 1m}", "match: says for which kinds"),
    ] {
        let error = read_text("test.yaml", text).expect(text)[0].compile().expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn files_that_cannot_be_read_name_the_line() {
    for (text, line) in [
        ("- match: {group: a.test}\n  rows:\n  - {verdict: Fine}\n", "test.yaml:3: "),
        ("- match: {group: a.test}\n  roows: []\n", "test.yaml:2: "),
        ("- [\n", "test.yaml:"),
    ] {
        let error = read_text("test.yaml", text).expect_err(text).to_string();
        assert!(error.starts_with(line), "{error}");
    }
}

#[test]
fn a_rule_may_stand_in_a_resource() {
    let text = "apiVersion: addons.x-k8s.io/v1alpha1\nkind: StatusRule\nmetadata: {name: mine}\nspec:\n  match: {group: acme.test}\n  rows: [{verdict: Degraded}]\n";
    let rules = rules(&format!("{text}---\n{}", text.replace("acme", "other")));
    let verdict = verdict(&rules, "{apiVersion: acme.test/v1, kind: A, metadata: {name: x}}");
    assert_eq!((verdict.health, &*verdict.rule), (Health::Degraded, "StatusRule/mine#1"));
}

#[test]
fn tests_stand_in_each_other_only_so_deep() {
    let deep = (0..6).fold("{path: spec.x}".to_owned(), |inner, _| format!("{{any: [{inner}]}}"));
    let text = format!("- {{match: {{group: a.test}}, rows: [{{verdict: Healthy, if: [{deep}]}}]}}");
    let error = read_text("test.yaml", &text).expect("a list")[0].compile().expect_err("too deep");
    assert!(error.to_string().contains("at most 4 deep"), "{error}");
}

#[test]
fn a_rule_makes_only_so_many_tests_and_says_so() {
    let rules = rules(
        "- match: {group: acme.test, kind: Widget}
  rows:
  - verdict: Degraded
    if: [{none: [{every: {at: status.rows, where: [{every: {at: cells, where: [{path: ., below: 5}]}}]}}]}]
  - {verdict: Suspended}",
    );
    let rule = Arc::clone(&rules.of_kind("acme.test", "Widget").users[0]);
    let of = |rows: usize, cells: usize| {
        let row = json!({"cells": vec![1; cells]});
        let object = json!({"apiVersion": "acme.test/v1", "kind": "Widget", "metadata": {"name": "x", "namespace": "n"},
            "status": {"rows": vec![row; rows], "phase": "Running"}});
        judge(&object_of(&object, StatusReporting::Unsaid), &rules).timeline.first
    };
    assert_eq!((&*of(90, 100).rule, rule.trouble()), ("rules/acme.test.Widget#2", None));
    // What can't be told doesn't hold, nor does its contrary: the object is judged without the rule.
    let verdict = of(1000, 1000);
    assert_eq!((verdict.health, &*verdict.rule), (Health::Healthy, "convention/phase"));
    assert_eq!(rule.trouble().as_deref(), Some("rows[0].if: Widget n/x: takes more than 10000 tests"));
    assert_eq!(rule.switched_off(), None);
    assert_eq!(of(2, 2).health, Health::Suspended, "smaller objects are judged by it still");
}

#[test]
fn every_built_in_rule_is_right_and_has_cases_that_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let builtin = Rules::builtin();
    let mut wrong = Vec::new();
    for (name, text) in builtin::files() {
        let written = match read_text(name, text) {
            Ok(written) => written,
            Err(error) => {
                wrong.push(error.to_string());
                continue;
            }
        };
        wrong.extend(written.iter().filter_map(|written| Some(written.compile().err()?.to_string())));
        let cases = read_cases(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
        let cases = cases.unwrap_or_else(|| panic!("{name} has no cases beside it"));
        for rule in written.iter().filter_map(|written| written.compile().ok()) {
            if !cases.cases.iter().any(|(_, case)| covers(&rule, case)) {
                wrong.push(format!("{name}: no case for {}", rule.name()));
            }
        }
        for (line, case) in &cases.cases {
            wrong.extend(
                case.fault(&builtin).map(|fault| format!("{}:{line}: {}: {fault}", cases.file, case.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn covers(rule: &Rule, case: &Case) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        api_version: String,
        kind: String,
    }
    let named = Named::deserialize(&case.object).expect("apiVersion and kind");
    rule.is_for(named.api_version.rsplit_once('/').map_or("", |(group, _)| group), &named.kind)
}
