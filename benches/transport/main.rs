//! What each way of seeing a kind costs, on a real API server: metadata or whole objects, JSON or
//! protobuf, at once, in pages or as a stream, and the reading of single objects.
//!
//! `cargo bench --bench transport`
#![allow(missing_docs)]

mod cpu;
mod fill;
mod way;

use std::time::{Duration, Instant};

use addons::{
    api::LabelPrefix,
    model::{Kind, StatusReporting},
    watch::{ComponentReader, Feed, LiveRules, News, Report, Turns, follow},
};
use addons_testbed::{Cluster, Options, until};
use anyhow::{Context, Result, bail};
use clap::Parser;
use kube::Client;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::{
    cpu::{Cpu, of_api_server},
    fill::Sort,
    way::{Encoding, Way},
};

/// How long it may take until the API server rests, and how long is looked whether it does.
const REST: Duration = Duration::from_secs(300);
const OBSERVED: Duration = Duration::from_secs(3);

/// Longer than any list takes.
const LIST: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Parser)]
struct Arguments {
    /// Objects of each kind
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// Lists of each sort; the quickest counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Changes that each watch is shown
    #[arg(long, default_value_t = 3_000)]
    changes: usize,
    /// Objects that are read one by one
    #[arg(long, default_value_t = 1_000)]
    reads: usize,
    /// Seconds without any change before kinds are listed: after five minutes the API server reads pages
    /// from its store and not from its memory
    #[arg(long, default_value_t = 0)]
    idle: u64,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// What one object of a list cost.
struct Listed {
    took: Duration,
    own: Duration,
    server: Duration,
    bytes: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &Arguments) -> Result<()> {
    eprintln!("Starting a cluster");
    let progress = |step: &str| eprintln!("  {step}");
    let cluster = Cluster::start(Options { progress, ..Options::default() }).await?;
    fill::definition(&cluster).await?;
    println!("A list of {} objects, for each object of it:\n", arguments.objects);
    println!("| objects | asked for | wall | own CPU | CPU of the API server | bytes |");
    println!("|---|---|---|---|---|---|");
    for sort in Sort::ALL {
        eprintln!("Making {}", sort.name());
        sort.fill(&cluster, arguments.objects).await?;
    }
    tokio::time::sleep(Duration::from_secs(arguments.idle)).await;
    rests(&cluster).await?;
    for sort in Sort::ALL {
        for way in Way::all().filter(|way| sort.is_asked_for(*way)) {
            let listed = best(arguments, &cluster, sort, way).await?;
            let each = |total: Duration| micros(total, arguments.objects);
            println!(
                "| {} | {} | {} | {} | {} | {} |",
                sort.name(),
                way.name(),
                each(listed.took),
                each(listed.own),
                each(listed.server),
                listed.bytes / u64::try_from(arguments.objects)?
            );
        }
    }
    println!(
        "\nA change of an object that nobody wants, at the watch of its kind ({} of them):\n",
        arguments.changes
    );
    println!("| objects | asked for | own CPU | bytes |");
    println!("|---|---|---|---|");
    for sort in Sort::ALL {
        let ways = [Way::METADATA_JSON, Way::METADATA_PROTOBUF, Way::WHOLE_JSON];
        for way in ways.into_iter().filter(|way| sort.is_asked_for(*way)) {
            let (own, bytes) = changes(arguments, &cluster, sort, way).await?;
            println!("| {} | {} | {own} | {bytes} |", sort.name(), way.encoding_name());
        }
    }
    println!("\nOne object read by its name, one after the other ({} of them):\n", arguments.reads);
    println!("| objects | wall | own CPU | CPU of the API server |");
    println!("|---|---|---|---|");
    for sort in Sort::ALL {
        let (took, own, server) = reads(arguments, &cluster, sort).await?;
        let each = |total: Duration| micros(total, arguments.reads);
        println!("| {} | {} | {} | {} |", sort.name(), each(took), each(own), each(server));
    }
    Ok(())
}

/// Waits until the API server rests: the cluster's controllers look at what was made.
async fn rests(cluster: &Cluster) -> Result<()> {
    until(REST, "the API server rests", || async {
        let server = of_api_server(cluster)?;
        tokio::time::sleep(OBSERVED).await;
        let used = server.spent()?;
        anyhow::ensure!(used < OBSERVED / 10, "it used {used:?} of {OBSERVED:?}");
        Ok(())
    })
    .await?;
    Ok(())
}

async fn best(arguments: &Arguments, cluster: &Cluster, sort: Sort, way: Way) -> Result<Listed> {
    let mut best: Option<Listed> = None;
    for _ in 0..arguments.repeat {
        let listed = list(arguments, cluster, sort, way).await?;
        if best.as_ref().is_none_or(|best| listed.own + listed.server < best.own + best.server) {
            best = Some(listed);
        }
    }
    best.context("nothing was listed")
}

/// Lists a kind once, as the controller does.
async fn list(arguments: &Arguments, cluster: &Cluster, sort: Sort, way: Way) -> Result<Listed> {
    let (client, bytes) = way.client(cluster).await?;
    // The connection isn't what is measured.
    client.apiserver_version().await?;
    let before = bytes.so_far();
    let (own, server) = (Cpu::of_this_process()?, of_api_server(cluster)?);
    let started = Instant::now();
    if way.is_read() {
        Followed::start(client, sort, way).listed().await?;
    } else {
        way::drain(&client, &sort.path(), way, arguments.objects).await?;
    }
    Ok(Listed {
        took: started.elapsed(),
        own: own.spent()?,
        server: server.spent()?,
        bytes: bytes.so_far() - before,
    })
}

/// A kind that is followed as the controller follows it.
struct Followed {
    news: mpsc::Receiver<Report>,
    cancel: CancellationToken,
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Followed {
    fn start(client: Client, sort: Sort, way: Way) -> Self {
        let kind = Arc::new(sort.kind());
        let feed = Feed::uncounted(client, Arc::clone(&kind));
        let feed = if way.encoding == Encoding::WholeJson { feed } else { feed.of_metadata() };
        let reader = ComponentReader::new(kind, LabelPrefix::default(), LiveRules::default().shared());
        let (sender, news) = mpsc::channel(64);
        let cancel = CancellationToken::new();
        tokio::spawn(follow(feed, reader, sender, Turns::new(1), cancel.clone()));
        Self { news, cancel }
    }

    async fn listed(&mut self) -> Result<()> {
        loop {
            let report = tokio::time::timeout(LIST, self.news.recv()).await?.context("the follower ended")?;
            match report.news {
                News::Listed(..) => return Ok(()),
                News::State(state) => {
                    if let Some(message) = state.message() {
                        bail!("{message}");
                    }
                }
                _ => {}
            }
        }
    }

    async fn changed(&mut self) -> Result<()> {
        loop {
            let report = tokio::time::timeout(LIST, self.news.recv()).await?.context("the follower ended")?;
            if let News::Changed(_) = report.news {
                return Ok(());
            }
        }
    }
}

/// CPU time and bytes of one event that is of no interest. The watch has a thread of its own.
async fn changes(arguments: &Arguments, cluster: &Cluster, sort: Sort, way: Way) -> Result<(String, u64)> {
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    let (done, is_done) = std::sync::mpsc::channel();
    let (client, bytes) = way.client(cluster).await?;
    let thread = std::thread::spawn(move || -> Result<(Duration, u64)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut followed = Followed::start(client, sort, way);
            followed.listed().await?;
            let (own, before) = (Cpu::of_this_thread()?, bytes.so_far());
            let _ = ready.send(());
            // The last change is of an object that is wanted.
            followed.changed().await?;
            let spent = (own.spent()?, bytes.so_far() - before);
            let _ = done.send(());
            Ok(spent)
        })
    });
    is_ready.await.context("the watch didn't begin")?;
    sort.change(cluster, arguments.changes).await?;
    is_done.recv_timeout(LIST).context("the last change wasn't seen")?;
    let (own, bytes) = thread.join().map_err(|_| anyhow::anyhow!("the watch broke"))??;
    sort.unmark(cluster).await?;
    Ok((micros(own, arguments.changes), bytes / u64::try_from(arguments.changes)?))
}

