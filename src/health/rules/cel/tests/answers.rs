//! What expressions say of objects.

use super::{EvalError, holds, text};

const WIDGET: &str = "
metadata:
  generation: 4
  creationTimestamp: '2025-03-01T10:00:00Z'
  labels: {tier: gold}
  annotations: {lab.example/paused: 'true'}
spec: {replicas: 3, template: {size: 2}, zones: [a, b]}
status:
  phase: Running
  replicas: 3
  load: 0.5
  big: 18446744073709551615
  ready: true
  nothing: null
  url: https://widget.example
  observedGeneration: 4
  empty: {}
  zones: [{name: a, ok: true, nodes: [1, 2]}, {name: b, ok: false, nodes: []}]
  names: [a, b]
  conditions:
  - {type: Ready, status: 'true', reason: Fine, message: all well, lastTransitionTime: '2025-03-01T10:00:05Z', observedGeneration: 4}
  - {type: Synced, status: 'False', reason: Denied}
";

#[test]
fn conditions_of_rows() {
    for (expected, expressions) in [
        (true, [
            // Conditions come normalised.
            r#"cond("Ready").status == "True" && status.phase in ["Running", "Done"]"#,
            r#"cond("Synced").status == "False" && cond("Synced").reason in ["Failed", "Denied"]"#,
            r#"cond("Ready").message.startsWith("all") && cond("Ready").observedGeneration == metadata.generation"#,
            r#"cond("Ready").lastTransitionTime == "2025-03-01T10:00:05Z""#,
            // One that isn't there is empty and no failure.
            r#"cond("Stalled").status == "" && cond("Stalled").reason == "" && cond("Stalled").type == """#,
            r#"cond("Stalled").observedGeneration == 0 && cond("Stalled").lastTransitionTime == """#,
            r#"has(cond("Ready").status) && !has(cond("Stalled").status)"#,
            r#"["Ready", "Synced"].exists(t, cond(t).status == "False")"#,
            r#"phase() == "Running" && gen()"#,
            r#"metadata.name == "w" && metadata.namespace == "lab" && metadata.generation == 4"#,
            r#"metadata.creationTimestamp == "2025-03-01T10:00:00Z""#,
            r#"metadata.labels["tier"] == "gold" && "lab.example/paused" in metadata.annotations"#,
            r#"metadata.labels.all(key, key == "tier") && metadata.annotations.size() == 1"#,
            // Numbers.
            "status.replicas == spec.replicas && status.replicas >= 3 && status.load < 1.0",
            "status.replicas + 1 == 4 && status.replicas * 2 - 1 == 5 && status.replicas % 2 == 1 && -status.replicas < 0",
            "status.big > 1 && double(status.replicas) / 2.0 == 1.5 && int(status.load) == 0",
            "status.load == 0.5 ? status.ready : false",
            // Texts.
            r#"status.url.contains("widget") && status.url.endsWith(".example") && status.url.size() == 22"#,
            r#"status.url.matches("^https?://[a-z]+[.]") && !status.url.matches("[0-9]")"#,
            r#""https://" + metadata.name + "idget.example" == status.url && string(status.replicas) == "3""#,
            r#"'Running' == status.phase && status.phase < "Z""#,
            // Lists.
            r#"status.zones.size() == 2 && status.zones[0].name == "a" && size(status.zones[1].nodes) == 0"#,
            "status.zones.exists(z, z.ok) && !status.zones.all(z, z.ok) && status.zones.exists_one(z, z.ok)",
            "status.zones.filter(z, z.ok).size() == 1 && status.zones.filter(z, !z.ok)[0].name == 'b'",
            "status.zones.exists(z, z.nodes.exists(n, n == 2 && z.name == 'a'))",
            r#""a" in status.names && !("c" in status.names) && status.zones.all(z, z.name in spec.zones)"#,
            r#"status.names == spec.zones && status.names == ["a", "b"] && ["a", "b"] == status.names"#,
            r#"status.names != ["a"] && status.zones[0] == status.zones[0] && status.zones[0] != status.zones[1]"#,
            "status.names.filter(n, true) == status.names && status.names == status.names.filter(n, true)",
            "status.zones.filter(z, z.ok) == [status.zones[0]] && status.zones[0] in status.zones",
            // Presence, at any depth. Null is as if it weren't there.
            "has(status.phase) && has(status.empty) && !has(status.gone) && !has(status.nothing)",
            "!has(status.zones[7].name) && !has(status.gone[0].name) && has(status.zones[0].name)",
            "!has(status.gone.deeper.still) && !has(status.nothing.x) && has(spec.template.size)",
            r#"status.?gone.?deeper.orValue("none") == "none" && status.?phase.orValue("") == "Running""#,
            "status.?phase.hasValue() && !status.?gone.hasValue() && status.?zones[?7].hasValue() == false",
            "status.?gone.or(status.?phase).orValue('') == 'Running'",
            "status.?gone.orValue([]) == [] && [] == status.?gone.orValue([])",
            // What isn't there can't spoil what holds.
            "status.gone == 1 || status.ready",
            // Comments and lines.
            "status.ready // or not\n && true",
        ]
        .as_slice()),
        (false, [
            "status.gone == 1",
            "status.gone.deeper.still == 1",
            "!(status.gone == 1)",
            "status.nothing == 1",
            "status.nothing.deeper == 1",
            "status.gone",
            "status.?gone",
            "status.zones[7].ok",
            r#"metadata.labels["none"] == """#,
            "status.ready && status.gone == 1",
            r#"status.phase == 1"#,
            r#"phase() in []"#,
            "status.zones.exists(z, z.gone == 1)",
            "status.zones.all(z, z.gone == 1)",
        ]
        .as_slice()),
    ] {
        for expression in expressions {
            assert_eq!(holds(WIDGET, expression), Ok(expected), "{expression}");
        }
    }
}

