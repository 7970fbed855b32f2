//! What is refused, endless or in a circle.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn links(names: impl Iterator<Item = (String, Vec<String>)>) -> String {
    names
        .map(|(name, next)| {
            let next: Vec<String> = next.iter().map(|next| format!("{{name: {next}}}")).collect();
            format!(
                "apiVersion: chain.example/v1
kind: Link
metadata: {{name: {name}}}
spec: {{next: [{}]}}
status: {{conditions: [{{type: Ready, status: 'False', reason: Broken, message: {name} is broken}}]}}
---
",
                next.join(", ")
            )
        })
        .collect()
}

fn next() -> Rules {
    rules(&[("chain.example", "Link", "[{group: chain.example, kind: Link, at: spec.next}]")])
}

#[tokio::test]
async fn a_circle_ends_where_it_closes() {
    let yaml = links((0..3).map(|n| (format!("l{n}"), vec![format!("l{}", (n + 1) % 3)])));
    let (lab, objects) = Lab::of(&yaml);
    let chain = chain(&tree(&lab, &objects[0], &next(), Limits::BEST).await);
    assert_chain(&chain, &["Link l1", "Link l2", "= "]);
}

#[tokio::test]
async fn a_chain_is_followed_six_steps() {
    let yaml = links((0..20).map(|n| (format!("l{n}"), vec![format!("l{}", n + 1)])));
    let (lab, objects) = Lab::of(&yaml);
    let chain = chain(&tree(&lab, &objects[0], &next(), Limits::BEST).await);
    assert_eq!(chain.len(), 8, "{chain:#?}");
    assert!(chain[5].starts_with("Link l6"));
    assert_eq!(chain[7], "? what lies more than 6 steps down isn't looked at");
}

#[tokio::test]
async fn at_most_twenty_objects_are_looked_at() {
    // Each refers to ten that refer to ten.
    let all: Vec<String> = (0..1111).map(|n| format!("l{n}")).collect();
    let below = |n: usize| all.iter().skip(10 * n + 1).take(10).cloned().collect::<Vec<_>>();
    let yaml = links((0..130).map(|n| (all[n].clone(), below(n))));
    let (lab, objects) = Lab::of(&yaml);
    for limits in [Limits::BEST, Limits { breadth: 100, ..Limits::BEST }] {
        let before = lab.asked().get("Link").copied().unwrap_or(0);
        let tree = tree(&lab, &objects[0], &next(), limits).await;
        assert_eq!(lab.asked()["Link"] - before, 20);
        assert!(tree.explanation().incomplete.unwrap().contains("no more than 20 objects"));
    }
}

#[tokio::test]
async fn what_may_not_be_looked_at_is_said_and_hides_nothing_else() {
    let yaml = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: lab}
spec: {replicas: 1, selector: {matchLabels: {app: db}}}
status: {replicas: 0}
---
apiVersion: v1
kind: Event
type: Warning
reason: FailedCreate
message: exceeded quota
involvedObject: {kind: StatefulSet, namespace: lab, name: db, uid: StatefulSet/db}
";
    let (mut lab, objects) = Lab::of(yaml);
    lab.forbidden.insert("Pod");
    let allowed = tree(&lab, &objects[0], &Rules::builtin(), Limits::BEST).await;
    assert_chain(
        &chain(&allowed),
        &["StatefulSet lab/db FailedCreate: exceeded quota", "? may not look at Pod objects"],
    );
    assert!(!allowed.has_failed());
    lab.broken.insert("Event");
    let broken = tree(&lab, &objects[0], &Rules::builtin(), Limits::BEST).await;
    assert_chain(&chain(&broken), &["? may not look at Pod objects; can't look at Event objects: timeout"]);
    assert!(broken.has_failed(), "it may tell more another time");
}

#[tokio::test]
async fn what_is_well_is_not_looked_into() {
    let yaml = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: lab}, spec: {replicas: 0}, status: {observedGeneration: 1}}";
    let (lab, objects) = Lab::of(yaml);
    let tree = tree(&lab, &objects[0], &Rules::builtin(), Limits::BEST).await;
    assert!(tree.below.is_empty() && lab.asked().is_empty());
}

