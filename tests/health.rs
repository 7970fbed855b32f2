//! The verdicts on cases that were written from public reports, and properties that hold for any
//! object.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::{env, fs, path::PathBuf, sync::Arc};

use addons::{
    health::{Judgement, Rules, judge},
    model::{Health, Kind, Object, StatusReporting, Timestamp, decode::Raw},
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// Where the cases lie: `ADDONS_FIXTURES`, or beside the checkout.
fn fixtures() -> PathBuf {
    env::var_os("ADDONS_FIXTURES")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"), PathBuf::from)
}

fn object_of(value: &Value, status: StatusReporting) -> Option<Object> {
    let raw = Raw::deserialize(value).ok()?;
    let api_version = raw.api_version.clone()?;
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
    let kind = Kind {
        group: group.into(),
        version: version.into(),
        kind: raw.kind.clone()?,
        plural: String::new(),
        namespaced: true,
        status,
    };
    raw.into_object(Arc::new(kind))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    object: Value,
    expected: String,
    also_acceptable: Option<Vec<String>>,
    now: Option<Timestamp>,
}

impl Case {
    fn health(&self) -> Health {
        let object = object_of(&self.object, StatusReporting::Unsaid).expect("an object");
        let timeline = judge(&object, &Rules::builtin()).timeline;
        self.now.map_or(&timeline.first, |now| timeline.at(now)).health
    }

    /// Whether `health` is right; the cases call it Ready where we say Healthy.
    fn accepts(&self, health: Health) -> bool {
        let word = if health == Health::Healthy { "Ready" } else { health.as_str() };
        self.expected == word || self.also_acceptable.iter().flatten().any(|also| also == word)
    }
}

/// Kinds that must be right: those with rules of their own.
const BUILT_IN: [(&str, &str); 18] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "ReplicaSet"),
    ("v1", "Pod"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("v1", "Service"),
    ("networking.k8s.io/v1", "Ingress"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("autoscaling/v1", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
    ("v1", "Namespace"),
    ("v1", "Node"),
];

#[test]
fn cases_from_public_reports() {
    let path = fixtures().join("health/cases.jsonl");
    let Ok(lines) = fs::read_to_string(&path) else {
        println!("skipped: no cases at {}", path.display());
        return;
    };
    let cases: Vec<Case> = lines.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    let mut wrong = Vec::new();
    let mut wrong_built_in = Vec::new();
    for case in &cases {
        let health = case.health();
        if case.accepts(health) {
            continue;
        }
        let text = |field: &str| case.object[field].as_str().unwrap_or_default();
        let line = format!("{} {}: {health}, expected {}", case.id, text("kind"), case.expected);
        let built_in = BUILT_IN.contains(&(text("apiVersion"), text("kind")));
        if built_in { &mut wrong_built_in } else { &mut wrong }.push(line);
    }
    let all = cases.len();
    let right = all - wrong.len() - wrong_built_in.len();
    println!("cases from public reports: {right} of {all} agree");
    for line in &wrong {
        println!("  {line}");
    }
    assert!(wrong_built_in.is_empty(), "built-in kinds: {wrong_built_in:#?}");
    assert!(right >= 110, "{right} of {all} agree, 110 did: {wrong:#?}");
}

/// Agreement with the peers' own suites.
#[test]
fn peers_suites() {
    #[derive(Deserialize)]
    struct Peer {
        object: Value,
        mapped: Option<String>,
        needs_related: Option<Value>,
    }
    // What agrees now. A change of a rule must not lose any of it unseen.
    let floors = [("argo-lua", 375), ("gitops-engine", 27), ("kstatus", 25), ("kapp", 22), ("helm", 27)];
    for (suite, floor) in floors {
        let path = fixtures().join(format!("suites/{suite}.jsonl"));
        let Ok(lines) = fs::read_to_string(&path) else {
            println!("skipped: no suite at {}", path.display());
            continue;
        };
        let (mut agreed, mut all) = (0, 0);
        for line in lines.lines() {
            let peer: Peer = serde_json::from_str(line).expect("a case");
            let (Some(mapped), None) = (peer.mapped, peer.needs_related) else { continue };
            let Some(object) = object_of(&peer.object, StatusReporting::Unsaid) else { continue };
            all += 1;
            agreed += usize::from(judge(&object, &Rules::builtin()).timeline.first.health.as_str() == mapped);
        }
        println!("{suite}: {agreed} of {all} agree");
        assert!(agreed >= floor, "{suite}: {agreed} of {all} agree, {floor} did");
    }
}

/// Any JSON, seasoned with the fields and words that rules read.
fn json_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "True",
        "False",
        "Unknown",
        "true",
        "Ready",
        "Available",
        "Progressing",
        "Failed",
        "Paused",
        "Running",
        "Pending",
        "Succeeded",
        "NewReplicaSetAvailable",
        "ProgressDeadlineExceeded",
        "CrashLoopBackOff",
        "LoadBalancer",
        "OnDelete",
        "2025-03-01T10:00:00Z",
        "9999-12-30T22:00:00Z",
        "-009999-01-02T01:59:59Z",
        "12",
        "\u{1b}[2J",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1_i64..5).prop_map(Value::from),
        word.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..10)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "conditions",
        "type",
        "status",
        "reason",
        "message",
        "lastTransitionTime",
        "observedGeneration",
        "severity",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "phase",
        "state",
        "health",
        "paused",
        "suspend",
        "updateStrategy",
        "rollingUpdate",
        "partition",
        "currentRevision",
        "updateRevision",
        "containerStatuses",
        "initContainerStatuses",
        "waiting",
        "terminated",
        "lastState",
        "exitCode",
        "restartCount",
        "name",
        "ready",
        "loadBalancer",
        "ingress",
        "parents",
        "listeners",
        "active",
        "lastScheduleTime",
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberAvailable",
        "errors",
        "error",
        "currentHealthy",
        "desiredHealthy",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,8}"]
}

