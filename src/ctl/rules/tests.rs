#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::fs;

use super::*;
use crate::ctl::{
    args::{BookArgs, ListRulesArgs, Listing},
    testing::{Output, Streams},
};

fn answer(command: &RulesCommand) -> Output {
    let mut streams = Streams::of("");
    let exit = run(command, &mut streams.io()).expect("an answer");
    streams.output(exit)
}

fn list(paths: &[PathBuf]) -> Output {
    listed(paths, Listing::Table)
}

fn listed(paths: &[PathBuf], output: Listing) -> Output {
    let book = BookArgs { paths: paths.to_vec() };
    answer(&RulesCommand::List(ListRulesArgs { book, output }))
}

fn test(paths: &[PathBuf]) -> Output {
    answer(&RulesCommand::Test(BookArgs { paths: paths.to_vec() }))
}

const RULES: &str = "
- match: {group: reefs.example, kinds: [Reef, Lagoon]}
  deadline: 30m
  rows:
  - {verdict: Degraded, reason: Dry, if: [{path: status.tide, in: [low]}]}
  - {verdict: Healthy, when: 'status.tide == \"high\"'}
  facts: [{name: depth, at: status.depth}]
- match: {group: shores.example}
  rows: [{verdict: Healthy}]
";

const CASES: &str = "
- {name: dry, object: {apiVersion: reefs.example/v1, kind: Reef, status: {tide: low}}, health: Degraded, reason: Dry}
- name: wet
  object: {apiVersion: reefs.example/v1, kind: Lagoon, status: {tide: high, depth: 3}}
  health: Healthy
  facts: {depth: '3'}
";

fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let paths = vec![folder.path().to_owned()];
    (folder, paths)
}

#[test]
fn rules_are_listed_with_what_they_have() {
    let (folder, paths) = folder(&[
        ("reefs.yaml", RULES),
        ("reefs.cases.yaml", CASES),
        ("kilns.json", &object("kilns", "combine: {identifiers: [a, b], quorums: [{atLeast: 1}]}")),
    ]);
    let output = list(&paths);
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    let shown = |output: &str| output.replace(&format!("{}/", folder.path().display()), "");
    let lines: Vec<String> = output.stdout.lines().map(&shown).collect();
    assert_eq!(
        lines,
        [
            "NAME                   CASES",
            "StatusRule/kilns       0",
            "    kilns.json:1: add-ons a, b",
            "    combine",
            "rules/reefs.example    2",
            "    reefs.yaml:2: Reef, Lagoon of reefs.example",
            "    2 rows, 1 fact, deadline",
            "rules/shores.example   0",
            "    reefs.yaml:8: every kind of shores.example",
            "    1 row",
        ]
    );
    let wide = listed(&paths, Listing::Wide).stdout;
    let columns: Vec<Vec<String>> =
        wide.lines().map(|line| shown(line).split_whitespace().map(str::to_owned).collect()).collect();
    assert_eq!(columns[0], ["NAME", "FILE", "GROUP", "CASES", "HAS", "KINDS"]);
    assert_eq!(
        columns[1],
        ["StatusRule/kilns", "kilns.json:1", "<none>", "0", "combine", "add-ons", "a,", "b"]
    );
    assert_eq!(columns[2][..4], ["rules/reefs.example", "reefs.yaml:2", "reefs.example", "2"]);
}

#[test]
fn cases_that_fail_are_named_with_their_place() {
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", CASES)]);
    let output = test(&paths);
    assert_eq!(output.exit, Exit::Success, "{}", output.stdout);
    let summary = "2 rules, 2 cases, 0 failures; without a case: 1 rule\n";
    assert_eq!((&*output.stdout, &*output.stderr), (summary, ""));

    let wrong = CASES.replace("health: Healthy", "health: Suspended").replace("reason: Dry", "reason: Wet");
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", &wrong)]);
    let output = test(&paths);
    assert_eq!(output.exit, Exit::Failure);
    let longest = output.stdout.lines().filter(|line| line.starts_with(' ')).map(str::len).max();
    assert!(longest.is_some_and(|longest| longest <= 80), "{}", output.stdout);
    let joined = output.stdout.replace("\n    ", " ");
    let lines: Vec<&str> = joined.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].ends_with(
            "reefs.cases.yaml:2: dry: expected Degraded Wet, got Degraded Dry by rules/reefs.example#1"
        ),
        "{lines:?}"
    );
    assert!(lines[1].contains("reefs.cases.yaml:3: wet: expected Suspended, got Healthy "), "{lines:?}");
    assert!(lines[2].contains("2 failures"), "{lines:?}");

    let wrong = CASES.replace("depth: '3'", "depth: '4'");
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", &wrong)]);
    let output = test(&paths);
    let joined = output.stdout.replace("\n    ", " ");
    assert!(joined.contains("wet: expected the fact depth to be 4, got 3\n"), "{joined}");
}

