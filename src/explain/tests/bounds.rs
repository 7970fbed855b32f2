//! What is refused, endless or in a circle.

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
