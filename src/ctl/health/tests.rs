#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::ctl::{
    args::Moment,
    testing::{Output, Streams},
};

fn judged(input: &str, output: Verdicts, now: Option<Moment>) -> Output {
    let files = vec![PathBuf::from("-")];
    answer(input, &HealthArgs { files, rules: Vec::new(), output, no_headers: false, now })
}

fn answer(input: &str, args: &HealthArgs) -> Output {
    let mut streams = Streams::of(input);
    let exit = run(args, false, &mut streams.io()).expect("an answer");
    streams.output(exit)
}

fn lines(input: &str) -> Vec<Value> {
    let output = judged(input, Verdicts::Json, None);
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    output.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn names(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["reference"]["name"].as_str().expect("a name")).collect()
}

#[test]
fn every_object_comes_out_in_order() {
    let lines = lines(
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "status": {"phase": "Running"}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "status": {"phase": "Failed"}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "status": {"phase": "Failed"}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "c-"}, "status": ["odd"]}
{"apiVersion": "v1", "kind": "Pod", "metadata": null, "status": 5}
{"apiVersion": "x.example/v1", "kind": "Novel"}
{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {}}, {"metadata": {"name": true, "labels": {"n": 5}}}]}
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "d"}}]}
"#,
    );
    assert_eq!(names(&lines), ["b", "a", "b", "c-", "", "", "", "true", "d"]);
    assert_eq!(
        lines[5].to_string(),
        r#"{"reference":{"apiVersion":"x.example/v1","group":"x.example","kind":"Novel","name":"","namespace":"","uid":""},"health":"Healthy","reason":"Exists","message":"","since":null,"rule":"convention/exists"}"#
            .parse::<Value>().unwrap()
            .to_string()
    );
    assert_eq!((&lines[1]["health"], &lines[2]["health"]), (&"Degraded".into(), &"Degraded".into()));
}

#[test]
fn what_is_no_object_is_passed_over_and_what_is_broken_is_named() {
    let output = judged(
        "image: 1\nmetadata: {labels: {a: b}}\n---\n{kind: PodList, apiVersion: v1}\n",
        Verdicts::Table,
        None,
    );
    assert_eq!((output.exit, &*output.stdout), (Exit::Success, ""));
    assert_eq!(
        output.stderr,
        "No objects found.\nnote: Kubernetes objects read: 0; other documents passed over: 2\n"
    );
    let output = judged(
        "a: [\n---\n{apiVersion: v1, kind: Node}\n---\n{kind: Pod, metadata: {name: a}}\n",
        Verdicts::Json,
        None,
    );
    assert_eq!((output.exit, output.stdout.lines().count()), (Exit::Failure, 1));
    assert_eq!(output.stderr.lines().count(), 2, "{}", output.stderr);
}

#[test]
fn a_definition_tells_whether_its_kind_reports_a_status() {
    let object = "{apiVersion: reefs.example/v1, kind: Reef, metadata: {name: a, creationTimestamp: '2025-03-01T10:00:00Z'}}";
    let definition = |version: &str, spec: &str| {
        format!(
            "{{apiVersion: apiextensions.k8s.io/{version}, kind: CustomResourceDefinition, metadata: {{name: c}}, \
             spec: {{group: reefs.example, names: {{kind: Reef}}, {spec}}}}}"
        )
    };
    for (definition, expected) in [
        (definition("v1", "versions: [{name: v1, subresources: {status: {}}}]"), "NotYetObserved"),
        (definition("v1beta1", "version: v1, subresources: {status: {}}"), "NotYetObserved"),
        (definition("v1beta1", "versions: [{name: v1}], subresources: {status: {}}"), "NotYetObserved"),
        (definition("v1", "versions: [{name: v2, subresources: {status: {}}}, {name: v1}]"), "Exists"),
        (definition("v1", "versions: {a: 1}, subresources: 5"), "Exists"),
    ] {
        for input in [format!("{object}\n---\n{definition}"), format!("{definition}\n---\n{object}")] {
            let lines = lines(&input);
            let reef = lines.iter().find(|line| line["reference"]["kind"] == "Reef").expect("the object");
            assert_eq!(reef["reason"], expected, "{input}");
        }
    }
}