#[test]
fn a_case_that_is_not_right_is_named_and_the_others_are_run() {
    let more = "\n- {name: late, object: {apiVersion: v1, kind: Pod}, health: Healthy, now: yesterday}\n\
                - {name: well, object: {apiVersion: v1, kind: Pod}, health: Fine}\n\
                - {name: bare, health: Healthy}\n- {name: mute, object: {apiVersion: v1, kind: Pod}}\n- {health: Healthy}\n";
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", &format!("{CASES}{more}"))]);
    let output = test(&paths);
    assert_eq!(output.exit, Exit::Failure);
    assert!(output.stdout.starts_with("2 rules, 2 cases, 0 failures"), "{}", output.stdout);
    let faults: Vec<&str> = output.stderr.lines().collect();
    let told = [
        ": late: now: ",
        ": well: health: unknown variant `Fine`",
        ": bare: it has no object",
        ": mute: it has no health",
        ": a case has no name",
    ];
    assert_eq!(faults.len(), told.len(), "{faults:?}");
    let first = format!("{CASES}\n").lines().count() + 1;
    for (n, (fault, told)) in faults.iter().zip(told).enumerate() {
        assert!(fault.contains(&format!("reefs.cases.yaml:{}{told}", first + n)), "{fault}");
    }
}

#[test]
fn faults_in_files_are_named_with_their_place() {
    let (_folder, paths) = folder(&[
        ("a.yaml", "\n- match: {group: a.example}\n  rows: [{verdict: Healthy, when: 'status.x =='}]\n"),
        ("b.yaml", "- match: {group: b.example}\n  rows: {}\n"),
        ("c.yaml", RULES),
        ("c.cases.yaml", "\n- {name: n, object: {}, health: Fine}\n"),
        ("d.txt", "no rules"),
    ]);
    for output in [list(&paths), test(&paths)] {
        let lines: Vec<&str> = output.stderr.lines().collect();
        assert_eq!((output.exit, lines.len()), (Exit::Failure, 3), "{lines:?}");
        for (line, place) in lines.iter().zip(["a.yaml:2: ", "b.yaml:2: ", "c.cases.yaml:2: "]) {
            assert!(line.starts_with("error: ") && line.contains(place), "{line}");
            assert!(
                !line[1..].contains("error:") && !line.contains("at line"),
                "the place stands once: {line}"
            );
        }
        assert!(lines[0].contains("rows[0].when"), "{lines:?}");
    }
    let output = list(&["/nonexistent/rules".into()]);
    assert_eq!((output.exit, output.stderr.lines().count()), (Exit::Failure, 1), "{}", output.stderr);
}

/// A `StatusRule` in JSON, with a spec in YAML.
fn object(name: &str, spec: &str) -> String {
    let spec: serde_json::Value = serde_saphyr::from_str(spec).expect("a spec");
    serde_json::json!({
        "apiVersion": "addons.x-k8s.io/v1alpha1", "kind": "StatusRule", "metadata": {"name": name}, "spec": spec,
    })
    .to_string()
}

const KILNS: &str = "match: {group: pottery.example, kind: Kiln}\nrows: [{verdict: Healthy}]";

#[test]
fn what_holds_no_rules_is_told_with_its_name() {
    for (name, text, told) in [
        ("x.yaml", "", "x.yaml:1: holds no rule"),
        ("x.yaml", "# nothing\n---\n", "x.yaml:1: holds no rule"),
        ("x.yaml", "[]", "x.yaml:1: holds no rule"),
        (
            "x.yml",
            "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
            "x.yml:2: is a ConfigMap of v1, and no rule: a StatusRule of addons.x-k8s.io/v1alpha1, or a list of specs is",
        ),
        (
            "x.json",
            r#"{"apiVersion": "addons.x-k8s.io/v1", "kind": "StatusRule"}"#,
            "x.json:1: is a StatusRule of addons.x-k8s.io/v1, and no rule: ",
        ),
        ("x.yaml", "hello", "x.yaml:1: is no rule: "),
        ("x.yaml", "match: {group: a}\n", "x.yaml:1: is no rule, it lacks apiVersion or kind: "),
        (
            "x.yaml",
            "apiVersion: addons.x-k8s.io/v1alpha1\nkind: StatusRule\nmetadata: {}\nspec: {}\n",
            "x.yaml:3: missing field `name`",
        ),
        ("x.yaml", CASES, "x.yaml:2: holds cases, not rules: those of x.yaml stand in x.cases.yaml"),
        ("x.txt", KILNS, ": no file of rules is in it: none ends in .yaml, .yml or .json"),
    ] {
        let (_folder, paths) = folder(&[(name, text)]);
        for output in [list(&paths), test(&paths)] {
            assert_eq!((output.exit, output.stderr.lines().count()), (Exit::Failure, 1), "{}", output.stderr);
            assert!(output.stderr.contains(told), "{text}\n  expected {told}\n  actual   {}", output.stderr);
        }
        let own = read(&paths);
        assert_eq!((own.rules().len(), own.is_right()), (0, false), "{text}");
    }
}

