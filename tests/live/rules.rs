//! Rules that users register while the controller runs.

use std::time::{Duration, Instant};

use addons_testbed::{Cluster, eventually};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::support::{LONG, addonctl, condition, health, serve, stage, with};

/// The goal for a rule to take effect is 2 s. A test on a busy machine fails only on what no such
/// machine explains.
const SOON: Duration = Duration::from_secs(10);

/// Makes a kind and an object of it that says this of itself and carries the label of an add-on of
/// the same name.
async fn object(cluster: &Cluster, kind: &str, status: &str) {
    let name = kind.to_lowercase();
    serve(cluster, "rules.example", "Cluster", kind).await;
    let object = format!(
        "{{apiVersion: rules.example/v1, kind: {kind}, metadata: {{name: one, labels: {{addons.x-k8s.io/{name}: ''}}}}}}"
    );
    cluster.apply(&object).await.expect("an object");
    let resource = format!("{name}s.rules.example");
    cluster
        .kubectl(&["patch", &resource, "one", "--subresource=status", "--type=merge", "-p", status])
        .await
        .expect("a status");
}

async fn rule(cluster: &Cluster, name: &str) -> Result<Value, String> {
    let json = cluster.kubectl(&["get", "statusrule", name, "-o", "json"]).await;
    serde_json::from_str(&json.map_err(|error| format!("{error:#}"))?).map_err(|error| error.to_string())
}

/// Waits until a rule says whether it is in force, with this reason.
async fn decided(cluster: &Cluster, name: &str, reason: &str) -> Value {
    eventually(LONG, &format!("the rule {name} is {reason}"), || async {
        let rule = rule(cluster, name).await?;
        match rule["status"]["conditions"].as_array() {
            Some(conditions) if conditions.len() == 1 && conditions[0]["reason"] == reason => Ok(rule),
            _ => Err(rule["status"].to_string()),
        }
    })
    .await
}

#[tokio::test]
async fn a_rule_changes_the_health_of_its_kind_and_a_broken_one_nothing() {
    let cluster = stage().await.cluster;
    let status = r#"{"status": {"mood": "grumpy", "why": "no oil", "url": "https://gizmo.example/"}}"#;
    object(cluster, "Gizmo", status).await;
    let before = health(cluster, "gizmo", "Unknown").await;
    let convention = before["components"][0]["rule"].clone();

    let good = "apiVersion: addons.x-k8s.io/v1alpha1
kind: StatusRule
metadata: {name: gizmos}
spec:
  match: {group: rules.example, kind: Gizmo}
  rows:
  - verdict: Degraded
    when: status.mood == 'grumpy' && size(status.why) > 2
    reason: Grumpy
    messageAt: [status.why]
  phases: [{at: status.mood, healthy: [cheerful]}]
  facts: [{name: url, at: status.url}]
";
    let applied = Instant::now();
    cluster.apply(good).await.expect("a rule");
    let judged = [("health", "Degraded"), ("reason", "Grumpy")];
    let status = with(cluster, "gizmo", &judged).await;
    let after = applied.elapsed();
    eprintln!("a rule took effect in the Addon {after:?} after it was sent");
    assert!(after < SOON, "{after:?}");
    assert_eq!(status["components"][0]["rule"], "StatusRule/gizmos#1", "{status}");
    assert!(status["message"].as_str().expect("a message").ends_with("no oil"), "{status}");
    assert_eq!(status["facts"], json!([{"name": "url", "value": "https://gizmo.example/"}]), "{status}");
    let accepted = decided(cluster, "gizmos", "Accepted").await;
    let accepted = condition(&accepted["status"], "Accepted").clone();
    assert_eq!((&accepted["status"], &accepted["observedGeneration"]), (&"True".into(), &1.into()));

    // Whoever computes it without the controller gets the same, with the right to read the rules.
    let describe = ["describe", "gizmo", "--live"];
    let (code, described, said) = addonctl(cluster.kubeconfig(), &describe).await;
    assert_eq!(code, 0, "{said}");
    assert!(described.contains("Degraded   Grumpy   Gizmo one"), "{described}");
    let list = PolicyRule {
        api_groups: Some(vec!["rules.example".to_owned()]),
        resources: Some(vec!["gizmos".to_owned()]),
        verbs: vec!["list".to_owned()],
        ..PolicyRule::default()
    };
    let user = cluster.user("gizmo-reader", vec![list]).await.expect("a user");
    let (_, described, said) = addonctl(user.kubeconfig(), &describe).await;
    assert!(
        said.starts_with("note: judged by the built-in rules only, StatusRules can't be read: "),
        "{said}"
    );
    assert!(described.contains("Unknown "), "{described}");

    // What makes no sense is refused, and what was judged before is judged so still.
    let broken = "apiVersion: addons.x-k8s.io/v1alpha1
kind: StatusRule
metadata: {name: gizmos-broken}
spec:
  match: {group: rules.example, kind: Gizmo}
  rows:
  - verdict: Healthy
  - {verdict: Healthy, when: status.mood = 'grumpy'}
";
    cluster.apply(broken).await.expect("a rule");
    let refused = decided(cluster, "gizmos-broken", "Invalid").await;
    let refused = condition(&refused["status"], "Accepted");
    assert_eq!(refused["status"], "False");
    let message = refused["message"].as_str().expect("a message");
    assert!(message.starts_with("rows[1].when: line 1, column 13: "), "{message}");
    with(cluster, "gizmo", &judged).await;

    let younger = good.replace("name: gizmos", "name: gizmos-younger");
    cluster.apply(&younger).await.expect("a rule");
    let conflict = decided(cluster, "gizmos-younger", "Conflict").await;
    let message = condition(&conflict["status"], "Accepted")["message"].as_str().expect("a message");
    assert!(message.contains("'gizmos' judges Gizmo.rules.example already"), "{message}");

    let table = cluster.kubectl(&["get", "statusrules"]).await.expect("a table");
    let row = table.lines().find(|line| line.starts_with("gizmos-broken ")).expect(&table);
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[1..5], ["rules.example", "Gizmo", "False", "Invalid"], "{table}");

    // Its own status is no reason to write another.
    assert_eq!(condition(&rule(cluster, "gizmos").await.expect("a rule")["status"], "Accepted"), &accepted);

    for name in ["gizmos-younger", "gizmos-broken", "gizmos"] {
        cluster.kubectl(&["delete", "statusrule", name]).await.expect("deleted");
    }
    let deleted = Instant::now();
    let status = health(cluster, "gizmo", "Unknown").await;
    eprintln!("the built-in verdict was back {:?} after the rule was deleted", deleted.elapsed());
    assert_eq!((&status["components"][0]["rule"], &status["facts"]), (&convention, &Value::Null), "{status}");
    cluster.kubectl(&["delete", "crd", "gizmos.rules.example"]).await.expect("deleted");
}

