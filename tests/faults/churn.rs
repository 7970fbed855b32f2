//! F17, F22: many changes, many objects, many components.

use std::time::{Duration, Instant};

use addons_testbed::{Ask, When};
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::{
    stage::{Kind, Stage},
    support::LONG,
};

/// Requests at a time.
const CONCURRENT: usize = 16;

/// Where config maps are.
const CONFIG_MAPS: &str = "configmaps/default";

/// Makes so many config maps; of each `every` one is part of an add-on.
pub async fn config_maps(stage: &Stage, objects: usize, addon: &str, every: usize) {
    let label = format!("addons.x-k8s.io/{}", stage.id(addon));
    let config_map = |n: usize| {
        let mut labels = json!({"faults": "made"});
        if n.is_multiple_of(every) {
            labels[&label] = "".into();
        }
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": stage.id(&format!("map-{n}")), "namespace": "default", "labels": labels,
                "uid": format!("00000000-0000-4000-8000-{n:012}"),
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "data": {"settings": "some: text\n".repeat(40)},
        })
    };
    let config_maps: Vec<_> = (0..objects).map(config_map).collect();
    stage.cluster.store(CONFIG_MAPS, &config_maps).await.expect("config maps");
}

/// Deletes them.
pub async fn clear(stage: &Stage) {
    stage.cluster.unstore(CONFIG_MAPS, &stage.id("map-")).await.expect("deleted");
}

/// Takes the label off one object and puts it on again, so often.
async fn flap(stage: &Stage, name: &str, addon: &str, times: usize) {
    let api = Kind::ConfigMap.api(&stage.client);
    let (name, label) = (stage.id(name), format!("addons.x-k8s.io/{}", stage.id(addon)));
    for n in 0..times {
        let value = if n % 2 == 0 { serde_json::Value::Null } else { "".into() };
        let patch = json!({"metadata": {"labels": {&label: value}}});
        api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("a flap");
    }
}

/// Moves the first config maps from one add-on to another.
async fn move_all(stage: &Stage, objects: usize, from: &str, to: &str) {
    let api = Kind::ConfigMap.api(&stage.client);
    let label = |addon: &str| format!("addons.x-k8s.io/{}", stage.id(addon));
    let patch = json!({"metadata": {"labels": {label(from): null, label(to): ""}}});
    stream::iter(0..objects)
        .map(|n| {
            let (api, name, patch) =
                (api.clone(), stage.id(&format!("map-{n}")), Patch::Merge(patch.clone()));
            async move { api.patch(&name, &PatchParams::default(), &patch).await.map(drop) }
        })
        .buffer_unordered(CONCURRENT)
        .try_for_each(|()| async { Ok(()) })
        .await
        .expect("labels");
}

async fn churn(name: &'static str, flaps: usize, members: usize) {
    let stage = Stage::with_cast(name).await;
    config_maps(&stage, members, "from", 1).await;
    let all = format!("{members}/{members}");
    stage.shows("from", LONG, |status| status["ready"] == *all).await;
    stage
        .write(Kind::ConfigMap, "flaps", &[(&format!("addons.x-k8s.io/{}", stage.id("flaps")), "")], None)
        .await;
    stage.shows("flaps", LONG, |status| status["ready"] == "1/1").await;
    let recorder = stage.record().await;
    let writes = When::under("/apis/addons.x-k8s.io/").asks(&[Ask::Write]);
    let (started, before) = (Instant::now(), stage.proxy.count(&writes));
    let load = async {
        tokio::join!(flap(&stage, "flaps", "flaps", flaps), move_all(&stage, members, "from", "to"))
    };
    stage.under_load(load).await;
    stage.others_are_on_time().await;
    stage.shows("to", LONG, |status| status["ready"] == *all).await;
    stage.shows("flaps", LONG, |status| status["ready"] == "1/1").await;
    stage.lacks("from", LONG).await;
    stage.agrees(LONG).await;
    // Each of the four add-ons is written once a second at most, and the first time at once. One that is
    // made or goes takes two requests.
    let (took, written) = (started.elapsed(), stage.proxy.count(&writes) - before);
    assert!(written <= 4 * (took.as_secs() + 2) + 6, "{written} writes in {took:?}");
    recorder.finish().await.is_undisturbed(name);
    clear(&stage).await;
    stage.lacks("to", LONG).await;
}

#[tokio::test]
async fn f17_a_label_flaps_and_others_move() {
    churn("f17-short", 300, 150).await;
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f17_a_label_flaps_for_long_and_a_thousand_move() {
    churn("f17-long", 2_000, 1_000).await;
}

/// An add-on of so many components, whose object must stay as small as it has to be.
async fn count(name: &'static str, components: usize) {
    let stage = Stage::with_cast(name).await;
    let recorder = stage.record().await;
    config_maps(&stage, components, "many", 1).await;
    let all = format!("{components}/{components}");
    stage.shows("many", LONG, |status| status["ready"] == *all && status["omitted"].is_number()).await;
    stage.agrees(LONG).await;
    let get = ["get", "addon", &stage.id("many"), "-o", "json"];
    let object = stage.cluster.kubectl(&get).await.expect("an Addon");
    let object: serde_json::Value = serde_json::from_str(&object).expect("JSON");
    assert_eq!(object["status"]["counts"]["total"], components);
    let size = object["status"].to_string().len();
    assert!(size < 256 << 10, "{size} bytes");
    clear(&stage).await;
    stage.lacks("many", LONG).await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed(name).only(&stage.id("many"), &["Healthy"]);
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f22_one_component_and_then_none() {
    count("f22-one", 1).await;
}

#[tokio::test]
async fn f22_more_components_than_fit() {
    count("f22-some", 1200).await;
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f22_ten_thousand_components() {
    count("f22-many", 10_000).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f17_what_joins_and_leaves_at_once_leaves_nothing() {
    let stage = Stage::with_cast("f17-leave").await;
    let started = Instant::now();
    let recorder = stage.record().await;
    for round in 0..3 {
        config_maps(&stage, 100, "crowd", 1).await;
        if round == 1 {
            // In the other rounds it may go before it is shown.
            stage.shows("crowd", LONG, |status| status["ready"] == "100/100").await;
        }
        clear(&stage).await;
    }
    stage.lacks("crowd", LONG).await;
    stage.others_are_on_time().await;
    stage.agrees(LONG).await;
    assert!(started.elapsed() < Duration::from_secs(120));
    recorder.finish().await.is_undisturbed("f17-leave");
}