#[test]
fn two_rules_for_one_kind_are_told_with_both_places() {
    let more = object("other", "match: {group: pottery.example, kinds: [Oven, Kiln]}\ndeadline: 1h");
    let (folder, paths) = folder(&[("a.json", &object("kilns", KILNS)), ("b.yml", &more), ("c.yaml", RULES)]);
    let place = |file: &str| format!("{}:1", folder.path().join(file).display());
    let told = format!(
        "error: {}: the rule that begins here judges Kiln.pottery.example, and so does the one at {}: make one of them\n",
        place("b.yml"),
        place("a.json")
    );
    let output = list(&paths);
    assert_eq!((output.exit, &*output.stderr), (Exit::Failure, &*told));
    assert!(!output.stdout.contains("StatusRule/other"), "{}", output.stdout);
    let own = read(&paths);
    let judging = own.in_force().of_kind("pottery.example", "Kiln").users();
    assert_eq!((judging, own.is_right()), (1, false));

    // They may also stand in two folders, and a file may be named twice.
    let both = [folder.path().join("b.yml"), folder.path().join("b.yml"), folder.path().join("a.json")];
    assert_eq!(list(&both).stderr.lines().count(), 1);
    assert_eq!(list(&both[..2]).exit, Exit::Success);

    // What only extracts facts goes with one that judges, and a rule for a group with one for a kind.
    let facts =
        object("facts", "match: {group: pottery.example, kind: Kiln}\nfacts: [{name: a, at: status.a}]");
    let group = object("group", "match: {group: pottery.example}\nrows: [{verdict: Healthy}]");
    let kilns = object("kilns", KILNS);
    let (_folder, paths) = self::folder(&[("a.json", &kilns), ("b.json", &facts), ("c.json", &group)]);
    assert_eq!((list(&paths).exit, list(&paths).stderr), (Exit::Success, String::new()));

    let (_folder, paths) = self::folder(&[("a.json", &facts), ("b.json", &facts)]);
    let said = list(&paths).stderr;
    assert!(
        said.contains("b.json:1: there is a StatusRule/facts at ") && said.contains("a.json:1 already"),
        "{said}"
    );
}

#[test]
fn rules_without_cases_and_cases_without_rules_are_told() {
    let (_folder, paths) =
        folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", CASES), ("kilns.yml", &object("kilns", KILNS))]);
    let output = test(&paths);
    assert_eq!((output.exit, output.stderr.lines().count()), (Exit::Success, 1), "{}", output.stderr);
    assert!(output.stderr.starts_with("note: "), "{}", output.stderr);
    assert!(
        output.stderr.ends_with("/kilns.yml: no cases beside it (kilns.cases.yaml)\n"),
        "{}",
        output.stderr
    );

    let (_folder, paths) = folder(&[("kilns.yaml", &object("kilns", KILNS))]);
    let output = test(&paths);
    assert_eq!(
        (output.exit, &*output.stdout),
        (Exit::Failure, "1 rule, 0 cases, 0 failures; without a case: 1 rule\n")
    );
    assert_eq!(output.stderr.lines().last(), Some("error: no case was run"));
    assert_eq!(list(&paths).exit, Exit::Success);

    let (_folder, paths) =
        folder(&[("reefs.yaml", RULES), ("reefs.cases.yml", CASES), ("reef.cases.yaml", CASES)]);
    let output = test(&paths);
    assert_eq!(output.exit, Exit::Failure);
    assert!(output.stdout.starts_with("2 rules, 2 cases, 0 failures"), "{}", output.stdout);
    let told = "/reef.cases.yaml: holds cases, and no file of rules is beside it (reef.yaml)\n";
    assert!(output.stderr.ends_with(told) && output.stderr.lines().count() == 1, "{}", output.stderr);

    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", "# none yet\n")]);
    let output = test(&paths);
    assert!(
        output.exit == Exit::Failure && output.stderr.contains("reefs.cases.yaml:1: holds no cases"),
        "{}",
        output.stderr
    );
}

#[test]
fn the_built_in_rules_are_listed_and_their_cases_run() {
    let output = list(&[]);
    assert_eq!(output.exit, Exit::Success, "{}", output.stderr);
    assert!(output.stdout.contains("\n    cert-manager.io.yaml:"), "{}", output.stdout);
    assert!(output.stdout.lines().all(|line| line.len() <= 80), "{}", output.stdout);
    // Whether they hold is what the test of the rules tells.
    let output = test(&[]);
    let summary = output.stdout.lines().last().expect("a summary");
    let cases = summary.split(' ').nth(2).and_then(|count| count.parse().ok());
    assert!(cases.is_some_and(|cases: usize| cases > 50), "{summary}");
}
