//! The cause of what is ill, in the `Addon`: found by looking, as nothing below carries a label.

use std::time::{Duration, Instant};

use addons_testbed::{Cluster, eventually};
use serde_json::Value;

use crate::support::{LONG, Running, addon, at_root, cluster, health, stage};

fn deployment(namespace: &str, identifier: &str, image: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}, labels: {{addons.x-k8s.io/{identifier}: ''}}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, image: 'registry.example/web:{image}'}}]}}
"
    )
}

fn claim(namespace: &str, identifier: &str) -> String {
    format!(
        "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: {namespace}, labels: {{addons.x-k8s.io/{identifier}: ''}}}}
spec: {{storageClassName: '', accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
"
    )
}

/// Waits until the one component of an add-on has a cause with this reason, and gives the status.
async fn explained(cluster: &Cluster, identifier: &str, reason: &str) -> Value {
    eventually(LONG, &format!("{identifier} is explained by {reason}"), || async {
        let status = addon(cluster, identifier).await?["status"].take();
        let is_explained = status["components"][0]["cause"]["reason"] == reason;
        if is_explained { Ok(status) } else { Err(status.to_string()) }
    })
    .await
}

fn words<'a>(value: &'a Value, fields: &[&str]) -> Vec<&'a str> {
    fields.iter().map(|field| value[field].as_str().unwrap_or_default()).collect()
}

#[tokio::test]
async fn a_deployment_fails_with_its_pod_and_is_well_again() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("explain").await.expect("a namespace");
    let applied = Instant::now();
    cluster.apply(&deployment(&namespace, "explain-pull", "missing")).await.expect("a Deployment");
    let status = explained(cluster, "explain-pull", "ImagePullBackOff").await;
    let after = applied.elapsed();
    eprintln!("the pod that can't pull its image was named {after:?} after its Deployment was made");
    // It is looked for after one second. A test on a busy machine fails only on what no such machine explains.
    assert!(after < Duration::from_secs(30), "{after:?}");

    let component = &status["components"][0];
    assert_eq!(words(&status, &["health", "reason"]), ["Degraded", "ImagePullBackOff"]);
    assert_eq!(words(component, &["kind", "health"]), ["Deployment", "Degraded"]);
    assert_eq!(words(&component["cause"], &["kind", "namespace"]), ["Pod", &namespace]);
    let pod = component["cause"]["name"].as_str().expect("a name");
    assert!(pod.starts_with("web-"), "{pod}");
    let message = status["message"].as_str().expect("a message");
    let start = format!("1 of 1 not healthy: Deployment {namespace}/web: Pod {namespace}/{pod}: container c");
    assert!(message.starts_with(&start), "{message}");

    cluster.apply(&deployment(&namespace, "explain-pull", "1")).await.expect("an image that there is");
    let status = health(cluster, "explain-pull", "Healthy").await;
    assert!(status["components"][0]["cause"].is_null(), "{status}");
}

#[tokio::test]
async fn a_failed_job_names_its_pod() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("explain").await.expect("a namespace");
    let job = format!(
        "apiVersion: batch/v1
kind: Job
metadata: {{name: load, namespace: {namespace}, labels: {{addons.x-k8s.io/explain-job: ''}}}}
spec:
  backoffLimit: 0
  template:
    metadata: {{annotations: {{testbed.addons.x-k8s.io/fail: CreateContainerConfigError}}}}
    spec: {{restartPolicy: Never, activeDeadlineSeconds: 2, containers: [{{name: c, image: 'registry.example/load:1'}}]}}
"
    );
    cluster.apply(&job).await.expect("a Job");
    let status = explained(cluster, "explain-job", "CreateContainerConfigError").await;
    assert_eq!(status["health"], "Degraded");
    assert_eq!(status["components"][0]["cause"]["kind"], "Pod");
}

/// Looks at an `Addon` for `time`, again and again; a write is a failure.
async fn unwritten(cluster: &Cluster, identifier: &str, before: &Value, time: Duration) {
    let start = Instant::now();
    eventually(time * 2 + LONG, "the time is over", || async {
        let now = addon(cluster, identifier).await?;
        assert_eq!(
            before["metadata"]["resourceVersion"], now["metadata"]["resourceVersion"],
            "{before}\n{now}"
        );
        if start.elapsed() >= time { Ok(()) } else { Err(format!("{:?}", start.elapsed())) }
    })
    .await;
}

#[tokio::test]
async fn the_role_of_deploy_is_enough_and_a_restart_writes_nothing() {
    let cluster = cluster().await;
    cluster.kubectl(&["apply", "-k", &at_root("deploy")]).await.expect("deploy/");
    let account = cluster.service_account("addons-system", "addon-controller").await.expect("the account");
    let namespace = cluster.namespace("explain").await.expect("a namespace");
    cluster.apply(&deployment(&namespace, "explain-pull", "missing")).await.expect("a Deployment");
    cluster.apply(&claim(&namespace, "explain-claim")).await.expect("a claim");

    let controller = Running::start(account.kubeconfig(), &[]);
    explained(&cluster, "explain-pull", "ImagePullBackOff").await;
    let status = explained(&cluster, "explain-claim", "FailedBinding").await;
    assert_eq!(words(&status, &["health", "reason"]), ["Progressing", "VolumePending"]);
    let message = status["message"].as_str().expect("a message");
    assert!(message.contains(&format!("PersistentVolumeClaim {namespace}/data: ")), "{message}");
    assert!(
        message.ends_with(
            "FailedBinding: no persistent volumes available for this claim and no storage class is set"
        ),
        "{message}"
    );

    let names = ["explain-pull", "explain-claim"];
    let mut before = Vec::new();
    for name in names {
        before.push(addon(&cluster, name).await.expect("an Addon"));
    }
    // The next look is five seconds after the first.
    unwritten(&cluster, names[0], &before[0], Duration::from_secs(8)).await;
    drop(controller);
    let controller = Running::start(account.kubeconfig(), &[]);
    controller.ready().await;
    unwritten(&cluster, names[0], &before[0], Duration::from_secs(8)).await;
    unwritten(&cluster, names[1], &before[1], Duration::ZERO).await;
}
