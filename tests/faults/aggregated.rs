//! F6: API servers behind the API server that are dead, hang or talk nonsense.

use std::time::{Duration, Instant};

use addons_testbed::{Cluster, Fault, When, eventually};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    stage::{Kind, Stage, WIDGETS},
    support::{LONG, condition},
};

/// How long a start may take where something is broken that it has to wait for.
const START: Duration = Duration::from_secs(20);

/// Has the API server ask `service` for a group of its own.
async fn serve_by(cluster: &Cluster, group: &str, service: &str, port: u16) {
    let manifest = format!(
        "apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: v1.{group}}}
spec:
  group: {group}
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {{name: {service}, namespace: default, port: {port}}}
---
apiVersion: v1
kind: Service
metadata: {{name: hanging, namespace: default}}
spec: {{type: ExternalName, externalName: localhost}}
"
    );
    cluster.apply(&manifest).await.expect("an APIService");
}

async fn remove(cluster: &Cluster, group: &str) {
    cluster.kubectl(&["delete", "apiservice", &format!("v1.{group}")]).await.expect("deleted");
}

/// Waits until the controller says that it can't tell what a group serves. Without a sign of change it is asked
/// for what is served every two minutes.
async fn is_stale(stage: &Stage, group: &str) {
    eventually(Duration::from_secs(150), &format!("{group} is stale"), || async {
        let (_, watches) = stage.controller().get("/debug/watches").await?;
        let watches: Value = serde_json::from_str(&watches).map_err(|error| error.to_string())?;
        let stale = &watches["discovery"]["staleGroups"];
        let is_named = stale.as_array().is_some_and(|groups| groups.iter().any(|name| name == group));
        if is_named { Ok(()) } else { Err(stale.to_string()) }
    })
    .await;
}

/// Starts the controller beside a group whose server is broken.
async fn start_beside(name: &'static str, group: &str, service: &str, port: u16) {
    let mut stage = Stage::with_cast(name).await;
    stage.agrees(LONG).await;
    let recorder = stage.record().await;
    serve_by(&stage.cluster, group, service, port).await;
    stage.others_are_on_time().await;
    is_stale(&stage, group).await;
    recorder.finish().await.is_undisturbed(name);
    let started = Instant::now();
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    let ready = started.elapsed();
    is_stale(&stage, group).await;
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stage.others_are_on_time().await;
    remove(&stage.cluster, group).await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed(name);
    assert!(ready < Duration::from_secs(10), "ready after {ready:?}");
}

#[tokio::test]
async fn f06_an_api_service_to_nowhere() {
    start_beside("f06-nowhere", "nowhere.faults.example", "missing", 443).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f06_an_api_service_that_hangs() {
    // It is connected to, and that is all.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    start_beside("f06-hangs", "hangs.faults.example", "hanging", port).await;
}

/// Has all that is asked of widgets be answered with nonsense.
async fn nonsense(name: &'static str, fault: Fault) {
    let stage = Stage::with_cast(name).await;
    let recorder = stage.record().await;
    // So that it is the answer to a list, too.
    let _too_old = stage.proxy.inject_times(1, When::under(WIDGETS).watches(), Fault::Expired);
    let nonsense = stage.proxy.inject(When::under(WIDGETS), fault);
    let before = stage.proxy.count(&When::under(WIDGETS));
    let lists = stage.proxy.count(&When::under(WIDGETS).lists());
    stage.break_watches(When::under(WIDGETS), 1).await;
    stage.lists_widgets(lists).await;
    stage.goes_on(5).await;
    let asked = stage.proxy.count(&When::under(WIDGETS)) - before;
    assert!(asked <= 10, "{asked} requests");
    stage.put(Kind::Widget, "well", "well", Some(false)).await;
    drop(nonsense);
    stage.shows("well", LONG, |status| status["health"] == "Degraded").await;
    stage.put(Kind::Widget, "well", "well", Some(true)).await;
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    let history = recorder.finish().await;
    for what in ["well", "ill", "other"] {
        history.kept(&stage.id(what));
    }
    history.only(&stage.id("ill"), &["Degraded"]);
}

#[tokio::test]
async fn f06_a_page_where_a_watch_should_be() {
    nonsense("f06-html", Fault::Html(200)).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f06_an_empty_object_where_a_watch_should_be() {
    nonsense("f06-empty", Fault::Json("{}".to_owned())).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f06_a_list_of_something_else() {
    let list = r#"{"apiVersion":"v1alpha3","kind":"Whatever","metadata":{},"items":[]}"#;
    nonsense("f06-list", Fault::Json(list.to_owned())).await;
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f06_nonsense_that_lasts_is_said() {
    let stage = Stage::with_cast("f06-lasts").await;
    let recorder = stage.record().await;
    let nonsense = stage.proxy.inject(When::under(WIDGETS), Fault::Html(200));
    stage.break_watches(When::under(WIDGETS), 1).await;
    let status = stage.shows("well", Duration::from_secs(120), |status| status["health"] == "Unknown").await;
    assert_eq!(condition(&status, "Observed")["status"], "False");
    stage.gap("widgets").await.expect("a gap");
    stage.others_are_on_time().await;
    drop(nonsense);
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_honest("f06-lasts").only(&stage.id("other"), &["Healthy"]);
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f06_a_kind_that_hangs_at_the_start_holds_up_nobody() {
    let mut stage = Stage::with_cast("f06-start").await;
    stage.agrees(LONG).await;
    let hanging = stage.proxy.inject(When::under(WIDGETS), Fault::Stall);
    let started = Instant::now();
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    let ready = started.elapsed();
    stage.others_are_on_time().await;
    // What was written before holds for a moment, and not for ever.
    eventually(Duration::from_secs(90), "it is said that widgets aren't seen", || stage.gap("widgets")).await;
    stage.shows("well", LONG, |status| status["health"] == "Unknown").await;
    drop(hanging);
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_honest("f06-start");
    assert!(ready < START, "ready after {ready:?}");
}
