//! `addonctl` as it is called: exit codes, streams, hints and input that nobody wishes for.

#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_addonctl"));
    command
        .args(arguments)
        .env_remove("KUBECONFIG")
        .env("HOME", "/nonexistent")
        .env_remove("KUBERNETES_SERVICE_HOST");
    command
}

fn addonctl(arguments: &[&str], input: &str) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("addonctl starts");
    let mut stdin = child.stdin.take().expect("stdin");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("addonctl ends");
    // It may have ended before it read everything.
    let _ = writer.join().expect("the writer ends");
    output
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

fn config_map(name: &str, label: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels:\n    addons.x-k8s.io/{label}: ''\n---\n"
    )
}

fn items(input: &str) -> Vec<Value> {
    let output = addonctl(&["list", "-o", "json", "-f", "-"], input);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    list["items"].as_array().expect("items").clone()
}

#[test]
fn a_broken_document_is_named_and_the_rest_is_shown() {
    let input = format!("{}a: [b\n---\n{}", config_map("one", "dns"), config_map("two", "dns"));
    for format in ["table", "json"] {
        let output = addonctl(&["list", "-o", format, "-f", "-"], &input);
        assert_eq!(output.status.code(), Some(1));
        assert!(stdout(&output).contains("2/2"), "{}", stdout(&output));
        let errors = stderr(&output);
        assert!(errors.starts_with("error: standard input:"), "{errors}");
        assert!(
            errors.contains("(document 2): broken document: ") && errors.lines().count() == 1,
            "{errors}"
        );
    }
}

#[test]
fn a_labelled_document_that_is_no_object_is_named() {
    let labelled = config_map("one", "dns");
    for unusable in [
        labelled.replace("apiVersion: v1\n", ""),
        labelled.replace("kind: ConfigMap\n", ""),
        labelled.replace("name: one", "generateName: one-"),
        labelled.replace("name: one", "name: y"),
        labelled.replace("name: one", "name: 12"),
    ] {
        let output = addonctl(&["list", "-f", "-"], &unusable);
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("error: standard input:1 (document 1): "), "{errors}");
        assert!(errors.contains(" was passed over: "), "{errors}");
    }
}

#[test]
fn what_is_not_there_is_12_and_nonsense_is_2() {
    let input = config_map("one", "dns");
    let output = addonctl(&["describe", "mesh", "-f", "-"], &input);
    assert_eq!(output.status.code(), Some(12));
    assert!(stderr(&output).starts_with("error: there is no add-on 'mesh'\nhint: "), "{}", stderr(&output));
    for nonsense in [&["describe", "a/b", "-f", "-"][..], &["list", "-o", "xml"], &["lst"], &[]] {
        let output = addonctl(nonsense, "");
        assert_eq!(output.status.code(), Some(2), "{nonsense:?}");
        assert!(!stderr(&output).is_empty() && output.stdout.is_empty());
    }
}

#[test]
fn an_empty_list_says_how_to_go_on() {
    let output = addonctl(&["list", "-f", "-"], "image: {tag: 1}\n");
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""));
    assert_eq!(
        stderr(&output),
        "No add-ons found.\n\
         hint: label any object to make one: kubectl label KIND NAME addons.x-k8s.io/IDENTIFIER=\n\
         note: Kubernetes objects read: 0; other documents passed over: 1\n"
    );
    assert!(items("").is_empty());
}

#[test]
fn identifiers_at_their_limits_and_case_twins_stay_apart() {
    let longest = "L".repeat(63);
    let identifiers = ["a", "Foo", "foo", "FOO", "my_addon", "my-addon", "a..b", "a.b", &longest];
    let input: String = identifiers
        .iter()
        .enumerate()
        .map(|(n, identifier)| config_map(&format!("m{n}"), identifier))
        .collect();
    let items = items(&input);
    assert_eq!(items.len(), identifiers.len());
    let mut names: Vec<&str> = items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted());
    names.dedup();
    assert_eq!(names.len(), identifiers.len());
    for identifier in identifiers {
        let output = addonctl(&["describe", identifier, "-f", "-"], &input);
        assert!(stdout(&output).contains(&format!("Identifier:  {identifier}\n")), "{}", stderr(&output));
    }
    // One more byte is no label.
    assert!(self::items(&config_map("a", &"L".repeat(64))).is_empty());
}

