//! From nothing to everything known, and what is kept of it.

use std::time::Duration;

use addons::api::Addon;
use addons_testbed::{Cluster, until};
use anyhow::{Context, Result, ensure};
use kube::{Api, api::ListParams};

use crate::{
    load::{ADDONS, Load},
    program::{Contender, Program, Side},
    requests::Requests,
    system::Usage,
    table::{Table, mebibytes, megabytes, seconds},
};

/// How long a program is left alone before its memory counts as settled.
pub(crate) const SETTLE: Duration = Duration::from_secs(20);

/// How long the writing of all `Addon` objects may take.
const WRITTEN: Duration = Duration::from_secs(600);

/// Settled memory in KiB, before any object carries a label.
pub(crate) async fn without_labels(
    cluster: &Cluster,
    contender: &Contender,
    table: &mut Table,
) -> Result<u64> {
    let program = contender.start(cluster)?;
    program.ready().await?;
    tokio::time::sleep(SETTLE).await;
    let resident = program.usage().resident()?;
    table.put(contender.side, "settled memory, no object labelled", "", mebibytes(resident));
    Ok(resident)
}

/// Starts a program and measures that, and its memory when it has calmed down.
pub(crate) async fn start(
    cluster: &Cluster,
    contender: &Contender,
    load: &Load,
    without_labels: u64,
    table: &mut Table,
) -> Result<Program> {
    let side = contender.side;
    let server = Usage::of_api_server(cluster)?;
    let (requests, server_before) = (Requests::so_far(cluster).await?, server.cpu()?);

    let program = contender.start(cluster)?;
    let cold = program.all_right(ADDONS, load.addons, load.each()).await.context("cold start")?;
    let usage = program.usage();
    let (own, serving) = (usage.cpu()?, server.cpu()?.saturating_sub(server_before));
    let received = usage.received(cluster)?;
    table.put(side, "cold start until all is right over HTTP", "5 s", seconds(cold));
    table.put(side, "own CPU until then", "4 s", seconds(own));
    table.put(side, "CPU of the API server until then", "", seconds(serving));
    if let Some(received) = received {
        table.put(side, "bytes from the API server until then", "300 MB", megabytes(received));
    }
    if side == Side::Addons {
        let kinds = program.counter("addons_controller_kinds").await?;
        table.put(side, "kinds that are known", "", kinds.to_string());
        written(cluster, load).await?;
        table.put(side, "until all `Addon` objects are written", "", seconds(program.started.elapsed()));
        table.put(side, "own CPU until then, writing with it", "", seconds(usage.cpu()?));
    }
    table.put(side, "peak memory", "30 MiB", mebibytes(usage.peak()?));

    tokio::time::sleep(SETTLE).await;
    let settled = usage.resident()?;
    table.put(side, "settled memory", "", mebibytes(settled));
    let each = settled.saturating_sub(without_labels) * 1024 / u64::try_from(load.labelled)?;
    table.put(side, "memory a component", "400 B", format!("{each} B"));
    let requests = Requests::so_far(cluster).await?.since(&requests);
    table.put(side, "requests of the start", "", requests);
    if let Some(writes) = program.writes().await? {
        table.put(side, "`Addon` writes of the start", "", writes.to_string());
    }
    Ok(program)
}

/// Waits until every add-on has its object.
async fn written(cluster: &Cluster, load: &Load) -> Result<()> {
    let addons = Api::<Addon>::all(cluster.client().await?);
    let healthy = ListParams::default().fields("status.health=Healthy");
    until(WRITTEN, "every Addon is written", || async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        let list = addons.list_metadata(&healthy).await?;
        let named = |name: &Option<String>| name.as_ref().is_some_and(|name| name.starts_with(ADDONS));
        let count = list.items.iter().filter(|addon| named(&addon.metadata.name)).count();
        ensure!(count == load.addons, "{count} are");
        Ok(())
    })
    .await?;
    Ok(())
}
