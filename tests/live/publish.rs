//! What is written into `Addon` objects, and what happens to those that others write into.

use std::{cell::RefCell, collections::BTreeSet, time::Instant};

use addons::api::{self, Addon, AddonSpec, AddonStatus, ComponentStatus, bounds};
use addons_testbed::{Cluster, eventually};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::support::{LONG, Running, addon, cluster, condition, health, stage};

/// A healthy component.
fn config_map(name: &str, identifier: &str, version: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: default, \
         labels: {{addons.x-k8s.io/{identifier}: '', app.kubernetes.io/version: '{version}'}}}}}}"
    )
}

async fn edit_status(cluster: &Cluster, name: &str, patch: Value) {
    let patch = patch.to_string();
    let arguments = ["patch", "addon", name, "--subresource=status", "--type=merge", "-p", &patch];
    cluster.kubectl(&arguments).await.expect("an edited status");
}

/// Waits until the `Addon` says exactly this again.
async fn put_right(cluster: &Cluster, name: &str, wanted: &Value) {
    eventually(LONG, "the Addon is put right", || async {
        let status = addon(cluster, name).await?["status"].take();
        if status == *wanted { Ok(()) } else { Err(status.to_string()) }
    })
    .await;
}

/// Waits until the `Addon` has this reason, and gives the object.
async fn reason(cluster: &Cluster, name: &str, wanted: &str) -> Value {
    eventually(LONG, &format!("the Addon {name} says {wanted}"), || async {
        let addon = addon(cluster, name).await?;
        if addon["status"]["reason"] == wanted { Ok(addon) } else { Err(addon.to_string()) }
    })
    .await
}