#[test]
fn one_object_may_belong_to_twenty_add_ons() {
    let labels: String = (0..20).map(|n| format!("    addons.x-k8s.io/addon-{n}: ''\n")).collect();
    let input = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared\n  labels:\n{labels}");
    let output = addonctl(&["list", "-o", "name", "-f", "-"], &input);
    assert_eq!(stdout(&output).lines().count(), 20);
    assert!(stdout(&output).starts_with("addon.addons.x-k8s.io/addon-"), "{}", stdout(&output));
}

#[test]
fn a_message_of_a_mebibyte_is_cut() {
    let input = format!(
        "apiVersion: reefs.example/v1\nkind: Reef\nmetadata: {{name: big, labels: {{addons.x-k8s.io/reef: ''}}}}\n\
         status: {{conditions: [{{type: Ready, status: 'False', reason: Broken, message: \"{}\\0\\e[31m\"}}]}}\n",
        "容".repeat(350_000)
    );
    for arguments in [
        &["list", "-o", "wide", "-f", "-"][..],
        &["describe", "reef", "-f", "-"],
        &["list", "-o", "json", "-f", "-"],
    ] {
        let output = addonctl(arguments, &input);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("容...") && output.stdout.len() < 10_000, "{}", output.stdout.len());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let input: String = (0..1_000).map(|n| config_map(&format!("m{n}"), &format!("addon-{n}"))).collect();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("all.yaml"), input).expect("a file");
    let mut child = command(&["list", "-o", "json", "-f", folder.path().to_str().expect("UTF-8")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("addonctl starts");
    let mut first = [0; 1];
    child.stdout.take().expect("stdout").read_exact(&mut first).expect("a byte");
    let output = child.wait_with_output().expect("addonctl ends");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let input = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {addons.x-k8s.io/dns: ''}}\nstatus: {phase: Failed}\n";
    let plain = addonctl(&["list", "-f", "-"], input);
    assert!(!plain.stdout.contains(&0x1b));
    let coloured = addonctl(&["list", "--color", "always", "-f", "-"], input);
    assert!(coloured.stdout.contains(&0x1b), "{}", stdout(&coloured));
}

#[test]
fn help_teaches_by_example() {
    for arguments in [
        &["--help"][..],
        &["list", "--help"],
        &["describe", "--help"],
        &["health", "--help"],
        &["rules", "--help"],
    ] {
        let output = addonctl(arguments, "");
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Examples:\n"), "{}", stdout(&output));
    }
}

#[test]
fn verdicts_are_the_same_bytes_each_time_in_the_order_of_the_input() {
    let pod = |name: &str, phase: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{{name}}}\nstatus: {{phase: {phase}}}\n---\n")
    };
    let input =
        [pod("name: b", "Running"), pod("name: a", "Failed"), pod("", "Odd"), pod("name: b", "Failed")];
    let judged = || addonctl(&["health", "-o", "json", "-f", "-"], &input.concat());
    let output = judged();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = lines.iter().map(|line| line["reference"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["b", "a", "", "b"]);
    assert_eq!(output.stdout, judged().stdout);

    for nonsense in [&["health"][..], &["health", "-f", "-", "--now", "soon"], &["rules"]] {
        assert_eq!(addonctl(nonsense, "").status.code(), Some(2), "{nonsense:?}");
    }
}

