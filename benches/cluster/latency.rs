//! From a change of an object to what can be seen of it.

use std::time::{Duration, Instant};

use addons::api::Addon;
use addons_testbed::Cluster;
use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, future::OptionFuture};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, WatchEvent, WatchParams},
};
use memchr::memmem;
use serde_json::json;
use tokio::{sync::mpsc, time::timeout};

use crate::{
    load::NAMESPACE,
    program::{Program, Side},
};

/// Between two changes: longer than the second that the controller waits between two writes.
const PAUSE: Duration = Duration::from_millis(1200);

/// What takes longer than so many milliseconds is worth a look.
const SLOW: f64 = 1000.0;

/// Longer than any change takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The label that is changed: what the version of an add-on is read from.
pub(crate) const VERSION: &str = "app.kubernetes.io/version";

/// What is changed, and where that is looked for.
pub(crate) struct Probe<'a> {
    /// Which is the name of its `Addon` too.
    pub(crate) identifier: &'a str,
    /// A ConfigMap, the only component whose version is known.
    pub(crate) object: &'a str,
    /// Whether the list of all add-ons is asked instead of the one.
    pub(crate) in_list: bool,
}

/// In milliseconds, a value a change.
#[derive(Default)]
pub(crate) struct Delays {
    /// From the request that changes the object to a bare watcher of it.
    pub(crate) bare: Vec<f64>,
    /// From then to HTTP.
    pub(crate) http: Vec<f64>,
    /// From then to a watcher of the `Addon`; none for the peer.
    pub(crate) addon: Vec<f64>,
}

/// Changes one object `changes` times and looks when each change is seen.
pub(crate) async fn measure(
    cluster: &Cluster,
    program: &Program,
    probe: &Probe<'_>,
    changes: usize,
) -> Result<Delays> {
    let client = cluster.client().await?;
    let objects: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let mut bare = watch(objects.clone(), probe.object, |object| object.labels().get(VERSION).cloned());
    let version = |addon: &Addon| addon.status.as_ref()?.version.clone();
    let mut addons =
        (program.side == Side::Addons).then(|| watch(Api::<Addon>::all(client), probe.identifier, version));

    let mut delays = Delays::default();
    for n in 0..changes {
        tokio::time::sleep(PAUSE).await;
        let version = format!("{:?}-{n}", program.side);
        let patch = json!({"metadata": {"labels": {VERSION: version}}});
        let started = Instant::now();
        objects.patch(probe.object, &PatchParams::default(), &Patch::Merge(patch)).await?;
        let addon = OptionFuture::from(addons.as_mut().map(|addons| arrival(addons, &version)));
        let (bare, http, addon) =
            tokio::try_join!(arrival(&mut bare, &version), visible(program, probe, &version), async {
                addon.await.transpose()
            })?;
        delays.bare.push(beyond(started, bare));
        delays.http.push(beyond(bare, http));
        let addon = addon.map(|addon| beyond(bare, addon));
        if let Some(slow) = addon.filter(|delay| *delay > SLOW) {
            eprintln!("  change {n} of {} took {slow:.0} ms to the Addon; the log ends:", probe.identifier);
            eprintln!("{}", program.log_end());
        }
        delays.addon.extend(addon);
    }
    Ok(delays)
}

/// Milliseconds; less than none where the later came first.
fn beyond(earlier: Instant, later: Instant) -> f64 {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    ms(later.duration_since(earlier)) - ms(earlier.duration_since(later))
}

/// Watches an object; sends what `read` makes of it, with the time of its arrival.
fn watch<K>(
    api: Api<K>,
    name: &str,
    read: impl Fn(&K) -> Option<String> + Send + 'static,
) -> mpsc::UnboundedReceiver<(String, Instant)>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let (send, receive) = mpsc::unbounded_channel();
    let parameters = WatchParams::default().fields(&format!("metadata.name={name}"));
    tokio::spawn(async move {
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

/// Asks again and again until a version is shown.
pub(crate) async fn visible(program: &Program, probe: &Probe<'_>, version: &str) -> Result<Instant> {
    let wait = async {
        loop {
            let shown = if probe.in_list {
                // Reading a thousand add-ons as JSON would take longer than what is measured.
                let list = program.get(program.side.list()).await;
                list.is_ok_and(|list| memmem::find(&list, version.as_bytes()).is_some())
            } else {
                program.addon(probe.identifier).await.is_ok_and(|addon| addon.version == version)
            };
            if shown {
                return Instant::now();
            }
            // Nothing there yet may be answered without ever waiting.
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, wait).await.with_context(|| format!("{version} was never shown"))
}
