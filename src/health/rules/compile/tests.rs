#![allow(clippy::expect_used)]

use crate::health::rules::read_text;

/// What is said of a rule.
fn refusal(rule: &str) -> String {
    let written = read_text("test.yaml", rule).expect(rule);
    written[0].compile().expect_err(rule).to_string()
}

/// Checks how rules for `Widget` are refused: with the place, and what is wrong.
fn refused(rules: &[(&str, &str)]) {
    for (rule, expected) in rules {
        let error = refusal(&format!("- match: {{group: acme.test, kind: Widget}}\n  {rule}"));
        let expected = format!("test.yaml:1: in the rule that begins here, {expected}");
        assert!(error.starts_with(&expected), "{rule}\n  expected {expected}\n  actual   {error}");
    }
}

fn accepted(rule: &str) {
    let rule = format!("- match: {{group: acme.test, kind: Widget}}\n  {rule}");
    read_text("test.yaml", &rule).expect(&rule)[0].compile().expect(&rule);
}

#[test]
fn a_test_says_one_thing() {
    let inner = "{path: x}";
    let parts = [
        ("condition", "condition: Ready".to_owned()),
        ("path", "path: status.x".to_owned()),
        ("any", format!("any: [{inner}]")),
        ("none", format!("none: [{inner}]")),
        ("some", format!("some: {{at: status.x, where: [{inner}]}}")),
        ("every", format!("every: {{at: status.x, where: [{inner}]}}")),
    ];
    for (n, (first, one)) in parts.iter().enumerate() {
        for (second, other) in &parts[n + 1..] {
            let place = format!("rows[0].if[0]: has {first} and {second}: one test is of one of them");
            refused(&[(&format!("rows: [{{verdict: Healthy, if: [{{{one}, {other}}}]}}]"), &place)]);
        }
    }
    refused(&[(
        "rows: [{verdict: Healthy, if: [{none: [{path: status.x}, {any: [{condition: A, path: status.y}]}]}]}]",
        "rows[0].if[0].none[1].any[0]: has condition and path: ",
    )]);
}

#[test]
fn a_path_is_asked_one_thing_or_whether_it_is_between_two_numbers() {
    let asked = [
        ("in", "in: [a]"),
        ("contains", "contains: a"),
        ("exists", "exists: false"),
        ("atLeast", "atLeast: 1"),
        ("below", "below: 9"),
    ];
    for (n, (first, one)) in asked.iter().enumerate() {
        for (second, other) in &asked[n + 1..] {
            let rule = format!("rows: [{{verdict: Healthy, if: [{{path: status.x, {one}, {other}}}]}}]");
            match (*first, *second) {
                ("atLeast", "below") => accepted(&rule),
                _ => refused(&[(&rule, &format!("rows[0].if[0]: has {first} and {second}: "))]),
            }
        }
    }
}

#[test]
fn tests_that_always_or_never_hold_are_refused() {
    for (test, expected) in [
        ("{path: status.x, in: []}", ".in: has no values"),
        ("{path: status.x, atLeast: 5, below: 5}", ": no number is at least 5 and below 5"),
        ("{path: status.x, contains: ''}", ".contains: has an empty text"),
        ("{path: status.x, below: {path: spec.y, or: many}}", ".below: is a number"),
        ("{path: status.x, below: {path: spec.y, else: 1}}", ".below: is a number"),
        ("{condition: ''}", ".condition: is empty"),
        ("{condition: A, status: ''}", ".status: has an empty text"),
        ("{condition: A, message: ['', b]}", ".message: has an empty text"),
        ("{condition: A, reason: B, reasonNot: C}", ": has reason and reasonNot"),
        ("{some: {at: status.x, where: []}}", ".some: where says what an item must pass"),
        ("{every: {at: status.x}}", ".every: where says what an item must pass"),
    ] {
        let rule = format!("rows: [{{verdict: Healthy, if: [{test}]}}]");
        refused(&[(&rule, &format!("rows[0].if[0]{expected}"))]);
    }
}

