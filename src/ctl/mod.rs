//! The commands of `addonctl`: raw arguments are parsed, resolved once to what the program uses,
//! and answered from an API server or from files.

mod age;
mod args;
mod columns;
mod computed;
mod describe;
mod doctor;
mod error;
mod exit;
mod files;
mod health;
mod list;
mod live;
mod looks;
mod output;
mod rules;
mod server;
mod table;
#[cfg(test)]
mod testing;
mod tree;
mod why;
mod wrap;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
};

use clap::Parser;

pub use error::Error;
pub use exit::Exit;

use crate::model::Timestamp;

/// What a command reads from, writes to and takes for now.
pub struct Io<'a> {
    /// What `-f -` reads.
    pub stdin: &'a mut (dyn Read + Send),
    /// Results.
    pub stdout: &'a mut dyn Write,
    /// Errors, hints and notes.
    pub stderr: &'a mut dyn Write,
    /// Whether results may be coloured where nobody says.
    pub colour: bool,
    /// How many columns the terminal has that results go to; `None` where they go elsewhere.
    pub columns: Option<usize>,
    /// The clock.
    pub now: Timestamp,
}

/// Runs one command. `arguments` begin with the program's name.
///
/// Results go to `stdout` and everything else to `stderr`, each error as one line with a hint. A
/// reader of `stdout` that goes away is no error.
pub async fn run(arguments: impl IntoIterator<Item = OsString>, mut io: Io<'_>) -> Exit {
    let outcome = match args::Cli::try_parse_from(arguments) {
        Ok(cli) => answer(cli, &mut io).await,
        Err(usage) => print_usage(&usage, &mut io),
    };
    match outcome {
        Ok(exit) => exit,
        Err(Error::Output(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Err(error) => {
            // Nobody is left to tell when this fails.
            let _ = error.print(io.stderr);
            error.exit()
        }
    }
}

async fn answer(cli: args::Cli, io: &mut Io<'_>) -> Result<Exit, Error> {
    let colour = cli.colour.resolve(io.colour);
    match cli.command {
        args::Command::List(args) => list::run(&args.resolve(), colour, io).await,
        args::Command::Describe(args) => describe::run(&args.resolve()?, colour, io).await,
        args::Command::Why(args) => why::run(&args.resolve()?, colour, io).await,
        args::Command::Health(args) => health::run(&args, colour, io),
        args::Command::Doctor(args) => doctor::run(&args.resolve()?, colour, io).await,
        args::Command::Rules { command } => rules::run(&command, io),
    }
}

fn print_usage(usage: &clap::Error, io: &mut Io<'_>) -> Result<Exit, Error> {
    let text = usage.render();
    if usage.use_stderr() {
        write!(io.stderr, "{text}")?;
        return Ok(Exit::Usage);
    }
    let text = if io.colour { text.ansi().to_string() } else { text.to_string() };
    io.stdout.write_all(text.as_bytes())?;
    io.stdout.flush()?;
    Ok(Exit::Success)
}
