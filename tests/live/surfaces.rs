//! What labelling objects makes of them, through every surface.

use addons_testbed::{Failure, eventually};
use serde_json::Value;

use crate::support::{self, LONG, addon, condition, health, stage, with};

/// A Deployment and a ConfigMap of the add-on `identifier`.
fn web(namespace: &str, identifier: &str, label: &str) -> String {
    format!(
        "apiVersion: v1
kind: ConfigMap
metadata: {{name: web, namespace: {namespace}, labels: {{addons.x-k8s.io/{identifier}: '{label}'}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: {namespace}
  labels: {{addons.x-k8s.io/{identifier}: '{label}', app.kubernetes.io/version: 1.9.4}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, addons.x-k8s.io/{identifier}: '{label}'}}}}
    spec: {{containers: [{{name: web, image: registry.example/web:1}}]}}
"
    )
}

async fn addonctl(arguments: &[&str]) -> (i32, String, String) {
    support::addonctl(stage().await.cluster.kubeconfig(), arguments).await
}

#[tokio::test]
async fn labelled_objects_become_an_addon_everywhere() {
    let stage = stage().await;
    let namespace = stage.cluster.namespace("everywhere").await.expect("a namespace");
    stage.cluster.apply(&web(&namespace, "everywhere", "")).await.expect("objects");
    // Pods and the ReplicaSet carry the label through the template: they are no components.
    let status = with(stage.cluster, "everywhere", &[("health", "Healthy"), ("ready", "2/2")]).await;
    assert_eq!(status["version"], "1.9.4", "{status}");
    assert_eq!(condition(&status, "Ready")["status"], "True");
    assert_eq!(condition(&status, "Observed")["status"], "True");

    let columns = stage.cluster.kubectl(&["get", "addons", "everywhere"]).await.expect("kubectl get");
    let mut lines = columns.lines();
    assert_eq!(
        lines.next().map(|header| header.split_whitespace().collect::<Vec<_>>()),
        Some(vec!["NAME", "HEALTH", "READY", "REASON", "SINCE", "AGE"])
    );
    assert!(lines.next().is_some_and(|row| row.contains("2/2")), "{columns}");
    let selected = stage
        .cluster
        .kubectl(&["get", "addn", "--field-selector", "status.health=Healthy", "-o", "name"])
        .await;
    assert!(selected.expect("kubectl get").contains("addon.addons.x-k8s.io/everywhere"));

    let (code, listed, said) = addonctl(&["list"]).await;
    assert_eq!(code, 0, "{said}");
    assert!(
        listed.lines().any(|line| line.starts_with("everywhere ") && line.contains("Healthy")),
        "{listed}"
    );
    let (code, described, said) = addonctl(&["describe", "everywhere"]).await;
    assert_eq!(code, 0, "{said}");
    assert!(described.contains(&format!("Deployment {namespace}/web")), "{described}");
    let (code, live, said) = addonctl(&["list", "--live", "-o", "json"]).await;
    assert_eq!(code, 0, "{said}");
    let live: Value = serde_json::from_str(&live).expect("JSON");
    let items = live["items"].as_array().expect("items");
    let same = items.iter().find(|item| item["spec"]["identifier"] == "everywhere").expect("the add-on");
    assert_eq!(same["status"]["ready"], "2/2", "the computation without a controller gives the same");

    let whole = stage.controller.addon("everywhere").await.expect("HTTP");
    assert_eq!(whole["status"]["components"].as_array().map(Vec::len), Some(2), "{whole}");
    let (_, page) = stage.controller.get("/").await.expect("the page");
    assert!(page.contains("<title>"), "{page}");
    let (_, metrics) = stage.controller.get("/metrics").await.expect("metrics");
    assert!(metrics.contains("addon_health{addon=\"everywhere\",health=\"Healthy\"} 1"), "{metrics}");

    stage.cluster.kubectl(&["delete", "namespace", &namespace, "--wait=false"]).await.expect("deleted");
    eventually(LONG, "the Addon goes with its last component", || async {
        match addon(stage.cluster, "everywhere").await {
            Err(error) if error.contains("NotFound") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

#[tokio::test]
async fn a_failing_pod_degrades_its_addon_and_is_named() {
    let stage = stage().await;
    let namespace = stage.cluster.namespace("failing").await.expect("a namespace");
    stage.cluster.apply(&web(&namespace, "failing", "")).await.expect("objects");
    with(stage.cluster, "failing", &[("health", "Healthy"), ("ready", "2/2")]).await;
    let pods = stage.cluster.kubectl(&["-n", &namespace, "get", "pods", "-o", "name"]).await.expect("pods");
    for pod in pods.lines().filter_map(|line| line.strip_prefix("pod/")) {
        stage.cluster.fail_pod(&namespace, pod, Failure::CrashLoop).await.expect("a failing pod");
    }
    let status = health(stage.cluster, "failing", "Degraded").await;
    assert_eq!(status["ready"], "1/2", "{status}");
    let worst = &status["components"][0];
    assert_eq!((worst["kind"].as_str(), worst["health"].as_str()), (Some("Deployment"), Some("Degraded")));
    assert_eq!(
        (worst["cause"]["kind"].as_str(), worst["cause"]["reason"].as_str()),
        (Some("Pod"), Some("CrashLoopBackOff"))
    );
    for pod in pods.lines().filter_map(|line| line.strip_prefix("pod/")) {
        stage.cluster.heal_pod(&namespace, pod).await.expect("a healed pod");
    }
    health(stage.cluster, "failing", "Healthy").await;
}

#[tokio::test]
async fn installs_of_one_addon_are_told_apart() {
    let stage = stage().await;
    for install in ["internal", "external"] {
        let namespace = stage.cluster.namespace(install).await.expect("a namespace");
        stage.cluster.apply(&web(&namespace, "twice", install)).await.expect("objects");
    }
    eventually(LONG, "both installs are healthy", || async {
        let installs = addon(stage.cluster, "twice").await?["status"]["installs"].take();
        let wanted = serde_json::json!([
            {"name": "external", "health": "Healthy", "ready": "2/2"},
            {"name": "internal", "health": "Healthy", "ready": "2/2"},
        ]);
        if installs == wanted { Ok(()) } else { Err(installs.to_string()) }
    })
    .await;
}

#[tokio::test]
async fn identifiers_at_their_limits_have_addons_of_their_own() {
    let stage = stage().await;
    let namespace = stage.cluster.namespace("limits").await.expect("a namespace");
    let longest = format!("l{}", "0".repeat(62));
    for (n, identifier) in ["Twin", "twin", "with_underscore", "dot..dot", &longest].into_iter().enumerate() {
        let object = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{n}, namespace: {namespace}, \
             labels: {{addons.x-k8s.io/{identifier}: ''}}}}}}"
        );
        stage.cluster.apply(&object).await.expect("an object");
        let name =
            addons::api::object_name(&addons::api::Identifier::new(identifier).expect("an identifier"));
        let status = health(stage.cluster, &name, "Healthy").await;
        assert_eq!(status["ready"], "1/1", "{identifier}: {status}");
        let spelled = addon(stage.cluster, &name).await.expect("the Addon")["spec"]["identifier"].take();
        assert_eq!(spelled, identifier);
    }
}

