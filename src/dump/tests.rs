#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::fs;

use proptest::prelude::*;

use super::*;

fn read(text: impl AsRef<[u8]>) -> Dump {
    let mut reader = Reader::new(|_| true);
    reader.stream("dump.yaml", text.as_ref());
    reader.finish()
}

/// `Kind.group/version namespace/name` of each object, sorted.
fn names(dump: &Dump) -> Vec<String> {
    let mut names: Vec<String> = dump
        .objects
        .iter()
        .map(|object| {
            let reference = &object.reference;
            format!("{} {reference}", reference.kind.api_version())
        })
        .collect();
    names.sort();
    names
}

fn problems(dump: &Dump) -> Vec<String> {
    dump.problems.iter().map(ToString::to_string).collect()
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns}}\n")
}

#[test]
fn a_broken_document_is_reported_and_the_others_are_read() {
    let dump = read(format!(
        "{}---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [unclosed\n---\n{}---\na: b: c\n---\n{}",
        config_map("one"),
        config_map("two"),
        config_map("three"),
    ));
    assert_eq!(names(&dump), ["v1 ConfigMap ns/one", "v1 ConfigMap ns/three", "v1 ConfigMap ns/two"]);
    let problems = problems(&dump);
    assert_eq!(problems.len(), 2, "{problems:?}");
    let [Problem::Broken { place: first, .. }, Problem::Broken { place: second, .. }] = &dump.problems[..]
    else {
        panic!("{problems:?}");
    };
    assert!((8..=9).contains(&first.line), "{first}");
    assert_eq!((first.document, second.line, second.document), (2, 14, 4));
    assert!(problems[1].starts_with("dump.yaml:14 (document 4): broken document: "), "{}", problems[1]);
    assert!(problems.iter().all(|problem| !problem.contains('\n')), "{problems:?}");
}

#[test]
fn json_is_read_whole_in_lines_and_after_a_broken_value() {
    let object = |name: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","labels":{{"a":"b\u001b"}}}}}}"#
        )
    };
    let dump = read(format!("\u{feff}{}{}\n[{}]\n", object("a"), object("b"), object("c")));
    assert_eq!(names(&dump), ["v1 ConfigMap a", "v1 ConfigMap b", "v1 ConfigMap c"]);
    assert!(dump.problems.is_empty(), "{:?}", dump.problems);

    let dump =
        read(format!("{}\n{{\"apiVersion\": \n{}\n\t{{\"a\" 1}}\n{}", object("a"), object("b"), object("c")));
    assert_eq!(names(&dump), ["v1 ConfigMap a", "v1 ConfigMap b", "v1 ConfigMap c"]);
    let places: Vec<String> = problems(&dump).iter().map(|text| text[..14].to_owned()).collect();
    assert_eq!(places, ["dump.yaml:4 (d", "dump.yaml:4 (d"], "{:?}", dump.problems);
}

#[test]
fn what_stands_before_the_end_of_a_list_that_is_cut_off_is_read() {
    let object = |name: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}}}}"#);
    let cut = object("z").replace("}}", "");
    for (head, from) in [
        (r#"{"apiVersion": "v1", "items": ["#, "v1 Pod"),
        (r#"{"apiVersion": "v1", "kind": "List", "items": ["#, "v1 Pod"),
        (
            r#"{"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "own"}},"#,
            "v1 Pod",
        ),
        ("[", "v1 Pod"),
    ] {
        let dump = read(format!("{head}\n{},\n{},\n{cut}", object("a"), object("b")));
        let own = head.contains("own").then(|| format!("{from} own"));
        let expected: Vec<String> =
            [format!("{from} a"), format!("{from} b")].into_iter().chain(own).collect();
        assert_eq!(names(&dump), expected, "{head}");
        assert_eq!(dump.seen, expected.len(), "{head}: each is read once");
        let problems = problems(&dump);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("dump.yaml:4 (document 2): broken document: EOF"), "{problems:?}");
    }
    // An object that is cut off is none, whatever its items are.
    let allow = r#"{"apiVersion": "net.example/v1", "kind": "AllowList", "metadata": {"name": "d"}, "items": [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}}"#;
    let dump = read(allow);
    assert_eq!((dump.objects.len(), dump.problems.len()), (0, 1));
}

