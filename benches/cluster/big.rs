//! One add-on with very many components, beside all the others.

use addons_testbed::Cluster;
use anyhow::{Context, Result};

use crate::{
    cold::SETTLE,
    latency::{self, Probe},
    load::{ADDONS, BIG, Load},
    program::Contender,
    table::{Table, mebibytes, percentiles, seconds},
};

/// Changes that are timed.
const CHANGES: usize = 20;

/// Starts a program on a cluster that has the large add-on, and changes one component of it.
pub(crate) async fn measure(
    cluster: &Cluster,
    contender: &Contender,
    load: &Load,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    let side = contender.side;
    let mut put = |what: &str, value: String| {
        table.put(side, &format!("with one of {count} components: {what}"), "", value);
    };
    let program = contender.start(cluster)?;
    let big = program.all_right(BIG, 1, count).await.context("the large add-on")?;
    let all = program.all_right(ADDONS, load.addons, load.each()).await.context("the others")?;
    let usage = program.usage();
    put("cold start until it is right over HTTP", seconds(big));
    put("and until all others are too", seconds(all));
    put("own CPU of the cold start", seconds(usage.cpu()?));
    put("peak memory", mebibytes(usage.peak()?));
    tokio::time::sleep(SETTLE).await;
    put("settled memory", mebibytes(usage.resident()?));
    program.rests().await?;

    usage.forget_peak()?;
    let (cpu, object) = (usage.cpu()?, format!("{BIG}-000000"));
    let probe = Probe { identifier: BIG, object: &object, in_list: true };
    let delays = latency::measure(cluster, &program, &probe, CHANGES).await?;
    put("a change of one to the list over HTTP, p50 / p99 beyond a bare watcher", percentiles(delays.http));
    if !delays.addon.is_empty() {
        put("the same to the `Addon`", percentiles(delays.addon));
    }
    let cpu = usage.cpu()?.saturating_sub(cpu);
    put("own CPU of 20 such changes, and of being asked for them", seconds(cpu));
    put("peak memory meanwhile", mebibytes(usage.peak()?));
    Ok(())
}
