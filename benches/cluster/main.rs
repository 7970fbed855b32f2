//! What the controller costs on a real API server, and how fast it is.
//!
//! `cargo bench --bench cluster -- --objects 20000 --labelled 4000 --addons 200`
#![allow(missing_docs)]

mod latency;
mod load;
mod process;

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use addons::api::Addon;
use addons_testbed::{Cluster, Options, until};
use anyhow::{Context, Result, ensure};
use clap::Parser;
use kube::{Api, api::ListParams};

use self::process::Controller;

/// How long the controller is left alone before its memory counts as settled.
const SETTLE: Duration = Duration::from_secs(20);

/// How often a program is run to time it.
const RUNS: usize = 20;

#[derive(Debug, Parser)]
struct Arguments {
    /// Objects in the cluster
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// Objects among them that carry a label
    #[arg(long, default_value_t = 4_000)]
    labelled: usize,
    /// Add-ons that they belong to
    #[arg(long, default_value_t = 200)]
    addons: usize,
    /// Changes that are timed
    #[arg(long, default_value_t = 100)]
    changes: usize,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let progress = |step: &str| eprintln!("  {step}");
    eprintln!("Starting a cluster");
    let cluster = Cluster::start(Options { progress, ..Options::default() }).await?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    cluster.kubectl(&["apply", "-k", &root.join("crds").display().to_string()]).await?;
    cluster
        .kubectl(&["wait", "--for=condition=Established", "crd/addons.addons.x-k8s.io", "--timeout=60s"])
        .await?;

    eprintln!("Making {} objects", arguments.objects);
    let started = Instant::now();
    load::fill(&cluster, arguments.objects, arguments.labelled, arguments.addons).await?;
    eprintln!("  done in {:.0} s", started.elapsed().as_secs_f64());

    println!();
    println!(
        "{} objects, {} of them labelled, {} add-ons; the program and the cluster share 2 cores",
        arguments.objects, arguments.labelled, arguments.addons
    );
    let controller = Controller::start(cluster.kubeconfig())?;
    let started = Instant::now();
    let cold = all_right(&controller, &arguments, started).await.context("cold start")?;
    let (cpu, peak) = (controller.cpu()?, controller.memory("VmHWM")?);
    row("cold start until all add-ons are right over HTTP", &seconds(cold));
    written(&cluster, &arguments).await?;
    row("and until all are written", &seconds(started.elapsed()));
    row("own CPU of the cold start", &seconds(cpu));
    row("peak memory", &mebibytes(peak));
    tokio::time::sleep(SETTLE).await;
    row("settled memory", &mebibytes(controller.memory("VmRSS")?));
    let idle = controller.cpu()?;
    tokio::time::sleep(SETTLE).await;
    row("own CPU of a quiet minute", &seconds((controller.cpu()? - idle) * 3));

    latency::measure(&cluster, &controller, arguments.changes).await?;

    let kubeconfig = cluster.kubeconfig();
    row("addonctl list", &times(env!("CARGO_BIN_EXE_addonctl"), &["list"], kubeconfig)?);
    let kubectl = addons_testbed::Programs::ready().await?.path(addons_testbed::Program::Kubectl);
    row("kubectl get addons", &times(&kubectl.display().to_string(), &["get", "addons"], kubeconfig)?);
    row(
        "addonctl list --live",
        &times_of(env!("CARGO_BIN_EXE_addonctl"), &["list", "--live"], kubeconfig, 3)?,
    );
    Ok(())
}

/// Waits until every add-on is there with all its components.
async fn all_right(controller: &Controller, arguments: &Arguments, started: Instant) -> Result<Duration> {
    let each = arguments.labelled / arguments.addons;
    until(Duration::from_secs(300), "every add-on is right", || async {
        let list = controller.json("/api/v1alpha1/addons").await.map_err(|error| format!("{error:#}"))?;
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ready = format!("{each}/{each}");
        let right = items.iter().filter(|item| item["status"]["ready"] == ready.as_str()).count();
        if right == arguments.addons { Ok(started.elapsed()) } else { Err(format!("{right} are")) }
    })
    .await
    .map_err(Into::into)
}

/// Waits until every add-on has its object.
async fn written(cluster: &Cluster, arguments: &Arguments) -> Result<()> {
    let addons = Api::<Addon>::all(cluster.client().await?);
    let healthy = ListParams::default().fields("status.health=Healthy");
    until(Duration::from_secs(300), "every Addon is written", || async {
        let count = addons.list_metadata(&healthy).await.map_err(|error| error.to_string())?.items.len();
        if count == arguments.addons { Ok(()) } else { Err(format!("{count} are")) }
    })
    .await
    .map_err(Into::into)
}

/// Smallest, median and largest time of a program.
fn times(program: &str, arguments: &[&str], kubeconfig: &Path) -> Result<String> {
    times_of(program, arguments, kubeconfig, RUNS)
}

fn times_of(program: &str, arguments: &[&str], kubeconfig: &Path, runs: usize) -> Result<String> {
    let mut all = Vec::new();
    for _ in 0..runs {
        let started = Instant::now();
        let output = Command::new(program).args(arguments).env("KUBECONFIG", kubeconfig).output()?;
        ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        all.push(started.elapsed());
    }
    all.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(format!("{:.0} ms ({:.0} to {:.0}, {runs} runs)", ms(all[runs / 2]), ms(all[0]), ms(all[runs - 1])))
}

fn row(what: &str, value: &str) {
    println!("{what:<52} {value}");
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

#[allow(clippy::cast_precision_loss)] // Some hundred mebibytes.
fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1} MiB", kibibytes as f64 / 1024.0)
}