#[test]
fn an_object_with_a_field_twice_is_refused_and_named() {
    let yaml =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {phase: Failed}\nstatus: {phase: Running}\n";
    let deep = "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nstatus: {conditions: [{status: 'False', status: 'True'}]}\n";
    let merged = "apiVersion: v1\nkind: Pod\nmetadata: {name: c}\nspec: {a: &a {x: 1}, b: {<<: *a, x: 2}}\n";
    let json = r#"{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"d"},"status":{"phase":"Failed","phase":"Running"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"e"}}]}"#;
    let label = "apiVersion: v1\nkind: Pod\nmetadata: {name: f, labels: {x: old, x: new}}\n";
    let settings = "{color: a, color: b, kind: Settings, spec: {x: 1, x: 2}}";
    let dump = read([yaml, deep, merged, json, label, settings].join("\n---\n"));
    assert_eq!(names(&dump), ["v1 Pod c", "v1 Pod e", "v1 Pod f"]);
    assert_eq!(dump.objects[2].labels, [("x".to_owned(), "new".to_owned())]);
    assert_eq!(
        problems(&dump),
        [
            "dump.yaml:1 (document 1): Pod a was passed over: it has two fields \"status\" in one place",
            "dump.yaml:7 (document 2): Pod b was passed over: it has two fields \"status\" in one place",
            "dump.yaml:21 (document 4): Pod d was passed over: it has two fields \"phase\" in one place",
        ]
    );
    let mut judged = 0;
    let mut reader = Reader::each(|_| judged += 1);
    reader.stream("dump.yaml", yaml.as_bytes());
    assert_eq!(reader.finish().problems.len(), 1);
    assert_eq!(judged, 0);
}