#[tokio::test]
async fn what_contradicts_itself_is_refused_at_once() {
    let cluster = stage().await.cluster;
    for (spec, told) in [
        ("{match: {group: a.example}}", "match names the kinds that"),
        (
            "{match: {group: a.example}, rows: [{verdict: Healthy, if: [{condition: Ready, path: status.x}]}]}",
            "a test has exactly one of condition, path, any, none, some and every",
        ),
        (
            "{match: {group: a.example}, facts: [{name: a, at: status.x}, {name: a, at: status.y}]}",
            "duplicate entries for key",
        ),
        ("{match: {group: a.example}, causes: [{owned: true}]}", "owned and labels go with a kind"),
        (
            "{combine: {identifiers: [a], quorums: [{by: Install, atLeast: 2, select: {installs: [x]}}]}}",
            "atLeast is more than the installs that are selected",
        ),
    ] {
        let rule = format!(
            "{{apiVersion: addons.x-k8s.io/v1alpha1, kind: StatusRule, metadata: {{name: absurd}}, spec: {spec}}}"
        );
        let refused = cluster.apply(&rule).await.expect_err(spec);
        assert!(format!("{refused:#}").contains(told), "{spec}: {refused:#}");
    }
}

#[tokio::test]
async fn two_of_three_zones_are_enough_where_a_rule_says_so() {
    let cluster = stage().await.cluster;
    object(cluster, "Zone", r#"{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}"#).await;
    for (name, ready) in [("two", "True"), ("three", "False")] {
        let zone = format!(
            "{{apiVersion: rules.example/v1, kind: Zone, metadata: {{name: {name}, labels: {{addons.x-k8s.io/zone: {name}}}}}}}"
        );
        cluster.apply(&zone).await.expect("a zone");
        let status =
            json!({"status": {"conditions": [{"type": "Ready", "status": ready, "reason": "Failed"}]}});
        let patch = status.to_string();
        cluster
            .kubectl(&[
                "patch",
                "zones.rules.example",
                name,
                "--subresource=status",
                "--type=merge",
                "-p",
                &patch,
            ])
            .await
            .expect("a status");
    }
    cluster
        .kubectl(&["label", "--overwrite", "zones.rules.example", "one", "addons.x-k8s.io/zone=one"])
        .await
        .expect("labelled");
    with(cluster, "zone", &[("health", "Degraded"), ("ready", "2/3")]).await;
    let rule = "apiVersion: addons.x-k8s.io/v1alpha1
kind: StatusRule
metadata: {name: zones}
spec:
  combine:
    identifiers: [zone]
    quorums: [{name: zones, by: Install, atLeast: 2}]
";
    cluster.apply(rule).await.expect("a rule");
    let status = with(cluster, "zone", &[("health", "Healthy"), ("ready", "2/3")]).await;
    assert!(status["message"].as_str().is_some_and(|said| said.contains("2 of 3 zones healthy")), "{status}");
    decided(cluster, "zones", "Accepted").await;
    let (code, described, said) = addonctl(cluster.kubeconfig(), &["describe", "zone", "--live"]).await;
    let described = described.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == 0 && described.contains("2 of 3 zones healthy"), "{said}{described}");

    cluster.kubectl(&["delete", "statusrule", "zones"]).await.expect("deleted");
    health(cluster, "zone", "Degraded").await;
    cluster.kubectl(&["delete", "crd", "zones.rules.example"]).await.expect("deleted");
}
