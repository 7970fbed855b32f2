#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::fs;

use super::*;

struct Output {
    exit: Exit,
    stdout: String,
    stderr: String,
}

fn answer(command: &RulesCommand) -> Output {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdin: &mut io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        colour: false,
        columns: Some(80),
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let exit = run(command, &mut io).expect("an answer");
    Output { exit, stdout: String::from_utf8(stdout).unwrap(), stderr: String::from_utf8(stderr).unwrap() }
}

fn list(paths: &[PathBuf]) -> Output {
    answer(&RulesCommand::List(BookArgs { paths: paths.to_vec() }))
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
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", CASES)]);
    let output = list(&paths);
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    assert_eq!(
        output.stdout,
        "GROUP            CASES   HAS\n\
         reefs.example    2       2 rows, 1 fact, deadline\n    Reef, Lagoon\n\
         shores.example   0       1 row\n    every kind\n"
    );
}

#[test]
fn cases_that_fail_are_named_with_their_place() {
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", CASES)]);
    let output = test(&paths);
    assert_eq!(output.exit, Exit::Success, "{}", output.stdout);
    assert_eq!(output.stdout, "2 rules, 2 cases, 0 failures; without a case: 1 rule\n");

    let wrong = CASES.replace("health: Healthy", "health: Suspended").replace("reason: Dry", "reason: Wet");
    let (_folder, paths) = folder(&[("reefs.yaml", RULES), ("reefs.cases.yaml", &wrong)]);
    let output = test(&paths);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!((output.exit, lines.len()), (Exit::Failure, 3));
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
    assert!(output.stdout.contains("wet: expected the fact depth to be 4, got 3\n"), "{}", output.stdout);
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
        }
        assert!(lines[0].contains("rows[0].when"), "{lines:?}");
    }
    let output = list(&["/nonexistent/rules".into()]);
    assert_eq!((output.exit, output.stderr.lines().count()), (Exit::Failure, 1), "{}", output.stderr);
    let (_folder, paths) = folder(&[]);
    assert_eq!(list(&paths).stderr, "No rules found.\n");
}

#[test]
fn the_built_in_rules_are_listed_and_their_cases_run() {
    let output = list(&[]);
    assert_eq!(output.exit, Exit::Success, "{}", output.stderr);
    assert!(output.stdout.contains("\ncert-manager.io "), "{}", output.stdout);
    // Whether they hold is what the test of the rules tells.
    let output = test(&[]);
    let summary = output.stdout.lines().last().expect("a summary");
    let cases = summary.split(' ').nth(2).and_then(|count| count.parse().ok());
    assert!(cases.is_some_and(|cases: usize| cases > 50), "{summary}");
}
