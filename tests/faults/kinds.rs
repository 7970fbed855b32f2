//! F8, F9, F23: kinds that come, go, change, and are served more than once.

use std::time::Duration;

use addons_testbed::{Ask, When, eventually};
use futures::{StreamExt, stream};
use kube::{
    Api,
    api::PostParams,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use tokio::net::TcpListener;

use crate::{
    stage::{Kind, Stage},
    support::{LONG, condition, crd, established, serve},
};

/// How soon an object of a kind that is new must be seen.
const NEW_KIND: Duration = Duration::from_secs(5);

fn object(group: &str, version: &str, kind: &str, scope: &str, identifier: &str) -> String {
    format!(
        r#"{{"apiVersion": "{group}/{version}", "kind": "{kind}", "metadata": {{"name": "one", {scope} "labels": {{"addons.x-k8s.io/{identifier}": ""}}}}}}"#
    )
}

/// Waits until the API server takes the object.
async fn applied(stage: &Stage, manifest: &str) {
    eventually(LONG, "the API server takes the object", || async {
        stage.cluster.apply(manifest).await.map(drop).map_err(|error| format!("{error:#}"))
    })
    .await;
}

/// Makes an object of a kind that comes just now.
async fn make(stage: &Stage, kind: String) {
    let gvk = GroupVersionKind::gvk("burst.faults.example", "v1", &kind);
    let api = Api::<DynamicObject>::all_with(stage.client.clone(), &ApiResource::from_gvk(&gvk));
    let object = object("burst.faults.example", "v1", &kind, "", "f08-burst-all");
    let object: DynamicObject = serde_json::from_str(&object).expect("an object");
    eventually(LONG, "the API server takes the object", || async {
        match api.create(&PostParams::default(), &object).await {
            Err(error) if !error.to_string().contains("AlreadyExists") => Err(error.to_string()),
            _ => Ok(()),
        }
    })
    .await;
}

#[tokio::test]
async fn f08_a_kind_comes_with_objects_and_goes_with_them() {
    let stage = Stage::with_cast("f08-comes").await;
    let group = "comes.faults.example";
    let recorder = stage.record().await;
    stage.cluster.apply(&crd(group, "Cluster", "Guest")).await.expect("a CRD");
    applied(&stage, &object(group, "v1", "Guest", "", "f08-comes-guest")).await;
    stage.shows("guest", NEW_KIND, |status| status["counts"]["total"] == 1).await;
    stage.agrees(LONG).await;
    stage.cluster.kubectl(&["delete", "crd", &format!("guests.{group}")]).await.expect("deleted");
    stage.lacks("guest", LONG).await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f08-comes");
    eventually(LONG, "nobody watches it any more", || async {
        let (_, metrics) = stage.controller().get("/metrics").await?;
        if metrics.contains(group) { Err(metrics) } else { Ok(()) }
    })
    .await;
    let guests = When::under(&format!("/apis/{group}/"));
    let asked = stage.proxy.count(&guests);
    stage.goes_on(3).await;
    assert_eq!(stage.proxy.count(&guests), asked, "nobody asks any more");
}

#[tokio::test]
async fn f08_a_kind_comes_again_with_another_scope() {
    let stage = Stage::with_cast("f08-scope").await;
    let recorder = stage.record().await;
    let group = "scope.faults.example";
    serve(&stage.cluster, group, "Cluster", "Guest").await;
    applied(&stage, &object(group, "v1", "Guest", "", "f08-scope-guest")).await;
    stage.shows("guest", LONG, |status| status["components"][0]["namespace"].is_null()).await;
    stage.cluster.kubectl(&["delete", "crd", &format!("guests.{group}")]).await.expect("deleted");
    serve(&stage.cluster, group, "Namespaced", "Guest").await;
    // What kubectl remembers of the kind is out of date.
    let path = format!("/apis/{group}/v1/namespaces/default/guests");
    let guest = object(group, "v1", "Guest", r#""namespace": "default","#, "f08-scope-guest");
    eventually(LONG, "the API server takes the object", || async {
        let made =
            stage.cluster.admin().kubectl_with_input(&["create", "--raw", &path, "-f", "-"], &guest).await;
        made.map(drop).map_err(|error| format!("{error:#}"))
    })
    .await;
    stage.shows("guest", LONG, |status| status["components"][0]["namespace"] == "default").await;
    stage.agrees(LONG).await;
    stage.cluster.kubectl(&["delete", "crd", &format!("guests.{group}")]).await.expect("deleted");
    stage.lacks("guest", LONG).await;
    recorder.finish().await.is_undisturbed("f08-scope");
}

/// A CRD of two versions, the newer of which is stored, and converted by nobody or by a webhook at a port.
fn two_versions(group: &str, webhook: Option<u16>) -> String {
    let one = crd(group, "Cluster", "Guest");
    let (head, version) = one.split_once("  versions:\n").expect("versions");
    let newer = version.replace("name: v1", "name: v2");
    let older = version.replace("storage: true", "storage: false");
    let (older, newer) = if webhook.is_some() {
        // What is stored is of the old version, and asked for is the new.
        (version.to_owned(), newer.replace("storage: true", "storage: false"))
    } else {
        (older, newer)
    };
    let conversion = webhook.map(|port| {
        format!(
            "  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {{url: 'https://127.0.0.1:{port}/convert'}}
"
        )
    });
    let conversion = conversion.unwrap_or_default();
    format!("{head}{conversion}  versions:\n{newer}{older}")
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f08_the_stored_version_of_a_kind_changes() {
    let stage = Stage::with_cast("f08-stored").await;
    let group = "stored.faults.example";
    serve(&stage.cluster, group, "Cluster", "Guest").await;
    applied(&stage, &object(group, "v1", "Guest", "", "f08-stored-guest")).await;
    stage.shows("guest", LONG, |status| status["components"][0]["version"] == "v1").await;
    let recorder = stage.record().await;
    stage.cluster.apply(&two_versions(group, None)).await.expect("a CRD");
    stage.shows("guest", LONG, |status| status["components"][0]["version"] == "v2").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f08-stored").kept("f08-stored-guest");
    stage.cluster.kubectl(&["delete", "crd", &format!("guests.{group}")]).await.expect("deleted");
    stage.lacks("guest", LONG).await;
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f08_a_hundred_kinds_come_at_once_and_go() {
    let stage = Stage::with_cast("f08-burst").await;
    let recorder = stage.record().await;
    let discovery = When::any().asks(&[Ask::Discovery]);
    let before = stage.proxy.count(&discovery);
    let all: Vec<String> =
        (0..100).map(|n| crd("burst.faults.example", "Cluster", &format!("Burst{n}"))).collect();
    let load = async {
        stage.cluster.apply(&all.join("---\n")).await.expect("CRDs");
        established(&stage.cluster, "burst99s.burst.faults.example").await;
        // kubectl would read the schemas of all of them, which the API server is busy with.
        stream::iter(0..100).for_each_concurrent(8, |n| make(&stage, format!("Burst{n}"))).await;
    };
    stage.under_load(load).await;
    stage.shows("all", LONG, |status| status["counts"]["total"] == 100).await;
    // Each reading is of two documents, and each kind comes in four steps.
    let asked = (stage.proxy.count(&discovery) - before) / 2;
    assert!(asked < 100, "discovery was read {asked} times");
    stage.others_are_on_time().await;
    stage.agrees(LONG).await;
    let names: Vec<String> = (0..100).map(|n| format!("burst{n}s.burst.faults.example")).collect();
    let mut arguments = vec!["delete", "crd"];
    arguments.extend(names.iter().map(String::as_str));
    stage.cluster.kubectl(&arguments).await.expect("deleted");
    stage.lacks("all", LONG).await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f08-burst");
}

/// Has the API server ask a webhook for a version of a kind, and lets it be without one again.
async fn converted(name: &'static str, group: &str, port: u16) {
    let stage = Stage::with_cast(name).await;
    serve(&stage.cluster, group, "Cluster", "Guest").await;
    applied(&stage, &object(group, "v1", "Guest", "", &stage.id("guest"))).await;
    stage.shows("guest", LONG, |status| status["counts"]["total"] == 1).await;
    stage.others_are_on_time().await;
    let recorder = stage.record().await;
    stage.cluster.apply(&two_versions(group, Some(port))).await.expect("a CRD");
    let unknown = stage.shows("guest", LONG, |status| status["health"] == "Unknown");
    let status = stage.beside(unknown).await;
    assert_eq!(condition(&status, "Observed")["status"], "False", "{status}");
    assert_eq!(status["counts"]["total"], 1, "{status}");
    stage.others_are_on_time().await;
    stage.cluster.apply(&crd(group, "Cluster", "Guest")).await.expect("a CRD");
    stage.shows("guest", LONG, |status| status["health"] != "Unknown").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed(name).kept(&stage.id("guest"));
    stage.cluster.kubectl(&["delete", "crd", &format!("guests.{group}")]).await.expect("deleted");
    stage.lacks("guest", LONG).await;
}

#[tokio::test]
async fn f09_a_conversion_webhook_dies() {
    converted("f09-webhook", "webhook.faults.example", 9).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f09_a_conversion_webhook_hangs() {
    // It is connected to, and that is all.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    converted("f09-hangs", "slow.faults.example", port).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f23_what_is_served_twice_counts_once() {
    let stage = Stage::with_cast("f23-twice").await;
    let recorder = stage.record().await;
    let (a, b) = ("twins-a.faults.example", "twins-b.faults.example");
    serve(&stage.cluster, a, "Cluster", "Twin").await;
    serve(&stage.cluster, b, "Namespaced", "Twin").await;
    applied(&stage, &object(a, "v1", "Twin", "", "f23-twice-twins")).await;
    applied(&stage, &object(b, "v1", "Twin", r#""namespace": "default","#, "f23-twice-twins")).await;
    stage.shows("twins", LONG, |status| status["counts"]["total"] == 2).await;
    let labels = "labels: {addons.x-k8s.io/f23-twice-scaled: '', faults: made}";
    let scaled = format!(
        "apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {{name: f23, namespace: default, {labels}}}
spec: {{maxReplicas: 3, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: f23}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: f23, namespace: default, {labels}}}
spec: {{defaultBackend: {{service: {{name: f23, port: {{number: 80}}}}}}}}
"
    );
    applied(&stage, &scaled).await;
    let status = stage.shows("scaled", LONG, |status| status["counts"]["total"] == 2).await;
    assert_eq!(status["components"].as_array().map(Vec::len), Some(2), "{status}");
    stage.cluster.kubectl(&["delete", "hpa,ingress", "-n", "default", "f23"]).await.expect("deleted");
    stage.lacks("scaled", LONG).await;
    stage.agrees(LONG).await;
    for group in [a, b] {
        stage.cluster.kubectl(&["delete", "crd", &format!("twins.{group}")]).await.expect("deleted");
    }
    stage.lacks("twins", LONG).await;
    recorder.finish().await.is_undisturbed("f23-twice");
}

#[tokio::test]
async fn f23_what_is_made_again_counts_once() {
    let stage = Stage::with_cast("f23-again").await;
    let uid = |status: &serde_json::Value| status["components"][0]["uid"].as_str().map(str::to_owned);
    let first = stage.shows("well", LONG, |status| status["ready"] == "1/1").await;
    let recorder = stage.record().await;
    for _ in 0..5 {
        stage.delete(Kind::Widget, "well").await;
        stage.put(Kind::Widget, "well", "well", Some(true)).await;
    }
    let last =
        stage.shows("well", LONG, |status| status["ready"] == "1/1" && uid(status) != uid(&first)).await;
    assert_eq!(last["counts"]["total"], 1, "{last}");
    stage.agrees(LONG).await;
    let history = recorder.finish().await;
    // The object may be seen before its status is.
    history.kept(&stage.id("well")).only(&stage.id("well"), &["Healthy", "Progressing"]);
}