fn conditions() -> impl Strategy<Value = Vec<Value>> {
    let kind = prop::sample::select(vec![
        "Ready",
        "Available",
        "Progressing",
        "Stalled",
        "Paused",
        "Synced",
        "Failed",
        "Complete",
        "ReplicaFailure",
        "PodScheduled",
        "Established",
        "Novel",
    ]);
    let status = prop::sample::select(vec!["True", "False", "Unknown", "Odd"]);
    let reason = prop::sample::select(vec!["", "Failed", "Waiting", "Novel", "NewReplicaSetAvailable"]);
    let time = prop::sample::select(vec!["2025-03-01T10:00:00Z", "2025-03-01T11:00:00Z", "then"]);
    let condition = (kind, status, reason, time, prop::option::of(0_i64..3)).prop_map(
        |(kind, status, reason, time, generation)| {
            json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": time, "observedGeneration": generation})
        },
    );
    prop::collection::vec(condition, 0..7)
}

fn kind() -> impl Strategy<Value = (&'static str, &'static str)> {
    let mut kinds = BUILT_IN.to_vec();
    kinds.extend([("example.test/v1", "Widget"), ("addons.x-k8s.io/v1alpha1", "Addon"), ("v1", "ConfigMap")]);
    prop::sample::select(kinds)
}

fn object(kind: (&str, &str), spec: &Value, status: &Value) -> Object {
    let value = json!({"apiVersion": kind.0, "kind": kind.1, "spec": spec, "status": status,
        "metadata": {"name": "x", "generation": 2, "creationTimestamp": "2025-03-01T10:00:00Z"}});
    object_of(&value, StatusReporting::Yes).expect("an object")
}

fn sound(judgement: &Judgement) {
    let timeline = &judgement.timeline;
    for verdict in std::iter::once(&timeline.first).chain(timeline.later.as_ref().map(|later| &later.verdict))
    {
        assert!(!verdict.reason.is_empty() && !verdict.rule.is_empty(), "{verdict:?}");
        assert!(!verdict.reason.contains(char::is_whitespace), "{verdict:?}");
        assert!(verdict.message.len() <= addons::model::text::MESSAGE_BYTES, "{verdict:?}");
        let shown = verdict.reason.chars().chain(verdict.message.chars());
        assert!(!shown.into_iter().any(char::is_control), "{verdict:?}");
    }
    assert!(judgement.conditions.is_sorted_by(|a, b| a.kind < b.kind), "{:?}", judgement.conditions);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_object_gets_one_answer(kind in kind(), spec in json_value(), status in json_value()) {
        let judgement = judge(&object(kind, &spec, &status), &Rules::builtin());
        sound(&judgement);
        prop_assert_eq!(&judgement, &judge(&object(kind, &spec, &status), &Rules::builtin()));
    }

    #[test]
    fn the_order_of_conditions_does_not_matter(
        kind in kind(),
        (listed, shuffled) in conditions().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        replicas in 0_i64..4,
    ) {
        let status = |conditions: &[Value]| json!({"observedGeneration": 2, "replicas": replicas, "availableReplicas": replicas,
            "updatedReplicas": 2, "desiredNumberScheduled": 2, "phase": "Running", "conditions": conditions});
        let spec = json!({"replicas": 2, "service": {}});
        let judgement = judge(&object(kind, &spec, &status(&listed)), &Rules::builtin());
        sound(&judgement);
        prop_assert_eq!(judgement, judge(&object(kind, &spec, &status(&shuffled)), &Rules::builtin()));
    }
}