#[test]
fn tests_that_contradict_each_other_are_refused() {
    for (tests, place) in [
        ("{path: status.a, in: [x]}, {path: status.a, exists: false}", ""),
        ("{path: status.a}, {path: status.a, exists: false}", ""),
        ("{path: status.a, exists: false}, {path: status.a, exists: true}", ""),
        ("{path: status.a, in: [x]}, {path: status.a, in: [y, z]}", ""),
        ("{condition: Ready}, {condition: Ready, status: 'False'}", ""),
        ("{condition: Ready, reason: A}, {condition: Ready, reason: [B, C]}", ""),
        ("{condition: Ready, reason: A}, {condition: Ready, reasonNot: [A, B]}", ""),
        ("{condition: Ready}, {none: [{condition: Ready}]}", ""),
        ("{none: [{path: status.b}, {condition: Ready}]}, {condition: Ready, reason: A}", ""),
        ("{path: status.a, in: [x]}, {none: [{path: status.a, in: [y, x]}]}", ""),
        ("{some: {at: status.l, where: [{path: a, in: [1]}, {path: a, in: [2]}]}}", "[0].some.where"),
    ] {
        let rule = format!("rows: [{{verdict: Healthy, if: [{tests}]}}]");
        let expected = format!("rows[0].if{place}[1]: never holds where rows[0].if{place}[0] does");
        refused(&[(&rule, &expected)]);
    }
    for tests in [
        "{path: status.a, in: [x, null]}, {path: status.a, exists: false}",
        "{path: status.a, below: 5}, {path: status.a, exists: false}",
        "{path: status.a, in: [x, y]}, {path: status.a, in: [y]}",
        "{path: status.a, in: [x]}, {path: status.b, in: [y]}",
        "{condition: Ready}, {condition: Ready, status: ['true', 'False'], reason: A}",
        "{condition: Ready, reason: A}, {none: [{condition: Ready, reason: B}]}",
        "{condition: Ready}, {none: [{condition: Ready, message: quota}]}",
        "{any: [{path: status.a, in: [x]}, {path: status.a, in: [y]}]}",
    ] {
        accepted(&format!("rows: [{{verdict: Healthy, if: [{tests}]}}]"));
    }
}

#[test]
fn a_row_that_another_one_forestalls_is_refused() {
    let rows = |first: &str, second: &str| {
        format!("rows: [{{verdict: Healthy, {first}}}, {{verdict: Degraded, {second}}}]")
    };
    for (first, second) in [
        ("if: [{path: status.a}]", "if: [{path: status.b}, {path: status.a}]"),
        ("if: [{path: status.a}]", "if: [{path: status.a}], when: gen()"),
        ("if: [{path: status.a, in: [x, y]}]", "if: [{path: status.a, in: [x]}]"),
        ("if: [{path: status.a, exists: true}]", "if: [{path: status.a, in: [x]}]"),
        ("if: [{condition: Ready, status: ['True', 'False']}]", "if: [{condition: Ready, reason: A}]"),
    ] {
        refused(&[(&rows(first, second), "rows[1]: never decides, because rows[0] does before it")]);
    }
    for (first, second) in [
        ("if: [{path: status.a}], when: gen()", "if: [{path: status.a}]"),
        ("if: [{path: status.a, in: [x]}]", "if: [{path: status.a, in: [x, y]}]"),
        ("if: [{condition: Ready, reason: A}]", "if: [{condition: Ready}]"),
        ("if: [{path: status.a, exists: true}]", "if: [{path: status.a, below: 3}]"),
    ] {
        accepted(&rows(first, second));
    }
}

#[test]
fn an_expression_that_reads_nothing_is_no_condition() {
    for when in ["'\"a\"'", "1/0 == 1", "'false'", "'[1, 2].exists(status, status == 1)'"] {
        refused(&[(
            &format!("rows: [{{verdict: Healthy, when: {when}}}]"),
            "rows[0].when: reads nothing of the object",
        )]);
    }
    for when in [
        "phase() == 'Up'",
        "gen()",
        "cond('Ready').status == 'True'",
        "has(status.a)",
        "'[1].exists(n, n == status.a)'",
    ] {
        accepted(&format!("rows: [{{verdict: Healthy, when: {when}}}]"));
    }
}

