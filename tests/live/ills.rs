//! What is ill shows the right word, and `addonctl why` names the last cause.

use addons_testbed::{Cluster, eventually};
use serde_json::Value;

use crate::support::{LONG, addon, addonctl, established, serve, stage};

/// Waits until `kubectl get addons` has this health, until `addonctl why` says all of `wanted`, and
/// gives what it says.
async fn told(identifier: &str, health: &str, wanted: &[&str]) -> String {
    let cluster = stage().await.cluster;
    let what = format!("{identifier} is {health} and addonctl why says {wanted:?}");
    eventually(LONG, &what, || async {
        let columns = cluster.kubectl(&["get", "addons", identifier, "--no-headers"]).await;
        let columns = columns.map_err(|error| format!("{error:#}"))?;
        if columns.split_whitespace().nth(1) != Some(health) {
            return Err(columns);
        }
        let (code, out, err) = addonctl(cluster.kubeconfig(), &["why", identifier]).await;
        let missing: Vec<&&str> = wanted.iter().filter(|part| !flat(&out).contains(**part)).collect();
        match (code, &*missing) {
            (0, []) => Ok(out),
            _ => Err(format!("code {code}, without {missing:?}:\n{out}{err}")),
        }
    })
    .await
}

/// Text as it was before it was broken into lines of a tree.
fn flat(tree: &str) -> String {
    let words = tree.split_whitespace().filter(|word| !matches!(*word, "│" | "├─" | "└─"));
    words.collect::<Vec<_>>().join(" ")
}

async fn message(identifier: &str) -> String {
    let status = addon(stage().await.cluster, identifier).await.expect("an Addon")["status"].take();
    status["message"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_image_that_cannot_be_pulled() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("pull").await.expect("a namespace");
    // The pods carry no label: nothing says why but looking.
    let manifest = format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}, labels: {{addons.x-k8s.io/ill-pull: ''}}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: 'registry.example/web:missing'}}]}}
"
    );
    cluster.apply(&manifest).await.expect("a Deployment");
    let tree =
        told("ill-pull", "Degraded", &["ReplicaSet", "Pod", "ImagePullBackOff", "container web"]).await;
    assert!(tree.lines().all(|line| line.chars().count() <= 80), "{tree}");
    assert!(message("ill-pull").await.contains("Pod"), "{}", message("ill-pull").await);
}

#[tokio::test]
async fn a_claim_without_a_class() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("claim").await.expect("a namespace");
    let manifest = format!(
        "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: {namespace}, labels: {{addons.x-k8s.io/ill-claim: ''}}}}
spec: {{accessModes: [ReadWriteOnce], storageClassName: '', resources: {{requests: {{storage: 1Gi}}}}}}
"
    );
    cluster.apply(&manifest).await.expect("a claim");
    told("ill-claim", "Progressing", &["PersistentVolumeClaim", "FailedBinding", "no storage class is set"])
        .await;
}

#[tokio::test]
async fn a_failed_job() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("job").await.expect("a namespace");
    let manifest = format!(
        "apiVersion: batch/v1
kind: Job
metadata: {{name: load, namespace: {namespace}, labels: {{addons.x-k8s.io/ill-job: ''}}}}
spec:
  backoffLimit: 0
  template:
    metadata: {{labels: {{pod-container-running-failed.stage.kwok.x-k8s.io: 'true'}}}}
    spec: {{restartPolicy: Never, containers: [{{name: load, image: 'registry.example/load:1'}}]}}
"
    );
    cluster.apply(&manifest).await.expect("a Job");
    told("ill-job", "Degraded", &["Job", "its pod", "container load ended with exit code 1"]).await;
}

#[tokio::test]
async fn a_definition_whose_names_collide() {
    let cluster = stage().await.cluster;
    let definition = |plural: &str, kind: &str, label: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.ills.acme.test, labels: {{{label}}}}}
spec:
  group: ills.acme.test
  scope: Namespaced
  names: {{plural: {plural}, singular: {plural}-one, kind: {kind}}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
"
        )
    };
    cluster.apply(&definition("gizmos", "Gizmo", "a: b")).await.expect("a CRD");
    established(cluster, "gizmos.ills.acme.test").await;
    cluster.apply(&definition("gadgets", "Gizmo", "addons.x-k8s.io/ill-names: ''")).await.expect("a CRD");
    told("ill-names", "Degraded", &["CustomResourceDefinition", "KindConflict", "already in use"]).await;
}

#[tokio::test]
async fn an_autoscaler_without_metrics() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("scale").await.expect("a namespace");
    let manifest = format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: 'registry.example/web:1', resources: {{requests: {{cpu: 10m}}}}}}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: {namespace}, labels: {{addons.x-k8s.io/ill-scale: ''}}}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  maxReplicas: 3
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]
"
    );
    cluster.apply(&manifest).await.expect("an autoscaler");
    told("ill-scale", "Degraded", &["HorizontalPodAutoscaler", "FailedGetResourceMetric", "APIService"])
        .await;
}

#[tokio::test]
async fn a_certificate_that_failed() {
    let cluster = stage().await.cluster;
    let namespace = cluster.namespace("cert").await.expect("a namespace");
    for kind in ["Certificate", "CertificateRequest"] {
        serve(cluster, "cert-manager.io", "Namespaced", kind).await;
    }
    let certificate = format!(
        "{{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {{name: site, namespace: {namespace}, labels: {{addons.x-k8s.io/ill-cert: ''}}}}, spec: {{secretName: site-tls}}}}"
    );
    applied(cluster, &certificate).await;
    let get = ["-n", &namespace, "get", "certificate", "site", "-o", "jsonpath={.metadata.uid}"];
    let uid = cluster.kubectl(&get).await.expect("a certificate");
    applied(
        cluster,
        &format!(
            "{{apiVersion: cert-manager.io/v1, kind: CertificateRequest, metadata: {{name: site-1, namespace: {namespace}, ownerReferences: [{{apiVersion: cert-manager.io/v1, kind: Certificate, name: site, uid: {uid}, controller: true}}]}}}}"
        ),
    )
    .await;
    status(cluster, &namespace, "certificaterequest/site-1", r#"{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"the ACME server refused: rate limited"}]}"#).await;
    status(cluster, &namespace, "certificate/site", r#"{"conditions":[{"type":"Ready","status":"False","reason":"DoesNotExist"},{"type":"Issuing","status":"False","reason":"Failed","message":"The certificate request has failed to complete"}]}"#).await;
    told("ill-cert", "Degraded", &["Certificate", "CertificateRequest", "rate limited"]).await;
}

/// Applies an object of a kind that the API server serves from one moment to the next.
async fn applied(cluster: &Cluster, manifest: &str) {
    eventually(LONG, "the API server takes the object", || async {
        cluster.apply(manifest).await.map(drop).map_err(|error| format!("{error:#}"))
    })
    .await;
}

/// Writes a status as its controller would.
async fn status(cluster: &Cluster, namespace: &str, name: &str, status: &str) {
    let status: Value = serde_json::from_str(status).expect("JSON");
    let patch = serde_json::json!({"status": status}).to_string();
    cluster
        .kubectl(&["-n", namespace, "patch", name, "--subresource=status", "--type=merge", "-p", &patch])
        .await
        .expect("a status");
}
