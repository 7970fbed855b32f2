//! `addonctl`: add-ons from an API server or from files, for people and programs.

use std::io;

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
        now: Timestamp::now(),
    };
    ctl::run(std::env::args_os(), io).await
}
