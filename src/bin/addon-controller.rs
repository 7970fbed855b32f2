//! Keeps one `Addon` object for every identifier that objects carry in a label.

use std::{io, process::ExitCode};

use addons::controller::{Controller, Options, init_log};
use clap::Parser;
use mimalloc::MiMalloc;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The system's allocator doesn't give back what a first list has taken, see `docs/performance.md`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("addon-controller: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let options = Options::parse();
    init_log(&options)?;
    let controller = Controller::bind(options).await?;
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(stop.clone()));
    controller.run(stop).await
}

async fn stop_on_signal(stop: CancellationToken) -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
        _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
    }
    stop.cancel();
    Ok(())
}
