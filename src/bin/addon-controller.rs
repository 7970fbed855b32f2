//! Keeps one `Addon` object for every identifier that objects carry in a label.

use std::process::ExitCode;

use addons::controller::{self, Options};
use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    match controller::run(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("addon-controller: {error:#}");
            ExitCode::FAILURE
        }
    }
}
