//! F10: rights that are missing, go and come, and credentials that aren't taken.

use std::time::Duration;

use addons_testbed::{Fault, When, eventually};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::json;

use crate::{
    stage::{Kind, Stage, WIDGETS, lasts},
    support::{LONG, condition},
};

fn everything() -> PolicyRule {
    let all = || Some(vec!["*".to_owned()]);
    PolicyRule { api_groups: all(), resources: all(), verbs: vec!["*".to_owned()], ..PolicyRule::default() }
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f10_a_right_is_taken_and_given_back() {
    let mut stage = Stage::without_controller("f10-taken").await;
    let user = stage.cluster.user("f10", vec![everything()]).await.expect("a user");
    stage.act_as(&user);
    stage.start().await;
    stage.cast().await;
    stage.agrees(LONG).await;
    let recorder = stage.record().await;
    let role = format!("testbed:{}", user.name().rsplit(':').next().expect("a name"));
    let change = |groups: serde_json::Value| {
        json!({"rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["*"]}]}).to_string()
    };
    let groups: Vec<String> = stage
        .cluster
        .kubectl(&["api-versions"])
        .await
        .expect("the groups")
        .lines()
        .map(|version| version.split_once('/').map_or("", |(group, _)| group).to_owned())
        .filter(|group| group != "widgets.faults.example")
        .collect();
    let fewer = change(json!(groups));
    stage
        .cluster
        .kubectl(&["patch", "clusterrole", &role, "--type=merge", "-p", &fewer])
        .await
        .expect("fewer");
    // Who watches already goes on until the watch ends.
    lasts(2).await;
    stage.break_watches(When::under(WIDGETS), 1).await;
    let status = stage.shows("well", LONG, |status| status["health"] == "Unknown").await;
    assert_eq!(condition(&status, "Observed")["status"], "False");
    assert_eq!(stage.gap("widgets").await.expect("a gap")["state"], "forbidden");
    stage.others_are_on_time().await;
    stage.put(Kind::Widget, "ill", "ill", Some(true)).await;

    let all = change(json!(["*"]));
    stage.cluster.kubectl(&["patch", "clusterrole", &role, "--type=merge", "-p", &all]).await.expect("all");
    stage.shows("ill", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    let history = recorder.finish().await;
    for what in ["well", "ill", "other"] {
        history.kept(&stage.id(what));
    }
    history.only(&stage.id("other"), &["Healthy"]);
}

#[tokio::test]
async fn f10_a_kind_is_forbidden_from_the_start() {
    let mut stage = Stage::with_cast("f10-start").await;
    stage.agrees(LONG).await;
    let forbidden = stage.proxy.inject(When::under(WIDGETS), Fault::Status(403, None));
    let recorder = stage.begin_recorded().await;
    stage.controller().ready().await;
    let status = stage.shows("well", LONG, |status| status["health"] == "Unknown").await;
    assert_eq!(condition(&status, "Observed")["status"], "False");
    stage.others_are_on_time().await;
    drop(forbidden);
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_honest("f10-start").only(&stage.id("other"), &["Healthy"]);
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f10_a_token_is_not_taken_for_a_while() {
    let stage = Stage::with_cast("f10-token").await;
    let recorder = stage.record().await;
    let refused = stage.proxy.inject(When::any(), Fault::Status(401, None));
    stage.break_watches(When::under(WIDGETS), 1).await;
    stage.break_watches(When::any(), 9).await;
    let before = stage.proxy.count(&When::any());
    lasts(6).await;
    let asked = stage.proxy.count(&When::any()) - before;
    assert!(asked <= 10 * 6, "{asked} requests for 10 watches in 6 s");
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    drop(refused);
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f10-token");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f10_a_token_in_a_file_is_replaced() {
    let mut stage = Stage::without_controller("f10-file").await;
    let first = stage.cluster.user("f10-first", vec![everything()]).await.expect("a user");
    let second = stage.cluster.user("f10-second", vec![everything()]).await.expect("a user");
    let file = stage.cluster.folder().join("f10.token");
    stage.act_as(&first.by_token_file(&file).expect("a kubeconfig"));
    stage.start().await;
    stage.cast().await;
    let recorder = stage.record().await;
    let (_, account) = first.name().split_once("serviceaccount:").expect("a service account");
    let (namespace, account) = account.split_once(':').expect("a namespace");
    let delete = ["delete", "serviceaccount", "-n", namespace, account];
    stage.cluster.kubectl(&delete).await.expect("deleted");
    let client = first.client().await.expect("a client");
    eventually(LONG, "its token isn't taken any more", || async {
        match client.list_core_api_versions().await {
            Err(kube::Error::Api(status)) if status.code == 401 => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    stage.break_watches(When::under(WIDGETS), 1).await;
    eventually(LONG, "widgets are refused", || async {
        let (_, metrics) = stage.controller().get("/metrics").await?;
        let refused = |line: &&str| line.contains(r#"resource="widgets",code="401""#);
        metrics.lines().find(refused).map(drop).ok_or_else(|| "no refusal is counted".to_owned())
    })
    .await;
    // Whatever has to be asked for waits: nobody is on time.
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    second.write_token(&file).expect("a token");
    // The file is read again within a minute, and widgets are asked for every half minute by then.
    stage.shows("new", Duration::from_secs(180), |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_honest("f10-file").only(&stage.id("other"), &["Healthy"]);
}