#[test]
fn items_that_are_passed_over_are_named_with_their_lines() {
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n{\"kind\": \"Pod\"},\n  7,\n\n{\"kind\": 5}\n]}";
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n- 7\n\n- kind: 5\n";
    for (text, lines) in [(json, [2, 3, 5]), (yaml, [4, 5, 7])] {
        for first in ["", "# note\n---\n"] {
            let dump = read(format!("{first}{text}"));
            let before = first.lines().count();
            let starts = lines.map(|line| format!("dump.yaml:{} (document 1): ", line + before));
            let problems = problems(&dump);
            assert_eq!(problems.len(), 3, "{problems:?}");
            assert!(
                problems.iter().zip(&starts).all(|(said, start)| said.starts_with(start)),
                "{problems:?}"
            );
        }
    }
}

#[test]
fn yaml_in_braces_is_yaml() {
    let dump = read(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n--- {\"kind\": Pod, apiVersion: v1, metadata: {name: b}}",
    );
    assert_eq!(names(&dump), ["v1 ConfigMap a", "v1 Pod b"]);
    assert!(dump.problems.is_empty());
}

#[test]
fn lists_are_opened_and_their_items_know_their_kind() {
    let dump = read(
        r"
apiVersion: apps/v1
items:
- metadata: {name: a, namespace: ns}
- apiVersion: v1
  kind: Pod
  metadata: {name: b}
- null
- kind: List
  apiVersion: v1
  items: [{apiVersion: v1, kind: Service, metadata: {name: c}}]
kind: DeploymentList
---
{apiVersion: v1, kind: PodList}
---
{apiVersion: v1, kind: PodList, items: null}
---
{apiVersion: net.example/v1, kind: AllowList, metadata: {name: d}, items: [{cidr: 10.0.0.0/8}]}
---
items: [{apiVersion: v1, kind: Secret, metadata: {name: e}, data: {password: c2VjcmV0}}]
---
- [{apiVersion: v1, kind: Node, metadata: {name: f}}]
",
    );
    assert_eq!(
        names(&dump),
        [
            "apps/v1 Deployment ns/a",
            "net.example/v1 AllowList d",
            "v1 Node f",
            "v1 Pod b",
            "v1 Secret e",
            "v1 Service c"
        ]
    );
    assert!(dump.problems.is_empty(), "{:?}", dump.problems);
    assert!(!format!("{:?}", dump.objects).contains("c2VjcmV0"));
}

#[test]
fn what_is_not_meant_to_be_an_object_is_passed_over() {
    for (document, skipped) in [
        ("just text\n---\nnull\n---\n5\n---\n# note\n", 3),
        ("image: {tag: 1}\nmetadata: {labels: {team: a}}", 1),
        ("metadata: {labels: {}}", 1),
        ("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]", 1),
        ("apiVersion: v1\nkind: Config\nclusters: []", 1),
        ("apiVersion: v1\nkind: Status\nmetadata: {}\ncode: 404", 1),
        ("apiVersion: v2\nname: chart\nversion: 1.0.0", 1),
        ("items: [1, {a: b}, text]", 3),
        ("kind: WordList\nitems: [one, two]", 2),
    ] {
        let mut reader = Reader::new(|labels| labels.iter().any(|(key, _)| key == "mine"));
        reader.stream("dump.yaml", document.as_bytes());
        let dump = reader.finish();
        assert_eq!((problems(&dump), dump.skipped, dump.seen), (vec![], skipped, 0), "{document}");
    }
}

#[test]
fn what_is_meant_to_be_an_object_and_is_none_is_a_problem() {
    for (document, problem) in [
        ("kind: Pod\nmetadata: {name: a}", "Pod a was passed over: its apiVersion is missing or no text"),
        (
            "apiVersion: 1\nkind: Pod\nmetadata: {name: a}",
            "Pod a was passed over: its apiVersion is missing or no text",
        ),
        (
            "apiVersion: v1\nmetadata: {name: a, labels: {mine: b}}",
            "a was passed over: its kind is missing or no text",
        ),
        ("metadata: {labels: {mine: b}}", "an object was passed over: its kind is missing or no text"),
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}",
            "Job a- was passed over: it has no name before an API server makes one from generateName",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: b}}", "Pod was passed over: it has no name"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: y}",
            "Pod true was passed over: its name is read as true, which is not text: put the name into quotes",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: 12}",
            "Pod 12 was passed over: its name is read as 12, which is not text: put the name into quotes",
        ),
        (
            "apiVersion: v1\nkind: List\nitems: [null, 7]",
            "item 2 of the List was passed over: it is no object",
        ),
        (
            "{apiVersion: v1, kind: List, items: [{\"kind\": 5}]}",
            "item 1 of the List was passed over: its kind is missing or no text",
        ),
        (
            "apiVersion: 3\nkind: [Pod]\nmetadata: hi",
            "an object was passed over: its kind is missing or no text",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: hi", "Pod was passed over: it has no name"),
        ("apiVersion: v1\nkind: PodList\nitems: [{metadata: {}}]", "Pod was passed over: it has no name"),
    ] {
        let mut reader = Reader::new(|labels| labels.iter().any(|(key, _)| key == "mine"));
        reader.stream("dump.yaml", format!("{}---\n{document}", config_map("a")).as_bytes());
        let dump = reader.finish();
        let items = document.lines().position(|line| line.contains("items:"));
        let line = items.map_or(4, |items| 5 + items);
        assert_eq!(problems(&dump), [format!("dump.yaml:{line} (document 2): {problem}")], "{document}");
        assert_eq!(dump.seen, 1, "{document}");
    }
}

#[test]
fn an_object_counts_once_and_the_newest_copy_is_shown() {
    let copies = [
        "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a, uid: '1', generation: 1}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, uid: '1', generation: 1}}",
        "{apiVersion: autoscaling/v1, kind: Scaler, metadata: {name: a, uid: '2'}}",
        "{apiVersion: autoscaling/v2, kind: Scaler, metadata: {name: a, uid: '2'}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '9'}, status: {phase: Pending}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '10'}, status: {phase: Running}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b, uid: '3'}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: c, uid: '4'}}",
    ];
    let backwards: Vec<&str> = copies.iter().rev().copied().collect();
    for order in [copies.join("\n---\n"), backwards.join("\n---\n")] {
        let dump = read(order);
        assert_eq!(
            names(&dump),
            ["apps/v1 Deployment a", "autoscaling/v2 Scaler a", "v1 Pod a", "v1 Pod b/a", "v1 Pod c/a"]
        );
        assert!(format!("{:?}", dump.objects).contains("Running"));
        assert_eq!(dump.seen, 8);
    }
}

#[test]
fn a_newer_copy_without_the_label_hides_the_older_one() {
    let mut reader = Reader::new(|labels| !labels.is_empty());
    let old = "{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '1', labels: {x: y}}}";
    let new = "{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '2'}}";
    reader.stream("-", old.as_bytes());
    reader.stream("-", new.as_bytes());
    let dump = reader.finish();
    assert_eq!((dump.objects.len(), dump.seen), (1, 2));
    assert!(dump.objects[0].labels.is_empty(), "{:?}", dump.objects);
}