#[test]
fn parts_without_effect_are_refused() {
    refused(&[
        ("rows: []", "match: nothing is said of these kinds"),
        (
            "rows: [{verdict: Healthy}, {verdict: Degraded, if: [{path: status.x}]}]",
            "rows[1]: never decides, because rows[0] does before it",
        ),
        (
            "rows: [{verdict: Healthy, when: gen()}, {verdict: Degraded, when: gen()}]",
            "rows[1]: never decides, because rows[0] does before it",
        ),
        (
            "rows: [{verdict: Degraded, if: [{path: status.x}], deadline: 5m}]",
            "rows[0].deadline: is for the verdict Progressing",
        ),
        (
            "rows: [{verdict: Healthy}]\n  phases: [{at: status.x}]",
            "phases: are never asked, because rows[0] always decides",
        ),
        (
            "phases: [{at: status.x, healthy: [A]}, {at: status.x, healthy: [B]}]",
            "phases[1].at: phases[0] tells of the same field",
        ),
        ("conditions: {}", "conditions: names no type"),
        ("reasons: {failing: []}", "reasons: names no reason"),
        ("reasons: {failing: [A], done: [A]}", "reasons: the reason \"A\" stands there twice"),
        (
            "facts: [{name: a, at: status.x}, {name: b, at: status.y}, {name: a, at: status.z}]",
            "facts[2].name: facts[0] has the name \"a\" too",
        ),
        ("causes: [{}]", "causes[0]: leads nowhere"),
        ("causes: [{kind: Pod}]", "causes[0]: leads nowhere"),
        ("causes: [{owned: true}]", "causes[0]: owned and labels are of objects of a kind"),
        (
            "causes: [{named: true, kind: Pod}]",
            "causes[0]: named objects are of the kinds that the message names",
        ),
        ("causes: [{named: true, at: spec.x}]", "causes[0]: leads to several"),
    ]);
    for useful in ["deadline: 1h", "observedGeneration: none", "empty: Healthy", "suspension: Rows"] {
        accepted(useful);
    }
    accepted("causes: [{kind: Pod, owned: true, labels: {app: '{name}'}}]");
}

#[test]
fn kinds_are_named_once() {
    for (rule, expected) in [
        ("- {match: {group: acme.test, kind: Widget}}", "match: nothing is said of these kinds"),
        ("- {match: {group: a.test, kind: A, kinds: [B]}, deadline: 1h}", "match: has kind and kinds"),
        ("- {match: {group: a.test, kinds: [A, A]}, deadline: 1h}", "match.kinds: \"A\" stands there twice"),
        (
            "- {match: {group: a.test, kind: '*'}, deadline: 1h}",
            "match.kind: a rule for all kinds of a group names none",
        ),
        (
            "- {deadline: 1h, combine: {identifiers: [a], quorums: [{atLeast: 1}]}}",
            "deadline: is of the kinds that match names",
        ),
        (
            "- {match: {group: a.test}, combine: {identifiers: [a], quorums: [{atLeast: 1}]}}",
            "match: nothing is said of these kinds",
        ),
    ] {
        let error = refusal(rule);
        assert!(error.contains(&format!("begins here, {expected}")), "{rule}: {error}");
    }
}

#[test]
fn combinations_that_cannot_be_met_are_refused() {
    for (combine, expected) in [
        ("{identifiers: [], quorums: [{atLeast: 1}]}", ".identifiers: names no add-on"),
        ("{identifiers: [a, a], quorums: [{atLeast: 1}]}", ".identifiers: \"a\" stands there twice"),
        (
            "{identifiers: [a], quorums: [{atLeast: 3, by: Install, select: {installs: [x, y]}}]}",
            ".quorums[0].atLeast: is 3, and 2 installs at most are selected",
        ),
        (
            "{identifiers: [a], quorums: [{atLeast: 3, select: {group: apps, kind: Deployment, namespaces: [n], names: [x, y]}}]}",
            ".quorums[0].atLeast: is 3, and 2 components at most are selected",
        ),
        (
            "{identifiers: [a], quorums: [{atLeast: 1, select: {installs: [x, x]}}]}",
            ".quorums[0].select.installs: \"x\" stands there twice",
        ),
        (
            "{identifiers: [a], quorums: [{atLeast: 1, select: {names: ['']}}]}",
            ".quorums[0].select.names: has an empty text",
        ),
        (
            "{identifiers: [a], quorums: [{atLeast: 1, select: {kind: a/b}}]}",
            ".quorums[0].select.kind: \"a/b\" is no kind",
        ),
        ("{identifiers: [a], informational: [{}]}", ".informational[0]: names nothing"),
        (
            "{identifiers: [a], quorums: [{atLeast: 1, select: {kind: Pod, names: [x]}}], informational: [{kind: Pod}]}",
            ".quorums[0].select: selects only what combine.informational[0] leaves out of account",
        ),
    ] {
        let error = refusal(&format!("- combine: {combine}"));
        assert!(error.contains(&format!("begins here, combine{expected}")), "{combine}: {error}");
    }
    for sensible in [
        "{identifiers: [a], quorums: [{atLeast: 3}]}",
        "{identifiers: [a], quorums: [{atLeast: 3, select: {kind: Deployment, names: [x]}}]}",
        "{identifiers: [a], quorums: [{atLeast: 2, by: Install, select: {installs: [x, '']}}]}",
        "{identifiers: [a], quorums: [{atLeast: 1, select: {kind: Pod}}], informational: [{kind: Pod, names: [x]}]}",
    ] {
        let rule = format!("- combine: {sensible}");
        read_text("test.yaml", &rule).expect(&rule)[0].compile().expect(&rule);
    }
}
