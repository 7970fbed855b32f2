//! The rooms wired into `addon-controller`.
//!
//! Watches report to the engine, which owns the index. What follows is shown on the board, where
//! HTTP reads it, and handed to the publisher, which writes it to the API server.

mod addons;
mod engine;
mod kinds;
mod memory;
mod options;
mod owners;

use std::{io::IsTerminal, sync::Arc};

use anyhow::{Context, Result};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

pub use self::options::Options;
use self::{
    addons::AddonReader,
    engine::{Engine, Inputs, Outputs, READY_WHEN},
    options::LogFormat,
    owners::OwnerSearch,
};
use crate::{
    connect,
    discover::Selection,
    metrics::Metrics,
    publish::{Limits, Publisher},
    serve::{self, Listen, Pulse, Readiness},
    summary::Board,
    watch::{Feed, Fleet, addon_kind, follow},
};

/// How many reports may wait for the engine before the watches wait for it.
const QUEUE: usize = 1024;

/// Runs the controller until it is told to stop by SIGTERM or SIGINT.
///
/// # Errors
/// Where it can't start: what is wrong with the arguments, the kubeconfig or the address.
pub async fn run(options: Options) -> Result<()> {
    init_log(&options)?;
    let listen = Listen { address: options.listen, insecure_bind: options.insecure_bind };
    let listener = listen.bind().await?;
    let client =
        connect::client(options.cluster.kubeconfig.as_deref(), options.cluster.context.as_deref()).await?;
    let stop = CancellationToken::new();
    let board = Arc::new(Board::default());
    let metrics = Metrics::default();
    let pulse = Pulse::default();
    let readiness = Readiness::waiting_for(READY_WHEN, "the kinds are listed for the first time");

    let (report, reports) = mpsc::channel(QUEUE);
    let (addon_news, addons) = mpsc::channel(QUEUE);
    let (found, owners) = mpsc::channel(QUEUE);
    let (commands, commanded) = mpsc::channel(QUEUE);
    let (discovered, catalogue) = watch::channel(None);

    let mut tasks = JoinSet::new();
    let address = listener.local_addr().context("the address that is listened on can't be read")?;
    let state = serve::State::new(Arc::clone(&board), &metrics, pulse.clone(), readiness.clone());
    tasks.spawn(serve::run(listener, state, stop.clone()));

    let selection = Selection::new(options.include, options.exclude);
    let prefix = options.label_prefix;
    let fleet = Fleet::new(client.clone(), selection, prefix.clone(), metrics.clone(), report);
    tasks.spawn(fleet.run(discovered, stop.clone()));

    let kind = Arc::new(addon_kind());
    let feed = Feed::new(client.clone(), Arc::clone(&kind), metrics.watch(&kind));
    let reader = AddonReader::new(prefix.clone());
    tasks.spawn(follow(feed, reader, addon_news, Arc::new(Semaphore::new(1)), stop.clone()));

    let outputs = Outputs {
        board,
        publisher: commands,
        owners: OwnerSearch::new(client.clone(), catalogue.clone(), found),
        pulse,
        readiness,
    };
    let engine = Engine::new(outputs, options.removal_grace);
    tasks.spawn(engine.run(Inputs { reports, addons, owners, catalogue }, stop.clone()));
    let publisher =
        Publisher::new(client, prefix, Limits::default(), move |outcome| metrics.status_write(outcome));
    tasks.spawn(publisher.run(commanded, stop.clone()));

    tracing::info!("listening on http://{address}/");
    let ended = tokio::select! {
        signal = stopped() => signal.map(|name| tracing::info!("{name}: stopping")),
        // No task ends by itself: one that does has broken, and a restart is the way out.
        Some(ended) = tasks.join_next() => ended.context("a part of the controller broke").and(Err(anyhow::anyhow!("a part of the controller ended"))),
    };
    stop.cancel();
    while tasks.join_next().await.is_some() {}
    ended
}

fn init_log(options: &Options) -> Result<()> {
    let filter =
        EnvFilter::try_new(&options.log).with_context(|| format!("'{}' is no log filter", options.log))?;
    // The client logs each failed request; what that means for a kind is logged once by us.
    let filter = filter.add_directive("kube_client=off".parse()?);
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    match options.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

/// The signal that ends the program.
async fn stopped() -> Result<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM can't be received")?;
    tokio::select! {
        _ = terminate.recv() => Ok("SIGTERM"),
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| "SIGINT").context("SIGINT can't be received"),
    }
}
