//! What the controller costs on a real API server and how fast it is, beside a client-go program
//! that does the same (`benches/peer`).
//!
//! `cargo bench --bench cluster -- --objects 20000 --labelled 4000 --addons 200`
#![allow(missing_docs)]

mod big;
mod churn;
mod cold;
mod flaps;
mod idle;
mod kinds;
mod latency;
mod load;
mod program;
mod requests;
mod system;
mod table;

use std::{path::Path, time::Instant};

use addons_testbed::{Cluster, Options};
use anyhow::Result;
use clap::{Parser, ValueEnum};
use serde_json::json;

use self::{
    latency::Probe,
    load::Load,
    program::{Contender, Side},
    table::{Table, percentiles},
};

/// The add-on of the object that is changed to time that, and the object.
const PROBE: Probe<'_> = Probe { identifier: "latency", object: "latency-000000", in_list: false };

/// Measures addon-controller and a client-go program, one after the other on the same cluster.
#[derive(Clone, Debug, Parser)]
struct Arguments {
    /// Objects in the cluster, beside those that its own controllers make of them
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// Invented kinds, beside those of Kubernetes; a quarter of the objects is of them
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(..=500))]
    kinds: u16,
    /// Objects that carry a label
    #[arg(long, default_value_t = 4_000)]
    labelled: usize,
    /// Add-ons that they belong to
    #[arg(long, default_value_t = 200)]
    addons: usize,
    /// Changes that are timed, one every 1.2 s
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=200))]
    changes: u16,
    /// Changes a second for 30 s; 0 is as fast as the API server takes them
    #[arg(long, default_value_t = 0)]
    churn: u32,
    /// Times that a label is put on an object or taken off; 0 leaves it out
    #[arg(long, default_value_t = 100_000)]
    flaps: usize,
    /// Components of one more, large add-on; 0 leaves it out
    #[arg(long, default_value_t = 20_000)]
    big: usize,
    /// What is measured
    #[arg(long, value_enum, default_value_t = Only::Both)]
    only: Only,
    /// Keep the cluster to the first core and what is measured to the second, with `taskset`
    #[arg(long)]
    pin: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    /// addon-controller
    Addons,
    /// The client-go program
    Peer,
    /// One after the other
    Both,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    arguments.load().check()?;
    if arguments.pin {
        system::can_pin()?;
    }
    let mut table = Table::default();
    let outcome = run(&arguments, &mut table).await;
    // What was measured before a failure is worth something too.
    println!("{}\n\n{}", arguments.heading(), table.markdown());
    outcome
}

async fn run(arguments: &Arguments, table: &mut Table) -> Result<()> {
    let load = arguments.load();
    eprintln!("Starting a cluster");
    let progress = |step: &str| eprintln!("  {step}");
    let cluster = Cluster::start(Options { progress, ..Options::default() }).await?;
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    cluster.kubectl(&["apply", "-k", &crds.display().to_string()]).await?;
    cluster.established(&["addons.addons.x-k8s.io"]).await?;
    kinds::create(&cluster, load.kinds).await?;
    let user = requests::counted_user(&cluster).await?;
    let mut contenders = Vec::new();
    for side in arguments.sides() {
        contenders.push(Contender::prepare(*side, user.kubeconfig(), arguments.pin).await?);
    }

    let unlabelled = load.fill(&cluster, load.labelled..load.objects);
    arguments.make(&cluster, "the objects without a label", unlabelled).await?;
    let mut without_labels = Vec::new();
    for contender in &contenders {
        without_labels.push(cold::without_labels(&cluster, contender, table).await?);
    }

    let labelled = load.fill(&cluster, 0..load.labelled);
    arguments.make(&cluster, "the objects with one", labelled).await?;
    let label = format!("addons.x-k8s.io/{}", PROBE.identifier);
    load::config_maps(&cluster, PROBE.identifier, 1, &json!({label: ""})).await?;
    for (contender, without_labels) in contenders.iter().zip(without_labels) {
        eprintln!("Measuring {:?}", contender.side);
        all(arguments, &cluster, contender, without_labels, table).await?;
    }
    if arguments.big > 0 {
        let big = load::fill_big(&cluster, arguments.big);
        arguments.make(&cluster, "a large add-on", big).await?;
        for contender in &contenders {
            big::measure(&cluster, contender, &load, arguments.big, table).await?;
        }
    }
    Ok(())
}

/// All that is measured of one start.
async fn all(
    arguments: &Arguments,
    cluster: &Cluster,
    contender: &Contender,
    without_labels: u64,
    table: &mut Table,
) -> Result<()> {
    let (load, side) = (arguments.load(), contender.side);
    let program = cold::start(cluster, contender, &load, without_labels, table).await?;
    idle::minute(cluster, &program, table).await?;
    idle::listing(cluster, &program, table).await?;
    let delays = latency::measure(cluster, &program, &PROBE, arguments.changes.into()).await?;
    table.put(side, "change to a bare watcher, p50 / p99", "", percentiles(delays.bare));
    table.put(side, "from there to HTTP, p50 / p99", "1 / 3 ms", percentiles(delays.http));
    if !delays.addon.is_empty() {
        table.put(
            side,
            "from there to a watcher of the `Addon`, p50 / p99",
            "50 ms",
            percentiles(delays.addon),
        );
    }
    churn::measure(cluster, &program, &load, arguments.churn, &PROBE, table).await?;
    if arguments.flaps > 0 {
        flaps::measure(cluster, &program, arguments.flaps, table).await?;
    }
    Ok(())
}

impl Arguments {
    fn load(&self) -> Load {
        let Self { objects, labelled, addons, kinds, .. } = *self;
        Load { objects, labelled, addons, kinds: kinds.into() }
    }

    fn sides(&self) -> &'static [Side] {
        match self.only {
            Only::Addons => &[Side::Addons],
            Only::Peer => &[Side::Peer],
            Only::Both => &[Side::Addons, Side::Peer],
        }
    }

    /// Makes objects with the whole machine; what is measured afterwards is pinned again.
    async fn make(
        &self,
        cluster: &Cluster,
        what: &str,
        work: impl Future<Output = Result<()>>,
    ) -> Result<()> {
        eprintln!("Making {what}");
        let started = Instant::now();
        if self.pin {
            system::pin(cluster, false)?;
        }
        work.await?;
        system::quiet(cluster).await?;
        if self.pin {
            system::pin(cluster, true)?;
        }
        eprintln!("  done in {:.0} s", started.elapsed().as_secs_f64());
        Ok(())
    }

    fn heading(&self) -> String {
        let Self { objects, kinds, labelled, addons, .. } = self;
        let pinned = if self.pin {
            "the cluster on one core, what is measured on the other"
        } else {
            "nothing is pinned"
        };
        format!(
            "{objects} objects, {kinds} kinds beside Kubernetes' own, {labelled} objects labelled, {addons} add-ons; {pinned}:"
        )
    }
}
