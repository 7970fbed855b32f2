//! Objects that join an add-on and leave it again, very often.

use std::time::{Duration, Instant};

use addons::api::Addon;
use addons_testbed::{Cluster, until};
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    load::{CONCURRENT, NAMESPACE, config_maps},
    program::{Program, Side},
    table::{Table, mebibytes, seconds},
};

/// The add-on, and what the names of the objects begin with.
const IDENTIFIER: &str = "flapping";

/// How many objects flap; every other one carries the label in the end.
const OBJECTS: usize = 2 * CONCURRENT;

/// Longer than the end takes to be seen.
const PATIENCE: Duration = Duration::from_secs(120);

/// What follows the last change has come by then.
const TRAIL: Duration = Duration::from_secs(10);

/// Puts a label on objects and takes it off, `flaps` times in all.
pub(crate) async fn measure(
    cluster: &Cluster,
    program: &Program,
    flaps: usize,
    table: &mut Table,
) -> Result<()> {
    config_maps(cluster, IDENTIFIER, OBJECTS, &json!({})).await?;
    let client = cluster.client().await?;
    let objects: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let usage = program.usage();
    usage.forget_peak()?;
    let (cpu, writes) = (usage.cpu()?, program.writes().await?);

    let started = Instant::now();
    let flap = async |task: usize| {
        for turn in 0..flaps.div_ceil(OBJECTS).next_multiple_of(2) {
            for n in [task, task + CONCURRENT] {
                // One time less for every other, so that those are left with the label.
                if turn > 0 || n % 2 == 0 {
                    let on = turn % 2 == n % 2;
                    label(&objects, n, on).await?;
                }
            }
        }
        anyhow::Ok(())
    };
    try_join_all((0..CONCURRENT).map(flap)).await?;
    let took = started.elapsed();
    let ended = Instant::now();

    let ready = format!("{0}/{0}", OBJECTS / 2);
    until(PATIENCE, "the labels are seen as they are in the end", || async {
        let shown = program.addon(IDENTIFIER).await?;
        ensure!(shown.ready == ready, "{}", shown.ready);
        Ok(())
    })
    .await?;
    let right = ended.elapsed();
    let side = program.side;
    if side == Side::Addons {
        let addons = Api::<Addon>::all(client);
        until(PATIENCE, "the Addon says so too", || async {
            let addon = addons.get(IDENTIFIER).await?;
            let seen = addon.status.context("no status")?.ready;
            ensure!(seen == ready, "{seen}");
            Ok(())
        })
        .await?;
    }
    tokio::time::sleep(TRAIL).await;
    let made = flaps.div_ceil(OBJECTS).next_multiple_of(2) * OBJECTS - OBJECTS / 2;
    table.put(side, "label flaps", "", format!("{made} in {}", seconds(took)));
    table.put(side, "right after the last of them", "the right end", seconds(right));
    table.put(side, "own CPU of the flaps", "", seconds(usage.cpu()?.saturating_sub(cpu)));
    if let (Some(before), Some(after)) = (writes, program.writes().await?) {
        table.put(side, "`Addon` writes of the flaps", "bounded", (after - before).to_string());
    }
    table.put(side, "peak memory of the flaps", "bounded", mebibytes(usage.peak()?));

    // The other program begins with none of them labelled.
    try_join_all((0..OBJECTS).map(|n| label(&objects, n, false))).await?;
    Ok(())
}

async fn label(objects: &Api<ConfigMap>, n: usize, on: bool) -> Result<()> {
    let value = if on { json!("") } else { Value::Null };
    let patch = json!({"metadata": {"labels": {format!("addons.x-k8s.io/{IDENTIFIER}"): value}}});
    let name = format!("{IDENTIFIER}-{n:06}");
    objects.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}