#[tokio::test]
async fn a_wide_look_shows_more_than_the_best() {
    let yaml = links((0..5).map(|n| {
        (format!("l{n}"), if n == 0 { (1..5).map(|n| format!("l{n}")).collect() } else { Vec::new() })
    }));
    let (lab, objects) = Lab::of(&yaml);
    let tree = tree(&lab, &objects[0], &next(), Limits::WIDE).await;
    let names: Vec<&str> = tree.below.iter().map(|step| &*step.object.name).collect();
    assert_eq!(names, ["l1", "l2", "l3"]);
    assert_eq!(tree.below[0].via, "spec.next");
}

#[tokio::test]
async fn strange_objects_lead_nowhere() {
    for spec in [
        "{}",
        "[]",
        "{selector: 3, volumes: {a: b}}",
        "{selector: {matchLabels: [x]}}",
        "{scaleTargetRef: [1], service: x}",
    ] {
        for (api, kind) in [
            ("apps/v1", "Deployment"),
            ("apps/v1", "StatefulSet"),
            ("v1", "Pod"),
            ("v1", "PersistentVolumeClaim"),
            ("batch/v1", "Job"),
            ("autoscaling/v2", "HorizontalPodAutoscaler"),
            ("apiregistration.k8s.io/v1", "APIService"),
            ("policy/v1", "PodDisruptionBudget"),
            ("chain.example/v1", "Link"),
        ] {
            let yaml = format!(
                "{{apiVersion: {api}, kind: {kind}, metadata: {{name: x, namespace: lab}}, spec: {spec}}}"
            );
            let (lab, objects) = Lab::of(&yaml);
            let tree = tree(&lab, &objects[0], &next(), Limits::BEST).await;
            assert!(tree.below.is_empty(), "{yaml}");
        }
    }
}

/// JSON with the keys that are read, in places where they don't belong, too.
fn any_json() -> impl Strategy<Value = Value> {
    let keys = "name|namespace|kind|apiVersion|group|selector|matchLabels|matchExpressions|operator|key|values|volumes|\
        persistentVolumeClaim|claimName|ephemeral|storageClassName|volumeName|nodeName|scaleTargetRef|service|parentRefs|\
        gatewayClassName|next|conditions|type|status|reason|message|phase|replicas|containerStatuses|state|waiting|health";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "x0|x1|lab/x1|Pod/lab/x1|Link lab/x2|False|True|Ready|Unschedulable|[a-z/. ]{0,9}|\\PC{0,9}"
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

const KINDS: [(&str, &str); 12] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Pod"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
    ("batch/v1", "Job"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("policy/v1", "PodDisruptionBudget"),
    ("chain.example/v1", "Link"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_objects_are_explained_within_bounds(
        parts in prop::collection::vec((0..KINDS.len(), any_json(), any_json(), 0..8usize), 1..8),
    ) {
        let objects: Vec<_> = parts
            .into_iter()
            .enumerate()
            .map(|(n, (kind, spec, status, owner))| {
                testing::object(json!({
                    "apiVersion": KINDS[kind].0, "kind": KINDS[kind].1, "spec": spec, "status": status,
                    "metadata": {"name": format!("x{n}"), "namespace": "lab", "uid": n.to_string(),
                        "ownerReferences": [{"uid": owner.to_string()}]},
                }))
            })
            .collect();
        let lab = Lab::with(objects.clone());
        let rules = rules(&[(
            "chain.example",
            "Link",
            "[{kind: Pod, at: spec.next}, {group: apps, kind: Deployment, owned: true}, {named: true}]",
        )]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for object in &objects {
            let look = || runtime.block_on(tree(&lab, object, &rules, Limits::BEST));
            let first = look();
            let explanation = first.explanation();
            prop_assert!(explanation.steps.len() <= Limits::BEST.depth + 1);
            prop_assert!(explanation.steps.iter().all(|cause| !cause.reason.is_empty() && cause.message.len() <= 512));
            prop_assert_eq!(first, look());
        }
    }
}
