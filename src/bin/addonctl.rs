//! `addonctl`: add-ons from an API server or from files, for people and programs.

use std::io::{self, IsTerminal};

use addons::{
    ctl::{self, Exit, Io},
    model::Timestamp,
};
use anstream::{AutoStream, ColorChoice};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Exit {
    let mut stdout = io::stdout();
    let colour = AutoStream::choice(&stdout) != ColorChoice::Never;
    let io = Io {
        stdin: &mut io::stdin(),
        stdout: &mut stdout,
        stderr: &mut io::stderr(),
        colour,
        columns: columns(),
        now: Timestamp::now(),
    };
    ctl::run(std::env::args_os(), io).await
}

/// `COLUMNS` where it is set, as for other programs, and else what the terminal says.
fn columns() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| terminal_size::terminal_size_of(stdout).map(|(width, _)| width.0.into()))
}
