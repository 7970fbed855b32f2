//! From a change of an object to what can be seen of it.

use std::time::{Duration, Instant};

use addons::api::Addon;
use addons_testbed::Cluster;
use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::json;
use tokio::{sync::mpsc, time::timeout};

use crate::{load::NAMESPACE, process::Controller, row};

/// The add-on of the object that is changed.
const IDENTIFIER: &str = "latency";

/// Between two changes: longer than the second that the controller waits between two writes.
const PAUSE: Duration = Duration::from_millis(1200);

/// Longer than any change takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Changes one object `changes` times and prints how long a bare watcher of the object, HTTP and a
/// watcher of its `Addon` take to show each.
pub(crate) async fn measure(cluster: &Cluster, controller: &Controller, changes: usize) -> Result<()> {
    let client = cluster.client().await?;
    let objects: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let object = serde_json::from_value(json!({
        "metadata": {"name": IDENTIFIER, "labels": {format!("addons.x-k8s.io/{IDENTIFIER}"): ""}},
    }))?;
    objects.create(&PostParams::default(), &object).await?;
    let mut bare = watch(objects.clone(), |object: &ConfigMap| {
        object.labels().get("app.kubernetes.io/version").cloned()
    });
    let mut addons = watch(Api::<Addon>::all(client), |addon: &Addon| addon.status.as_ref()?.version.clone());

    let (mut seen_bare, mut seen_http, mut seen_addon) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..changes {
        tokio::time::sleep(PAUSE).await;
        let version = format!("v{n}");
        let patch = json!({"metadata": {"labels": {"app.kubernetes.io/version": version}}});
        let started = Instant::now();
        objects.patch(IDENTIFIER, &PatchParams::default(), &Patch::Merge(patch)).await?;
        let (bare, http, addon) = tokio::try_join!(
            arrival(&mut bare, &version),
            visible(controller, &version),
            arrival(&mut addons, &version)
        )?;
        seen_bare.push(bare - started);
        seen_http.push(http - started);
        seen_addon.push(addon - started);
    }
    row("change to a bare watcher of the object, p50 / p99", &percentiles(seen_bare));
    row("change to visible over HTTP, p50 / p99", &percentiles(seen_http));
    row("change to a watcher of the Addon, p50 / p99", &percentiles(seen_addon));
    Ok(())
}

/// Watches objects; sends what `read` makes of each, with the time of its arrival.
fn watch<K>(
    api: Api<K>,
    read: impl Fn(&K) -> Option<String> + Send + 'static,
) -> mpsc::UnboundedReceiver<(String, Instant)>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let (send, receive) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let parameters = WatchParams::default().fields(&format!("metadata.name={IDENTIFIER}"));
        let mut events = api.watch(&parameters, "0").await?.boxed();
        while let Some(event) = events.try_next().await? {
            let arrived = Instant::now();
            if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event
                && let Some(version) = read(&object)
                && send.send((version, arrived)).is_err()
            {
                break;
            }
        }
        anyhow::Ok(())
    });
    receive
}

async fn arrival(from: &mut mpsc::UnboundedReceiver<(String, Instant)>, version: &str) -> Result<Instant> {
    let wait = async {
        loop {
            let (seen, arrived) = from.recv().await.context("the watch ended")?;
            if seen == version {
                return Ok(arrived);
            }
        }
    };
    timeout(PATIENCE, wait).await.with_context(|| format!("{version} was never seen"))?
}

async fn visible(controller: &Controller, version: &str) -> Result<Instant> {
    let wait = async {
        loop {
            let shown = controller.json(&format!("/api/v1alpha1/addons/{IDENTIFIER}")).await;
            if shown.is_ok_and(|addon| addon["status"]["version"] == version) {
                return Instant::now();
            }
        }
    };
    timeout(PATIENCE, wait).await.with_context(|| format!("{version} was never shown"))
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| {
        times.get((times.len() * share / 100).min(times.len() - 1)).map_or(0.0, Duration::as_secs_f64)
    };
    format!("{:.1} / {:.1} ms", at(50) * 1e3, at(99) * 1e3)
}