fn kubeconfig(folder: &Path, port: u16) -> String {
    let path = folder.join("config");
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: k, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]\n\
         users: [{{name: u, user: {{}}}}]\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n"
    );
    std::fs::write(&path, config).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_doctor_without_a_server_says_so_once_and_takes_no_nonsense() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let config = kubeconfig(folder.path(), listener.local_addr().expect("an address").port());
    drop(listener);
    let doctor = ["doctor", "--kubeconfig", &config, "--request-timeout", "2s"];
    let output = addonctl(&doctor, "");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.starts_with("FAIL  server") && said.ends_with("0 ok, 0 to look at, 1 failed\n"), "{said}");
    let json = addonctl(&[&doctor[..], &["-o", "json"]].concat(), "");
    assert_eq!(json.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&json["fail"], &json["checks"][0]["check"]), (&1.into(), &"server".into()), "{json}");

    for nonsense in [
        &["--marker-label", "addons.x-k8s.io/marked"][..],
        &["--marker-label", "a b"],
        &["--controller", "127.0.0.1:8080"],
        &["-n", "a/b"],
        &["-o", "yaml"],
        &["ingress"],
    ] {
        let output = addonctl(&[&["doctor"][..], nonsense].concat(), "");
        assert_eq!(output.status.code(), Some(2), "{nonsense:?}");
        assert!(!stderr(&output).is_empty() && output.stdout.is_empty(), "{nonsense:?}");
    }
    let missing = addonctl(&["doctor", "--kubeconfig", "/nonexistent/config"], "");
    assert_eq!((missing.status.code(), stderr(&missing).lines().count()), (Some(1), 2));
}

#[test]
fn a_dead_server_is_one_line_and_a_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let config = kubeconfig(folder.path(), port);
    // First it takes connections and never answers, then it is gone.
    let mut listener = Some(listener);
    for expected in ["", "Connection refused"] {
        for live in [&[][..], &["--live"]] {
            let begin = Instant::now();
            let arguments = ["list", "--kubeconfig", &config, "--request-timeout", "1s"];
            let output = addonctl(&[&arguments[..], live].concat(), "");
            let errors = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{errors}");
            assert!(
                errors
                    .starts_with(&format!("error: can't reach the API server at http://127.0.0.1:{port}: ")),
                "{errors}"
            );
            assert!(
                errors.contains(expected) && errors.contains("\nhint: ") && errors.lines().count() == 2,
                "{errors}"
            );
            assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        }
        drop(listener.take());
    }
}

/// An API server that gives to each path what `answer` says: a status and a body.
fn api_server(answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(&stream).lines();
            let request = lines.next().expect("a request").expect("UTF-8");
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let (status, body) = answer(request.split(['?', ' ']).nth(1).expect("a path"));
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            // Who asked may have gone away.
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    port
}

fn refusal(status: u16, reason: &str, message: &str) -> (u16, String) {
    let body = serde_json::json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": status, "reason": reason, "message": message});
    (status, body.to_string())
}

