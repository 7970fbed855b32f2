//! What is asked and spent when nothing happens, and what listing costs.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use addons_testbed::{Cluster, Program as Tool, Programs};
use anyhow::{Result, ensure};

use crate::{
    program::{Program, Side},
    requests::Requests,
    table::{Table, milliseconds, seconds},
};

/// How often the list is read to time it.
const READS: usize = 200;

/// How often a command is run to time it.
const RUNS: usize = 20;

/// A minute in which nothing changes.
pub(crate) async fn minute(cluster: &Cluster, program: &Program, table: &mut Table) -> Result<()> {
    let side = program.side;
    let (cpu, writes) = (program.usage().cpu()?, program.writes().await?);
    let requests = Requests::so_far(cluster).await?;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let requests = Requests::so_far(cluster).await?.since(&requests);
    table.put(side, "requests of a quiet minute", "12 beyond watches", requests);
    table.put(side, "own CPU of a quiet minute", "", seconds(program.usage().cpu()?.saturating_sub(cpu)));
    if let (Some(before), Some(after)) = (writes, program.writes().await?) {
        table.put(side, "`Addon` writes of a quiet minute", "0", (after - before).to_string());
    }
    Ok(())
}

/// How long reading the list of all add-ons takes.
pub(crate) async fn listing(cluster: &Cluster, program: &Program, table: &mut Table) -> Result<()> {
    let mut all = Vec::new();
    for _ in 0..READS {
        let started = Instant::now();
        program.get(program.side.list()).await?;
        all.push(started.elapsed());
    }
    all.sort();
    let side = program.side;
    table.put(side, "the list over HTTP, median of 200", "1 ms in the server", milliseconds(all[READS / 2]));
    if side == Side::Peer {
        return Ok(());
    }
    let kubeconfig = cluster.kubeconfig();
    let addonctl = Path::new(env!("CARGO_BIN_EXE_addonctl"));
    let kubectl = Programs::ready().await?.path(Tool::Kubectl);
    for (what, goal, file, arguments, runs) in [
        ("`addonctl list`, median of 20", "50 ms", addonctl, &["list"][..], RUNS),
        ("`kubectl get addons`, median of 20", "", &kubectl, &["get", "addons"], RUNS),
        ("`addonctl list --live`, median of 3", "", addonctl, &["list", "--live"], 3),
    ] {
        table.put(side, what, goal, milliseconds(median(file, arguments, kubeconfig, runs)?));
    }
    Ok(())
}

fn median(file: &Path, arguments: &[&str], kubeconfig: &Path, runs: usize) -> Result<Duration> {
    let mut all = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        let output = Command::new(file).args(arguments).env("KUBECONFIG", kubeconfig).output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} {}: {error}", file.display(), arguments.join(" "));
        all.push(started.elapsed());
    }
    all.sort();
    Ok(all[runs / 2])
}