#[test]
fn the_clock_is_that_of_the_input_unless_it_is_set() {
    let input = "{apiVersion: v1, kind: Pod, metadata: {name: a, creationTimestamp: '2025-03-01T10:00:00Z'}, \
                 status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, \
                 lastTransitionTime: '2025-03-01T10:00:00Z'}]}}";
    let at = |time: &str| Some(Moment::At(time.parse().unwrap()));
    for (now, expected) in [
        (None, "Progressing"),
        (at("2025-03-01T10:09:59Z"), "Progressing"),
        (at("2025-03-01T10:10:00Z"), "Degraded"),
        (Some(Moment::Now), "Degraded"),
    ] {
        let output = judged(input, Verdicts::Json, now);
        let line: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!((&line["health"], &line["since"]), (&expected.into(), &"2025-03-01T10:00:00Z".into()));
    }
}

const MIXED: &str = "\
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: ns}, status: {phase: Failed, message: MESSAGE}}
---
{apiVersion: a.example/v1, kind: Pod, metadata: {name: LONG}}
";

#[test]
fn the_table_fits_and_shows_the_worst_first() {
    let long = "x".repeat(70);
    let input = MIXED.replace("MESSAGE", &"long words ".repeat(20)).replace("LONG", &long);
    let output = judged(&input, Verdicts::Table, None);
    assert!(output.stdout.lines().all(|line| line.width() <= 80), "{}", output.stdout);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("HEALTH     SINCE"), "{}", output.stdout);
    assert!(lines[1].starts_with("Degraded   ") && lines[1].ends_with(" Pod ns/b"), "{}", output.stdout);
    assert!(lines[2].starts_with("    PodFailed: long words"), "{}", output.stdout);
    assert!(output.stdout.contains("ConfigMap a\n"), "{}", output.stdout);
    assert!(output.stdout.contains(&format!("Pod.a.example\n    {long}\n")), "{}", output.stdout);
}

#[test]
fn a_wide_table_has_a_line_an_object() {
    let output = judged(MIXED, Verdicts::Wide, None);
    let columns: Vec<Vec<&str>> =
        output.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(columns[0], ["KIND", "NAMESPACE/NAME", "HEALTH", "REASON", "SINCE", "MESSAGE"]);
    assert_eq!(columns[1][..3], ["Pod", "ns/b", "Degraded"]);
    assert_eq!(columns.len(), 4);
}

#[test]
fn many_objects_take_no_more_than_their_share() {
    let object = |n: usize| {
        format!(
            r#"{{"apiVersion":"g{}.example/v1","kind":"Thing","metadata":{{"name":"n{n}"}},"status":{{"conditions":[{{"type":"Ready","status":"True"}}]}}}}"#,
            n % 50
        )
    };
    let input: String = (0..5_000).map(|n| object(n) + "\n").collect();
    for output in [Verdicts::Json, Verdicts::Table, Verdicts::Wide] {
        let header = usize::from(output != Verdicts::Json);
        assert_eq!(judged(&input, output, None).stdout.lines().count(), 5_000 + header);
    }
}

#[test]
fn rules_of_a_folder_go_first_and_faults_in_them_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let object = "{apiVersion: reefs.example/v1, kind: Reef, metadata: {name: a}, status: {tide: low}}";
    let rule = "- match: {group: reefs.example, kind: Reef}\n  rows:\n  - {verdict: Degraded, reason: Dry, if: [{path: status.tide, in: [low]}]}\n";
    std::fs::write(folder.path().join("a.yaml"), rule).expect("a file");
    let args = HealthArgs {
        files: vec![PathBuf::from("-")],
        rules: vec![folder.path().to_owned()],
        output: Verdicts::Json,
        no_headers: false,
        now: None,
    };
    let output = answer(object, &args);
    let line: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    assert_eq!((&line["health"], &line["reason"]), (&"Degraded".into(), &"Dry".into()));
    assert_eq!(line["rule"], "rules/reefs.example.Reef#1");

    std::fs::write(
        folder.path().join("b.yaml"),
        "\n- match: {group: reefs.example}\n  rows: [{verdict: Fine}]\n",
    )
    .expect("a file");
    std::fs::write(folder.path().join("c.yaml"), "\n\n- rows: []\n").expect("a file");
    let output = answer(object, &args);
    assert_eq!(output.exit, Exit::Failure);
    let faults: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("error: ") && faults[0].contains("b.yaml:3: "), "{faults:?}");
    assert!(faults[1].contains("c.yaml:3: "), "{faults:?}");
    assert!(output.stdout.contains("Dry"));
}