#[tokio::test]
async fn an_object_that_loses_its_label_leaves_its_addon() {
    let stage = stage().await;
    let namespace = stage.cluster.namespace("relabel").await.expect("a namespace");
    stage.cluster.apply(&web(&namespace, "before", "")).await.expect("objects");
    with(stage.cluster, "before", &[("health", "Healthy"), ("ready", "2/2")]).await;
    stage
        .cluster
        .kubectl(&[
            "-n",
            &namespace,
            "label",
            "configmap/web",
            "addons.x-k8s.io/before-",
            "addons.x-k8s.io/after=",
        ])
        .await
        .expect("a new label");
    let status = health(stage.cluster, "after", "Healthy").await;
    assert_eq!(status["components"][0]["kind"], "ConfigMap");
    eventually(LONG, "the old Addon has one component less", || async {
        let ready = addon(stage.cluster, "before").await?["status"]["ready"].take();
        if ready == "1/1" { Ok(()) } else { Err(ready.to_string()) }
    })
    .await;
}

#[tokio::test]
async fn a_chain_of_owners_leads_through_an_object_without_the_label() {
    let stage = stage().await;
    let namespace = stage.cluster.namespace("chain").await.expect("a namespace");
    stage
        .cluster
        .apply(&format!(
            "apiVersion: batch/v1
kind: CronJob
metadata: {{name: nightly, namespace: {namespace}, labels: {{addons.x-k8s.io/chain: ''}}}}
spec:
  schedule: '0 3 * * *'
  suspend: false
  jobTemplate:
    spec:
      template:
        metadata: {{labels: {{addons.x-k8s.io/chain: ''}}}}
        spec: {{restartPolicy: Never, containers: [{{name: work, image: registry.example/work:1}}]}}
"
        ))
        .await
        .expect("a CronJob");
    let uid = stage
        .cluster
        .kubectl(&["-n", &namespace, "get", "cronjob", "nightly", "-o", "jsonpath={.metadata.uid}"])
        .await
        .expect("a uid");
    // What the CronJob controller makes at three in the morning.
    stage
        .cluster
        .apply(&format!(
            "apiVersion: batch/v1
kind: Job
metadata:
  name: nightly-1
  namespace: {namespace}
  ownerReferences: [{{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: {uid}, controller: true}}]
spec:
  template:
    metadata: {{labels: {{addons.x-k8s.io/chain: ''}}}}
    spec: {{restartPolicy: Never, containers: [{{name: work, image: registry.example/work:1}}]}}
"
        ))
        .await
        .expect("a Job");
    eventually(LONG, "the pod is there", || async {
        let pods = stage.cluster.kubectl(&["-n", &namespace, "get", "pods", "-o", "name"]).await;
        let pods = pods.map_err(|error| format!("{error:#}"))?;
        if pods.is_empty() { Err("no pod") } else { Ok(()) }.map_err(str::to_owned)
    })
    .await;
    eventually(LONG, "the pod counts for the CronJob, through the Job that has no label", || async {
        let addon = stage.controller.addon("chain").await?;
        let kinds: Vec<_> = addon["status"]["components"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|c| c["kind"].clone())
            .collect();
        if kinds == ["CronJob"] { Ok(()) } else { Err(format!("{kinds:?}")) }
    })
    .await;
}

#[tokio::test]
async fn an_addon_may_be_a_component_of_another() {
    let stage = stage().await;
    let namespace = stage.cluster.namespace("nested").await.expect("a namespace");
    stage.cluster.apply(&web(&namespace, "inner", "")).await.expect("objects");
    with(stage.cluster, "inner", &[("health", "Healthy"), ("ready", "2/2")]).await;
    stage.cluster.kubectl(&["label", "addon", "inner", "addons.x-k8s.io/outer="]).await.expect("a label");
    let status = health(stage.cluster, "outer", "Healthy").await;
    assert_eq!(status["components"][0]["kind"], "Addon");
    stage
        .cluster
        .kubectl(&["-n", &namespace, "set", "image", "deployment/web", "web=registry.example/web:missing"])
        .await
        .expect("a broken image");
    health(stage.cluster, "outer", "Degraded").await;
}