#[test]
fn two_names_that_one_uid_joins_are_one_object() {
    let dump = read(
        "[{apiVersion: v1, kind: Pod, metadata: {name: a, uid: '1'}}, {apiVersion: v1, kind: Pod, metadata: {name: b, uid: '2'}}, \
         {apiVersion: v1, kind: Pod, metadata: {name: b, uid: '1'}}]",
    );
    assert_eq!(names(&dump), ["v1 Pod b"]);
}

#[test]
fn values_are_read_as_kubectl_reads_them() {
    let dump = read(
        "apiVersion: v1\nkind: Thing\nmetadata:\n  name: a\n  labels: {empty: , yes: 'y', n: 5, t: on}\n\
         spec: {a: yes, b: 017, c: 1_000, d: 0x1F, e: 1e3, f: .nan, g: ~, 1: one, h: 123456789012345678901234567890, \
         i: 2001-01-01, j: 'x', k: !custom v}\n",
    );
    let object = dump.objects.first().expect("an object");
    assert_eq!(
        object.spec,
        serde_json::json!({"a": true, "b": "017", "c": "1_000", "d": 31, "e": 1000.0, "f": null, "g": null, "1": "one",
            "h": 123_456_789_012_345_678_901_234_567_890_f64, "i": "2001-01-01", "j": "x", "k": "v"})
    );
    let labels: Vec<_> = object.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(labels, ["empty=", "n=5", "t=true", "yes=y"]);
    assert_eq!(
        problems(&dump),
        ["n", "t"].map(|key| format!(
            "dump.yaml:1 (document 1): label {key} of Thing a isn't text: put its value into quotes"
        ))
    );
}

#[test]
fn the_time_of_the_dump_is_the_newest_that_its_objects_tell() {
    let dump = read(
        "{apiVersion: v1, kind: Thing, metadata: {name: a, creationTimestamp: '2026-01-01T00:00:00Z', \
         managedFields: [{time: '2026-01-03T00:00:00Z'}]}, status: {notAfter: '2036-01-01T00:00:00Z', \
         conditions: [{type: Ready, lastTransitionTime: '2026-01-02T00:00:00Z'}]}}",
    );
    assert_eq!(dump.taken.map(|time| time.to_string()).as_deref(), Some("2026-01-03T00:00:00Z"));
}

#[test]
fn events_are_kept_where_they_are_wanted() {
    let event = "apiVersion: v1
count: 3
involvedObject: {kind: Pod, namespace: ns, name: web, uid: '1'}
kind: Event
lastTimestamp: '2025-03-01T10:00:00Z'
message: no secret
metadata: {name: web.1, namespace: ns}
reason: FailedMount
type: Warning
---
{apiVersion: v1, kind: Event, metadata: {name: web.2, namespace: ns}, reason: [1]}
";
    assert!(read(event).events.is_empty());
    let mut reader = Reader::new(|_| false).with_events();
    reader.stream("dump.yaml", event.as_bytes());
    let events = reader.finish().events;
    let said: Vec<_> =
        events.iter().map(|e| format!("{} {}: {}", e.about.name, e.reason, e.message)).collect();
    assert_eq!(said, ["web FailedMount: no secret"]);
    assert!(events[0].is_warning && events[0].last.is_some());
}

#[test]
fn other_encodings_are_read_or_reported() {
    let text = config_map("a");
    let wide: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(names(&read(&wide)), ["v1 ConfigMap ns/a"]);

    let mut latin = config_map("a").into_bytes();
    latin.extend(b"---\nkind: X\nname: \xe4\n---\n");
    latin.extend(config_map("b").bytes());
    let dump = read(&latin);
    assert_eq!(names(&dump), ["v1 ConfigMap ns/a", "v1 ConfigMap ns/b"]);
    assert_eq!(problems(&dump), ["dump.yaml:6 (document 2): broken document: not UTF-8 text"]);
}