/// Changes another add-on three times and waits for each, which takes longer than what is done about
/// one that isn't at rest.
async fn let_others_go_by(cluster: &Cluster, identifier: &str) {
    for n in 1..=3 {
        cluster.apply(&config_map(&format!("{identifier}-{n}"), identifier, "1")).await.expect("a component");
        eventually(LONG, "the other add-on follows", || async {
            let status = addon(cluster, identifier).await?["status"].take();
            if status["counts"]["total"] == n { Ok(()) } else { Err(status.to_string()) }
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_edited_by_hand_is_put_right() {
    let cluster = stage().await.cluster;
    cluster.apply(&config_map("edited", "edited", "1.2")).await.expect("a component");
    let wanted = health(cluster, "edited", "Healthy").await;

    edit_status(cluster, "edited", json!({"health": "Degraded", "version": null, "components": []})).await;
    put_right(cluster, "edited", &wanted).await;
    // What somebody adds belongs to them, as far as field managers go. It goes all the same.
    edit_status(cluster, "edited", json!({"facts": [{"name": "url", "value": "https://example.com"}]})).await;
    put_right(cluster, "edited", &wanted).await;
    edit_status(cluster, "edited", json!({"counts": {"total": 1_u64 << 40}})).await;
    put_right(cluster, "edited", &wanted).await;
}

#[tokio::test]
async fn what_is_deleted_by_hand_is_made_again() {
    let cluster = stage().await.cluster;
    cluster.apply(&config_map("deleted", "deleted", "1.2")).await.expect("a component");
    let wanted = health(cluster, "deleted", "Healthy").await;
    let before = addon(cluster, "deleted").await.expect("an Addon");
    cluster.kubectl(&["delete", "addon", "deleted"]).await.expect("deleted");
    let after = eventually(LONG, "there is a new one", || async {
        let after = addon(cluster, "deleted").await?;
        let is_new = after["metadata"]["uid"] != before["metadata"]["uid"];
        if is_new && after["status"].is_object() { Ok(after) } else { Err(after.to_string()) }
    })
    .await;
    assert_eq!(after["status"], wanted, "with the times of the old one");
    assert_eq!(after["metadata"]["labels"]["app.kubernetes.io/managed-by"], "addon-controller");
}

#[tokio::test]
async fn what_was_made_by_hand_is_taught_and_kept() {
    let cluster = stage().await.cluster;
    let by_hand = "apiVersion: addons.x-k8s.io/v1alpha1
kind: Addon
metadata: {name: by-hand}
spec: {identifier: by-hand}
";
    cluster.apply(by_hand).await.expect("an Addon");
    let first = reason(cluster, "by-hand", "NoComponents").await;
    assert_eq!(first["status"]["health"], "Unknown");
    let message = first["status"]["message"].as_str().expect("a message");
    assert!(message.contains("kubectl label KIND NAME addons.x-k8s.io/by-hand="), "{message}");

    cluster.apply(&config_map("by-hand", "by-hand", "1")).await.expect("a component");
    health(cluster, "by-hand", "Healthy").await;
    cluster.kubectl(&["delete", "configmap", "by-hand"]).await.expect("deleted");
    let second = reason(cluster, "by-hand", "NoComponents").await;
    assert_eq!(first["metadata"]["uid"], second["metadata"]["uid"], "the same object");
    assert!(second["metadata"]["labels"].is_null(), "it isn't ours: {second}");
    assert_eq!(condition(&second["status"], "Ready")["status"], "Unknown");
    let_others_go_by(cluster, "beside-by-hand").await;
    let third = addon(cluster, "by-hand").await.expect("the Addon");
    assert_eq!(second["metadata"]["resourceVersion"], third["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn one_in_the_wrong_place_says_so() {
    let cluster = stage().await.cluster;
    let misnamed = "apiVersion: addons.x-k8s.io/v1alpha1
kind: Addon
metadata: {name: misnamed}
spec: {identifier: Other_Name}
";
    cluster.apply(misnamed).await.expect("an Addon");
    let addon = reason(cluster, "misnamed", "NameMismatch").await;
    assert_eq!(addon["status"]["health"], "Unknown");
    let message = addon["status"]["message"].as_str().expect("a message");
    assert!(message.contains("'other-name-x"), "{message}");
}

#[tokio::test]
async fn one_that_never_rests_is_written_once_a_second() {
    let cluster = stage().await.cluster;
    cluster.apply(&config_map("restless", "restless", "0")).await.expect("a component");
    health(cluster, "restless", "Healthy").await;
    let (start, step, seen) = (Instant::now(), RefCell::new(0), RefCell::new(BTreeSet::new()));
    eventually(LONG, "five more writes", || async {
        let next = step.replace_with(|step| *step + 1);
        let changed = cluster.apply(&config_map("restless", "restless", &next.to_string())).await;
        changed.map_err(|error| format!("{error:#}"))?;
        let version = addon(cluster, "restless").await?["metadata"]["resourceVersion"].to_string();
        seen.borrow_mut().insert(version);
        if seen.borrow().len() > 5 { Ok(()) } else { Err(format!("{seen:?}")) }
    })
    .await;
    // The first of six may have been there before, and the second comes at once.
    assert!(start.elapsed().as_secs() >= 4, "six versions in {:?}", start.elapsed());
}

#[tokio::test]
async fn the_largest_status_is_taken_as_it_is() {
    let cluster = stage().await.cluster;
    let addons = Api::<Addon>::all(cluster.client().await.expect("a client"));
    let component = |n: usize| ComponentStatus {
        name: format!("{n}-{}", "<".repeat(300)),
        message: "&\u{1}容\"".repeat(300),
        ..serde_json::from_value(json!({"kind": "X", "resource": "xs", "version": "v1", "name": "",
            "health": "Degraded", "reason": "容".repeat(200), "rule": "r"}))
        .expect("a component")
    };
    let whole = AddonStatus { components: (0..5000).map(component).collect(), ..AddonStatus::default() };
    let status = bounds::fit(&whole);
    assert!(status.omitted > 4000 && status.components.len() > 50, "{}", status.components.len());

    let made = Addon::new("largest", AddonSpec { identifier: "largest".into() });
    addons.create(&PostParams::default(), &made).await.expect("an Addon");
    let apply = json!({"apiVersion": "addons.x-k8s.io/v1alpha1", "kind": "Addon", "status": status});
    let parameters = PatchParams::apply("somebody").force();
    let taken = addons.patch_status("largest", &parameters, &Patch::Apply(apply)).await.expect("it is taken");
    assert_eq!(taken.status, Some(status));
}

/// The CRD of another version of the controller.
fn another_crd(change: impl FnOnce(&mut JSONSchemaProps)) -> String {
    let mut crd: CustomResourceDefinition = api::crd();
    let version = crd.spec.versions.first_mut().expect("a version");
    let schema = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut());
    let properties = schema.and_then(|schema| schema.properties.as_mut()).expect("properties");
    change(properties.get_mut("status").expect("a status"));
    serde_json::to_string(&crd).expect("JSON")
}

fn field<'a>(schema: &'a mut JSONSchemaProps, name: &str) -> &'a mut JSONSchemaProps {
    schema.properties.as_mut().and_then(|properties| properties.get_mut(name)).expect(name)
}

async fn writes(controller: &Running, result: &str) -> u64 {
    let (_, metrics) = controller.get("/metrics").await.expect("metrics");
    let line = metrics.lines().find(|line| line.contains(&format!("result=\"{result}\"")));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("a counter of writes")
}

#[tokio::test]
async fn the_crd_of_another_version_never_makes_it_loop() {
    let cluster = cluster().await;
    let strict = another_crd(|status| {
        let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut field(status, "components").items else {
            panic!("no items");
        };
        field(items, "rule").max_length = Some(1);
    });
    cluster.apply(&strict).await.expect("a CRD");
    let controller = Running::start(cluster.kubeconfig(), &["--removal-grace", "1s"]);
    controller.ready().await;
    cluster.apply(&config_map("strict", "strict", "1")).await.expect("a component");
    let headline = health(&cluster, "strict", "Healthy").await;
    assert_eq!((&headline["ready"], &headline["omitted"]), (&json!("1/1"), &json!(1)));
    assert_eq!(headline["counts"]["total"], 1);
    assert!(headline["components"].is_null(), "{headline}");
    let whole = controller.addon("strict").await.expect("HTTP knows all");
    assert!(whole.to_string().contains("\"omitted\":0"), "{whole}");

    let before = addon(&cluster, "strict").await.expect("an Addon");
    let_others_go_by(&cluster, "beside-strict").await;
    assert_eq!(before, addon(&cluster, "strict").await.expect("an Addon"));
    assert_eq!(writes(&controller, "refused").await, 1 + 3, "one for each status");

    let narrow = another_crd(|status| {
        status.properties.as_mut().expect("properties").remove("version");
    });
    cluster.apply(&narrow).await.expect("a CRD");
    cluster.apply(&config_map("narrow", "narrow", "1")).await.expect("a component");
    let pruned = health(&cluster, "narrow", "Healthy").await;
    assert!(pruned["version"].is_null(), "{pruned}");
    let before = addon(&cluster, "narrow").await.expect("an Addon");
    let written = writes(&controller, "updated").await;
    let_others_go_by(&cluster, "beside-narrow").await;
    assert_eq!(before, addon(&cluster, "narrow").await.expect("an Addon"));
    // The other one was created with its first status, and written twice.
    assert_eq!(writes(&controller, "updated").await, written + 2);
}
