//! The test cluster for people: starts one in the background, and ends it.

mod background;

use std::{path::PathBuf, process::ExitCode};

use addons_testbed::{Program, Programs};
use clap::{Args, Parser, Subcommand};

/// A real Kubernetes control plane on this machine, with simulated nodes.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the programs of the cluster, where they are missing, and print their folder
    Build,
    /// Start a cluster in the background, unless one is up; the last line is its kubeconfig
    Up {
        #[command(flatten)]
        place: Place,
        /// Simulated nodes
        #[arg(long, default_value_t = 3)]
        nodes: usize,
    },
    /// Start a cluster and stay until Ctrl-C or `down`
    Run {
        #[command(flatten)]
        place: Place,
        /// Simulated nodes
        #[arg(long, default_value_t = 3)]
        nodes: usize,
    },
    /// End the cluster that `up` or `run` started
    Down {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args, Debug)]
struct Place {
    /// Folder of the cluster's state
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.testbed"), hide_default_value = true)]
    dir: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Build => build().await,
        Command::Up { place, nodes } => background::up(&place.dir, nodes).await,
        Command::Run { place, nodes } => background::run(&place.dir, nodes).await,
        Command::Down { place } => background::down(&place.dir).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("testbed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn build() -> anyhow::Result<()> {
    let programs = Programs::ready().await?;
    for program in Program::ALL {
        println!("{}", programs.path(program).display());
    }
    Ok(())
}
