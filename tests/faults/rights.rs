//! F10: rights that are missing, go and come, and credentials that aren't taken.

use addons_testbed::{Fault, When};
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
    let recorder = stage.record();
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
    stage.start().await;
    let recorder = stage.record();
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
    let recorder = stage.record();
    let refused = stage.proxy.inject(When::any(), Fault::Status(401, None));
    stage.break_watches(When::any(), 10).await;
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