/// What a server of `ConfigMap` objects and Widgets serves; Widgets may not be listed.
fn narrow(path: &str) -> (u16, String) {
    let discovery = |group: &str, kind: &str, plural: &str| {
        serde_json::json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": [{"metadata": {"name": group}, "versions": [{"version": "v1", "freshness": "Current", "resources": [{
            "resource": plural, "scope": "Namespaced", "verbs": ["get", "list", "watch"],
            "responseKind": {"group": group, "version": "v1", "kind": kind}}]}]}]})
    };
    let body = match path {
        "/api" => discovery("", "ConfigMap", "configmaps"),
        "/apis" => discovery("example.com", "Widget", "widgets"),
        "/api/v1/configmaps" => serde_json::json!({"kind": "ConfigMapList", "apiVersion": "v1",
            "metadata": {"resourceVersion": "1"}, "items": [{"kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"name": "a", "namespace": "b", "uid": "1", "labels": {"addons.x-k8s.io/dns": ""}}}]}),
        "/apis/example.com/v1/widgets" => return refusal(403, "Forbidden", "widgets is forbidden"),
        _ => return refusal(404, "NotFound", "the server could not find the requested resource"),
    };
    (200, body.to_string())
}

#[test]
fn what_may_be_among_what_could_not_be_read_is_not_said_to_be_absent() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = kubeconfig(folder.path(), api_server(narrow));
    let broken = "a: [b\n";
    let live = ["--live", "--kubeconfig", &config];
    let none = "none.example";
    for (source, input) in [(&live[..], ""), (&["-f", "-"], broken)] {
        let output = addonctl(&[&["describe", "mesh"], source].concat(), input);
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.ends_with("error: the add-on 'mesh' is not in what could be read\n"), "{errors}");

        let other_prefix = [&["list", "--label-prefix", none], source].concat();
        let output = addonctl(&other_prefix, input);
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("No add-ons found in what could be read.\n"), "{errors}");
        assert!(!errors.contains("hint: label"), "{errors}");
    }
    let output = addonctl(&[&["describe", "dns"], &live[..]].concat(), "");
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("ConfigMap b/a"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("  Widget.example.com: widgets is forbidden (403)\n"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_is_computed_here_does_not_say_that_it_is_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = kubeconfig(folder.path(), api_server(narrow));
    let input = config_map("one", "dns");
    for source in [&["--live", "--kubeconfig", &config][..], &["-f", "-"]] {
        for arguments in [&["describe", "dns"][..], &["list", "-o", "json"]] {
            let output = addonctl(&[arguments, source].concat(), &input);
            assert!(
                stdout(&output).contains("AllHealthy") && !stdout(&output).contains("Observed"),
                "{}",
                stdout(&output)
            );
        }
    }
}

#[test]
fn a_server_that_refuses_is_one_line_and_a_hint_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    for (status, reason, expected) in [
        (401, "Unauthorized", "doesn't accept these credentials: no\nhint: log in again"),
        (403, "Forbidden", "the API server refused: no\nhint: ask for 'get' "),
        (500, "InternalError", "answered 500: no\n"),
    ] {
        let config = kubeconfig(folder.path(), api_server(move |_| refusal(status, reason, "no")));
        for arguments in [&["list"][..], &["list", "--live"], &["describe", "dns", "--live"]] {
            let output = addonctl(&[arguments, &["--kubeconfig", &config]].concat(), "");
            let errors = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{errors}");
            assert!(errors.contains(expected) && errors.lines().count() <= 2, "{errors}");
        }
    }
}

#[test]
fn a_missing_configuration_is_one_line_and_a_hint() {
    let hint = "hint: -f FILE reads files instead of asking a cluster\n";
    let none = "error: no cluster to talk to: ";
    let missing = "error: there is no kubeconfig /nonexistent/config\n";
    for (arguments, expected) in [
        (&["list"][..], none),
        (&["list", "--live"], none),
        (&["describe", "dns"], none),
        (&["list", "--kubeconfig", "/nonexistent/config"], missing),
    ] {
        let output = addonctl(arguments, "");
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.starts_with(expected) && errors.ends_with(hint), "{errors}");
        assert_eq!(errors.lines().count(), 2, "{errors}");
    }
    let named = command(&["list"]).env("KUBECONFIG", "/nonexistent/config").output().expect("addonctl runs");
    assert_eq!(stderr(&named), format!("{missing}{hint}"));
}

#[test]
fn why_leads_from_an_add_on_in_files_to_the_last_cause() {
    let input = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: lab, uid: d1, labels: {addons.x-k8s.io/shop: ''}}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
status: {replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: lab, uid: r1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}]}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
status: {replicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-x, namespace: lab, uid: p1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r1, controller: true}]}
status: {phase: Pending, containerStatuses: [{name: web, ready: false, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: lab, labels: {addons.x-k8s.io/calm: ''}}
"#;
    let output = addonctl(&["why", "shop", "-f", "-"], input);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let tree = stdout(&output);
    let pod = tree.lines().position(|line| line.contains("Pod lab/web-1-x: Degraded (ImagePullBackOff)"));
    let deployment = tree.lines().position(|line| line.contains("Deployment lab/web: "));
    assert!(deployment < pod && deployment.is_some(), "{tree}");
    assert!(tree.contains("container web: no such image") && tree.contains("[builtin/Pod]"), "{tree}");

    let output = addonctl(&["why", "calm", "-f", "-"], input);
    assert!(stdout(&output).starts_with("calm: Healthy (AllHealthy), 1/1 healthy\n"), "{}", stdout(&output));
    let output = addonctl(&["why", "none", "-f", "-"], input);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
}