#[test]
fn documents_that_unfold_or_nest_without_end_are_refused() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (new, old) in ["b", "c", "d", "e", "f", "g", "h", "i", "j"]
        .iter()
        .zip(["a", "b", "c", "d", "e", "f", "g", "h", "i"])
    {
        bomb += &format!("{new}: &{new} [{}]\n", vec![format!("*{old}"); 9].join(", "));
    }
    let large = format!("spec: {{a: &a {}, b: [{}]}}", "x".repeat(2_000_000), ["*a"; 10_000].join(", "));
    let nested_yaml = format!("spec: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    let nested_json = format!("{}{}", "[{\"items\":".repeat(5_000), "}]".repeat(5_000));
    let mut nested_blocks = String::new();
    for depth in 0..2_000 {
        nested_blocks += &format!("{}a:\n", " ".repeat(depth));
    }
    for document in [bomb, large, nested_yaml, nested_json, nested_blocks] {
        let dump = read(format!("{document}\n---\n{}", config_map("after")));
        assert_eq!(names(&dump), ["v1 ConfigMap ns/after"]);
        assert!(!dump.problems.is_empty());
    }
}

#[test]
fn anchors_are_followed() {
    let dump = read(
        "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nspec: {a: &a {x: 1}, b: *a, c: {<<: *a, y: 2}}\n",
    );
    let object = dump.objects.first().expect("an object");
    assert_eq!(object.spec, serde_json::json!({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}));
}

#[test]
fn a_file_of_rubbish_ends() {
    let dump = read("{\n".repeat(5_000));
    assert_eq!(dump.problems.len(), MAX_BROKEN + 1);
    let dump = read("a: [\n---\n".repeat(5_000));
    assert_eq!(dump.problems.len(), MAX_BROKEN + 1);
    assert!(matches!(dump.problems.last(), Some(Problem::TooManyBroken { .. })));
}

#[test]
fn a_document_of_many_objects_is_within_bounds() {
    let items = "- {apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: ns, uid: NAME}, spec: {a: [1, 2, 3]}}\n";
    let text: String = (0..20_000).map(|n| items.replace("NAME", &format!("p{n}"))).collect();
    let dump = read(format!("apiVersion: v1\nkind: List\nitems:\n{text}"));
    assert_eq!((dump.objects.len(), dump.problems.len()), (20_000, 0));
}

#[test]
fn many_values_in_a_line_each_are_within_bounds() {
    let line =
        |n: usize| format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{n}","uid":"{n}"}}}}"#);
    let text: String = (0..20_000).map(|n| line(n) + "\r\n").collect();
    let dump = read(format!("{text}{{\"kind\":\"Pod\",\"metadata\":{{\"name\":\"last\"}}}}"));
    assert_eq!(dump.objects.len(), 20_000);
    assert!(problems(&dump)[0].starts_with("dump.yaml:20000 (document 20001): "), "{:?}", dump.problems);
}

#[test]
fn folders_are_read_in_order_and_links_are_not_followed_in_circles() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("namespaces/n/apps");
    fs::create_dir_all(&inner).expect("folders");
    fs::write(inner.join("a.yaml"), config_map("a")).expect("a file");
    fs::write(inner.join("b.YML"), config_map("b")).expect("a file");
    fs::write(folder.path().join("c.json"), r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"}}"#)
        .expect("a file");
    fs::write(folder.path().join("pod.log"), "--- not a dump").expect("a file");
    fs::write(folder.path().join("z.yaml"), "a: b: c").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path(), inner.join("round")).expect("a link");

    let mut reader = Reader::new(|_| true);
    reader.path(folder.path());
    reader.path(&folder.path().join("absent\x1b.yaml"));
    let dump = reader.finish();
    assert_eq!(names(&dump), ["v1 ConfigMap ns/a", "v1 ConfigMap ns/b", "v1 Pod c"]);
    let problems = problems(&dump);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("z.yaml:1 (document 1): broken document"), "{}", problems[0]);
    assert!(
        problems[1].starts_with("can't read ") && problems[1].contains("absent\u{fffd}.yaml"),
        "{}",
        problems[1]
    );
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(
        text in prop::collection::vec(prop::sample::select(vec![
            "---\n", "\n", " ", "- ", "a: ", "items:\n", "items: ", "kind: List\n", "kind: PodList\n", "apiVersion: v1\n",
            "metadata: {name: a, labels: {b: c}}\n", "{", "}", "[", "]", "\"", "'", "|\n", "&x ", "*x ", "? ", ": ",
            "!t ", "<<: ", "%", "\u{feff}", "\r", "\t", "null", "...", ",", "\\u12", "{\"items\":[{}]}",
        ]), 0..40)
    ) {
        let dump = read(text.concat());
        prop_assert!(dump.objects.len() <= dump.seen);
    }
}
