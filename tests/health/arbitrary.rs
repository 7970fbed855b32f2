//! Objects as nobody would write them.

use std::{collections::BTreeSet, sync::LazyLock};

use addons::health::{builtin_files, read_text};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Kinds with rules in the code.
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

/// Any JSON, seasoned with the fields and words that rules read.
pub fn json_value() -> impl Strategy<Value = Value> {
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
        prop::sample::select(WORDS.clone()).prop_map(Value::from),
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
    prop_oneof![4 => known.prop_map(str::to_owned), 2 => prop::sample::select(WORDS.clone()), 1 => ".{0,8}"]
}

pub fn conditions() -> impl Strategy<Value = Vec<Value>> {
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

/// `apiVersion` and kind: built-in ones, those with rules, and some without.
pub fn kind() -> impl Strategy<Value = (String, String)> {
    let others = [("example.test/v1", "Widget"), ("addons.x-k8s.io/v1alpha1", "Addon"), ("v1", "ConfigMap")];
    let known = BUILT_IN.iter().chain(&others);
    let owned = |(version, kind): &(&str, &str)| ((*version).to_owned(), (*kind).to_owned());
    let known: Vec<(String, String)> = known.map(owned).collect();
    prop_oneof![prop::sample::select(known), prop::sample::select(RULED.clone())]
}

/// The kinds of the built-in rules.
static RULED: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut kinds = Vec::new();
    for (file, text) in builtin_files() {
        for written in read_text(file, text).expect("rules") {
            let Some(matches) = written.spec.matches else { continue };
            let version = format!("{}/v1", matches.group.replace("*.", "any."));
            let named: Vec<String> = matches.kind.into_iter().chain(matches.kinds).collect();
            let named = if named.is_empty() { vec!["Thing".to_owned()] } else { named };
            kinds.extend(named.into_iter().map(|kind| (version.clone(), kind)));
        }
    }
    kinds
});

/// The words that built-in rules are made of: what they look for.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let texts = builtin_files().iter().map(|(_, text)| *text);
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    let words: BTreeSet<&str> = words.filter(|word| word.len() > 2).collect();
    words.into_iter().map(str::to_owned).collect()
});