#[test]
fn an_object_without_anything_answers_too() {
    for (expression, expected) in [
        (r#"phase() == "" && !has(status.phase) && !has(spec.a.b)"#, true),
        (r#"cond("Ready").status == """#, true),
        ("status == spec && status.size() == 0", true),
        ("gen()", true),
        ("has(metadata.generation) || has(metadata.creationTimestamp)", false),
        ("metadata.generation > 0", false),
        (r#"status.phase == """#, false),
        ("status.conditions.exists(c, true)", false),
    ] {
        assert_eq!(holds("{}", expression), Ok(expected), "{expression}");
    }
    assert_eq!(holds("{status: Running}", "has(status.phase) || phase() != ''"), Ok(false));
    assert_eq!(holds("{status: {phase: 3}}", "phase() == ''"), Ok(true));
}

#[test]
fn generations() {
    for (object, current) in [
        ("{metadata: {generation: 2}, status: {observedGeneration: 2}}", true),
        ("{metadata: {generation: 2}, status: {observedGeneration: 1}}", false),
        ("{metadata: {generation: 2}, status: {observedGeneration: '1'}}", false),
        ("{metadata: {generation: 2}, status: {}}", true),
        ("{status: {observedGeneration: 1}}", true),
        (
            "{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: A, observedGeneration: 1}]}}",
            false,
        ),
        (
            "{metadata: {generation: 2}, status: {observedGeneration: -1, conditions: [{type: A, observedGeneration: 2}]}}",
            true,
        ),
        (
            "{metadata: {generation: 2}, status: {conditions: [{type: A, observedGeneration: 2}, {type: B}]}}",
            true,
        ),
    ] {
        assert_eq!(holds(object, "gen()"), Ok(current), "{object}");
    }
}

#[test]
fn facts() {
    for (expression, expected) in [
        ("status.url", Some("https://widget.example")),
        ("status.replicas", Some("3")),
        ("status.load", Some("0.5")),
        ("status.big", Some("18446744073709551615")),
        ("status.ready", Some("true")),
        ("status.nothing", None),
        ("status.gone.deeper", None),
        ("status.?gone", None),
        ("status.?url", Some("https://widget.example")),
        ("status.zones.filter(z, !z.ok)[0].name", Some("b")),
        ("status.zones.filter(z, z.name == 'c')[0].name", None),
        (r#"string(status.replicas) + "/" + string(spec.replicas) + " ready""#, Some("3/3 ready")),
        (r#"status.ready ? "yes" : "no""#, Some("yes")),
        ("has(status.gone)", Some("false")),
    ] {
        assert_eq!(text(WIDGET, expression), Ok(expected.map(str::to_owned)), "{expression}");
    }
}

#[test]
fn a_fact_is_cleaned_and_cut() {
    let dirty = "{status: {a: \"x\\e[2J\\ny\"}}";
    assert_eq!(text(dirty, "status.a").unwrap().as_deref(), Some("x\u{fffd}[2J y"));
    let long = format!("{{status: {{a: {}}}}}", "x".repeat(2000));
    assert_eq!(text(&long, "status.a").unwrap().map(|text| text.len()), Some(512));
}

#[test]
fn what_cannot_be_done_is_said_in_plain_words() {
    for (expression, expected) in [
        ("status.phase", "it gives a text, not true or false"),
        ("status.zones", "it gives a list, not true or false"),
        ("status.phase && true", "`&&` can't be used on a text and a truth value"),
        ("status.phase > 1", "`>` can't be used on a text and a whole number"),
        ("status.phase + 1 == 'x'", "can't add a text and a whole number"),
        ("status.names + status.names == []", "`+` can't be used on a list and a list"),
        ("status.replicas - status.phase == 1", "can't sub a whole number and a text"),
        ("!status.phase", "`!` can't be used on a text"),
        ("-status.phase == 1", "`-` can't be used on a text"),
        ("status.phase.deeper == 1", "a text can't be asked for a text"),
        ("status.names.first == 'a'", "a list can't be asked for a text"),
        ("status.names['a'] == 'a'", "a list can't be asked for a text"),
        ("status.zones[0.5].ok", "a list can't be asked for a number"),
        ("has(status.phase.deeper)", "a text can't be looked for in a text"),
        ("'a' in status.phase", "a text can't be looked for in a text"),
        ("status.phase.all(c, true)", "a text has no entries to go through"),
        ("status.names.exists(n, n)", "`||` can't be used on a truth value and a text"),
        ("status.names.filter(n, n).size() == 0", "a text stands where a truth value must"),
        ("status.replicas.size() == 1", "`size` can't be used on a whole number"),
        ("status.replicas.matches('a')", "`matches` can't be used on a whole number and a pattern"),
        ("status.replicas / 0 == 1", "division by zero"),
        ("status.replicas % 0 == 1", "division by zero"),
        ("9223372036854775807 + status.replicas == 0", "a number becomes too large"),
        ("int(status.phase) == 1", "`int`: "),
        ("status.replicas ? true : false", "a whole number stands where a truth value must"),
        ("status.phase.orValue('x') == 'x'", "`orValue` can't be used on a text and a text"),
    ] {
        let Err(EvalError::Fault(message)) = holds(WIDGET, expression) else {
            panic!("{expression} doesn't fail: {:?}", holds(WIDGET, expression));
        };
        assert!(
            message.starts_with(expected) && !message.contains('\n'),
            "{expression}\n  expected {expected}\n  actual   {message}"
        );
    }
    assert_eq!(
        text(WIDGET, "status.names").unwrap_err().to_string(),
        "it gives a list, not a text or a number"
    );
}
