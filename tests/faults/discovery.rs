//! F7: the API server doesn't say which kinds there are, or says it wrong.

use std::time::Instant;

use addons_testbed::{Ask, Fault, When};
use serde_json::json;

use crate::{
    stage::{Kind, Stage, happened},
    support::{LONG, serve},
};

const EMPTY: &str =
    r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}"#;

fn discovery() -> When {
    When::any().asks(&[Ask::Discovery])
}

/// Has discovery fail while a kind comes, and lets it see the truth.
async fn fails(name: &'static str, group: &str, fault: Fault) {
    let stage = Stage::with_cast(name).await;
    let recorder = stage.record().await;
    let started = Instant::now();
    let broken = stage.proxy.inject(discovery(), fault);
    // That it comes has discovery be read.
    serve(&stage.cluster, group, "Cluster", "Comet").await;
    let comet = format!(
        "{{apiVersion: {group}/v1, kind: Comet, metadata: {{name: one, labels: {{addons.x-k8s.io/{name}-comet: ''}}}}}}"
    );
    stage.cluster.apply(&comet).await.expect("a comet");
    stage.goes_on(7).await;
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    let (asked, took) = (broken.happened(), started.elapsed().as_secs());
    assert!(asked >= 1 && asked <= 20 + 2 * took, "{asked} times in {took} s");
    drop(broken);
    stage.shows("comet", LONG, |status| status["counts"]["total"] == 1).await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed(name);
    stage.cluster.kubectl(&["delete", "crd", &format!("comets.{group}")]).await.expect("deleted");
    stage.lacks("comet", LONG).await;
}

#[tokio::test]
async fn f07_discovery_is_unavailable() {
    fails("f07-down", "down.faults.example", Fault::Status(503, None)).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f07_discovery_is_empty() {
    fails("f07-empty", "empty.faults.example", Fault::Json(EMPTY.to_owned())).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f07_discovery_is_a_page() {
    fails("f07-page", "page.faults.example", Fault::Html(200)).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f07_discovery_is_broken_off() {
    let cut = Fault::Edit(|mut document| {
        document.truncate(document.len() / 2);
        document
    });
    fails("f07-cut", "cut.faults.example", cut).await;
}

/// What the API server says of groups whose own server it can't reach: they are stale and empty.
fn stale(document: String) -> String {
    let Ok(mut list) = serde_json::from_str::<serde_json::Value>(&document) else { return document };
    for group in list["items"].as_array_mut().into_iter().flatten() {
        let name = group["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        for version in group["versions"].as_array_mut().into_iter().flatten() {
            if name.ends_with("ets.faults.example") {
                version["freshness"] = "Stale".into();
                version["resources"] = serde_json::json!([]);
            }
        }
    }
    list.to_string()
}

#[tokio::test]
async fn f07_discovery_is_stale() {
    fails("f07-stale", "stale.faults.example", Fault::Edit(stale)).await;
}

/// The document without a group that is served.
fn lacking(document: String) -> String {
    let Ok(mut list) = serde_json::from_str::<serde_json::Value>(&document) else { return document };
    if let Some(groups) = list["items"].as_array_mut() {
        groups.retain(|group| group["metadata"]["name"] != "widgets.faults.example");
    }
    list.to_string()
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f07_discovery_lacks_a_group_that_is_served() {
    fails("f07-lacks", "lacks.faults.example", Fault::Edit(lacking)).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f07_the_api_server_is_not_up_whole_at_the_start() {
    let mut stage = Stage::with_cast("f07-starts").await;
    let unready = stage.proxy.inject(When::under("/readyz"), Fault::Status(500, None));
    let lacking = stage.proxy.inject(discovery(), Fault::Edit(lacking));
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    happened(&lacking, 1).await;
    happened(&unready, 1).await;
    stage.goes_on(10).await;
    drop(lacking);
    drop(unready);
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_honest("f07-starts").only(&stage.id("other"), &["Healthy"]);
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f07_discovery_is_stale_at_the_start() {
    let mut stage = Stage::with_cast("f07-begin").await;
    stage.agrees(LONG).await;
    let stale = stage.proxy.inject(discovery(), Fault::Edit(stale));
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    stage.shows("well", LONG, |status| status["health"] == "Unknown").await;
    stage.shows("ill", LONG, |status| status["health"] == "Unknown" || status["health"] == "Degraded").await;
    drop(stale);
    // That it is over is found out at the next sign of change.
    stage
        .cluster
        .kubectl(&["annotate", "crd", "widgets.widgets.faults.example", "--overwrite", "look=again"])
        .await
        .expect("a sign");
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_honest("f07-begin");
}

/// The document with a group in which an extension API server wrote what it likes.
fn odd(document: String) -> String {
    let Ok(mut list) = serde_json::from_str::<serde_json::Value>(&document) else { return document };
    if let Some(groups) = list["items"].as_array_mut() {
        let null_verbs = json!({"resource": "readings", "responseKind": null, "verbs": null, "subresources": [
            {"subresource": "last", "responseKind": {"kind": "Reading"}, "verbs": null}]});
        let senseless = json!({"resource": "gauges", "responseKind": {"kind": "Gauge"}, "verbs": "list"});
        groups.insert(
            0,
            json!({"metadata": {"name": "odd.example", "creationTimestamp": null}, "versions": [
            {"version": "v1", "freshness": "Current", "resources": [null_verbs, senseless]},
            {"version": "v0", "freshness": "Current", "resources": null}]}),
        );
    }
    list.to_string()
}

#[tokio::test]
async fn f07_a_part_of_discovery_makes_no_sense() {
    let mut stage = Stage::with_cast("f07-odd").await;
    let odd = stage.proxy.inject(discovery(), Fault::Edit(odd));
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    happened(&odd, 2).await;
    serve(&stage.cluster, "beside.faults.example", "Cluster", "Comet").await;
    let comet = "{apiVersion: beside.faults.example/v1, kind: Comet, metadata: {name: one, \
                 labels: {addons.x-k8s.io/f07-odd-comet: ''}}}";
    stage.cluster.apply(comet).await.expect("a comet");
    stage.shows("comet", LONG, |status| status["counts"]["total"] == 1).await;
    stage.agrees(LONG).await;
    let (_, watches) = stage.controller().get("/debug/watches").await.expect("the watches");
    assert!(watches.contains(r#""staleGroups":["odd.example"]"#), "{watches}");
    drop(odd);
    recorder.finish().await.is_honest("f07-odd").only(&stage.id("well"), &["Healthy"]);
    stage.cluster.kubectl(&["delete", "crd", "comets.beside.faults.example"]).await.expect("deleted");
    stage.lacks("comet", LONG).await;
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f07_discovery_is_of_the_old_form() {
    let mut stage = Stage::with_cast("f07-old").await;
    stage.agrees(LONG).await;
    let old = stage.proxy.inject(discovery(), Fault::Accept("application/json"));
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    assert!(old.happened() > 0, "discovery wasn't read");
    recorder.finish().await.is_honest("f07-old");
}
