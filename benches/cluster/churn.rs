//! Many changes of labelled objects.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use addons_testbed::Cluster;
use anyhow::Result;
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;

use crate::{
    latency::{Probe, VERSION, visible},
    load::{CONCURRENT, Load, NAMESPACE},
    program::Program,
    table::{Table, mebibytes, milliseconds},
};

/// How long it goes on.
const DURATION: Duration = Duration::from_secs(30);

/// What follows a change, such as the write of an `Addon`, has come by then.
const TRAIL: Duration = Duration::from_secs(3);

/// Changes a label of every labelled object in turn, `rate` times a second or, where that is 0, as
/// fast as the API server takes it.
pub(crate) async fn measure(
    cluster: &Cluster,
    program: &Program,
    load: &Load,
    rate: u32,
    probe: &Probe<'_>,
    table: &mut Table,
) -> Result<()> {
    let side = program.side;
    let (usage, client) = (program.usage(), cluster.client().await?);
    usage.forget_peak()?;
    let (cpu, writes) = (usage.cpu()?, program.writes().await?);

    let (next, started) = (AtomicUsize::new(0), Instant::now());
    let change = async || {
        while started.elapsed() < DURATION {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if rate > 0 {
                let due = Duration::from_secs(n as u64) / rate;
                tokio::time::sleep(due.saturating_sub(started.elapsed())).await;
            }
            let (api, name) = load.api(client.clone(), n % load.labelled);
            let patch = json!({"metadata": {"labels": {VERSION: format!("{side:?}-{n}")}}});
            api.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        anyhow::Ok(())
    };
    try_join_all((0..CONCURRENT).map(|_| change())).await?;
    let (changes, took) = (next.into_inner(), started.elapsed());

    let version = format!("{side:?}-after-churn");
    let objects: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let patch = json!({"metadata": {"labels": {VERSION: version}}});
    let asked = Instant::now();
    objects.patch(probe.object, &PatchParams::default(), &Patch::Merge(patch)).await?;
    let seen = visible(program, probe, &version).await?;

    tokio::time::sleep(TRAIL).await;
    let cpu = usage.cpu()?.saturating_sub(cpu);
    #[allow(clippy::cast_precision_loss)] // Some hundred thousand.
    let changes = changes as f64;
    let rate = format!("{:.0}", changes / took.as_secs_f64());
    table.put(side, "changes of labelled objects a second, for 30 s", "", rate);
    table.put(side, "one more, until visible over HTTP", "", milliseconds(seen - asked));
    table.put(side, "own CPU for 1,000 changes", "60 ms", milliseconds(cpu.div_f64(changes / 1e3)));
    if let (Some(before), Some(after)) = (writes, program.writes().await?) {
        table.put(side, "`Addon` writes meanwhile", "", (after - before).to_string());
    }
    table.put(side, "peak memory meanwhile", "", mebibytes(usage.peak()?));
    Ok(())
}