/// Wall time, own CPU time and that of the API server of reads one after the other.
async fn reads(
    arguments: &Arguments,
    cluster: &Cluster,
    sort: Sort,
) -> Result<(Duration, Duration, Duration)> {
    let (client, _) = Way::WHOLE_JSON.client(cluster).await?;
    let feed = Feed::uncounted(client, Arc::new(sort.kind())).within(fill::NAMESPACE);
    let (own, server, started) = (Cpu::of_this_process()?, of_api_server(cluster)?, Instant::now());
    for n in 0..arguments.reads {
        let fields = format!("metadata.name={}", fill::name(n % arguments.objects));
        let (found, _) = feed.select("", &fields, 1, |seen| seen.decode::<serde_json::Value>().ok()).await?;
        anyhow::ensure!(found.len() == 1, "{fields}: {} objects", found.len());
    }
    Ok((started.elapsed(), own.spent()?, server.spent()?))
}

#[allow(clippy::cast_precision_loss)] // Some thousands.
fn micros(total: Duration, count: usize) -> String {
    format!("{:.1} µs", total.as_secs_f64() * 1e6 / count.max(1) as f64)
}

impl Sort {
    /// Whether it makes sense: of a kind without a status the controller never asks for more than metadata,
    /// and custom resources are served in JSON alone.
    fn is_asked_for(self, way: Way) -> bool {
        match self {
            Self::ConfigMap => way.encoding != Encoding::WholeJson,
            Self::ReplicaSet => true,
            Self::Custom => way.encoding != Encoding::WholeProtobuf,
        }
    }

    fn kind(self) -> Kind {
        let (group, version, kind, plural, status) = self.names();
        Kind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced: true,
            status: if status { StatusReporting::Yes } else { StatusReporting::No },
        }
    }
}