/// A folder with a file of rules, and the arguments to judge standard input by it.
fn ruled(rules: &str, output: Verdicts) -> (tempfile::TempDir, HealthArgs) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("kilns.yaml"), rules).expect("a file");
    let (files, paths) = (vec![PathBuf::from("-")], vec![folder.path().to_owned()]);
    (folder, HealthArgs { files, rules: paths, output, no_headers: false, now: None })
}

fn kiln(name: &str, status: &str) -> String {
    format!(
        "{{apiVersion: pottery.example/v1, kind: Kiln, metadata: {{name: {name}}}, status: {status}}}\n---\n"
    )
}

#[test]
fn an_expression_without_an_answer_is_told_once_with_how_many_objects_it_failed_for() {
    let rules = "\n- match: {group: pottery.example, kind: Kiln}\n  rows:\n  - {verdict: Suspended, if: [{path: status.off}]}\n  \
                 - {verdict: Degraded, reason: TooHot, when: status.temperature > status.limit}\n  \
                 facts: [{name: door, value: status.door + 1}]\n";
    let (folder, args) = ruled(rules, Verdicts::Json);
    // What isn't there is no fault; an object whose status is empty is judged once, too.
    let input = kiln("north", "{}")
        + &kiln("south", "{temperature: 5}")
        + &kiln("east", "{temperature: hot, limit: 7}")
        + &kiln("west", "{temperature: 7, limit: [8], door: red}")
        + &kiln("hill", "{temperature: 7, limit: 8, door: red}");
    let output = answer(&input, &args);
    let place = format!("error: {}/kilns.yaml:2: in the rule that begins here, ", folder.path().display());
    let said: Vec<&str> = output.stderr.lines().map(|line| line.strip_prefix(&place).expect(line)).collect();
    assert_eq!(
        said,
        [
            "rows[1].when has no answer for 2 objects, the first Kiln east: `>` can't be used on a text and a whole number",
            "facts[0].value has no answer for 2 objects, the first Kiln west: can't add a text and a whole number",
        ]
    );
    assert_eq!((output.exit, output.stdout.lines().count()), (Exit::Failure, 5));

    let many: String = (0..30).map(|n| kiln(&format!("k{n}"), "{temperature: hot, limit: 7}")).collect();
    let (_folder, args) = ruled(rules, Verdicts::Table);
    let output = answer(&many, &args);
    assert!(output.stderr.contains("no answer for 20 objects, the first Kiln k0: "), "{}", output.stderr);
    assert!(output.stderr.ends_with("; it was switched off then\n"), "{}", output.stderr);
}

#[test]
fn facts_stand_in_json_where_there_are_any() {
    let rules = "- match: {group: pottery.example, kind: Kiln}\n  facts: [{name: door, at: status.door}, {name: glow, value: \"string(status.temperature) + ' C'\"}]\n";
    let (_folder, args) = ruled(rules, Verdicts::Json);
    let output = answer(&(kiln("east", "{door: red, temperature: 900}") + &kiln("west", "{x: 1}")), &args);
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["facts"], serde_json::json!({"door": "red", "glow": "900 C"}));
    assert_eq!(lines[1].get("facts"), None);
}

#[test]
fn a_folder_of_json_lines_is_read_and_one_of_nothing_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let args = || HealthArgs {
        files: vec![folder.path().to_owned()],
        rules: Vec::new(),
        output: Verdicts::Json,
        no_headers: false,
        now: None,
    };
    std::fs::write(at("notes.txt"), "apiVersion: v1").expect("a file");
    let output = answer("", &args());
    let named =
        format!("error: {} holds no .yaml, .yml, .json, .jsonl or .ndjson file\n", folder.path().display());
    assert_eq!((output.exit, &*output.stdout, &*output.stderr), (Exit::Failure, "", &*named));

    let pod = |name: &str| {
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{name}\"}}}}\n")
    };
    // A line that isn't closed doesn't swallow the next.
    let text = pod("a") + "{\"kind\": \"Pod\", \"metadata\":\n\n" + &pod("b") + "oops\n" + &pod("c");
    std::fs::write(at("dump.jsonl"), text).expect("a file");
    std::fs::write(at("more.ndjson"), pod("d")).expect("a file");
    let output = answer("", &args());
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((output.exit, names(&lines)), (Exit::Failure, vec!["a", "b", "c", "d"]));
    let errors: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    let file = at("dump.jsonl").display().to_string();
    assert!(errors[0].starts_with(&format!("error: {file}:2 (document 2): broken document: ")), "{errors:?}");
    assert!(errors[1].starts_with(&format!("error: {file}:5 (document 4): broken document: ")), "{errors:?}");
}
