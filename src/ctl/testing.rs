#![allow(clippy::expect_used)]
//! What the tests of the commands share: streams to run one with.

use super::{Exit, Io};

/// What a command said.
pub(super) struct Output {
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
}

/// The streams of a command on a terminal of 80 columns, at the beginning of 2026.
pub(super) struct Streams<'a> {
    stdin: &'a [u8],
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl<'a> Streams<'a> {
    pub(super) fn of(input: &'a str) -> Self {
        Self { stdin: input.as_bytes(), stdout: Vec::new(), stderr: Vec::new() }
    }

    pub(super) fn io(&mut self) -> Io<'_> {
        Io {
            stdin: &mut self.stdin,
            stdout: &mut self.stdout,
            stderr: &mut self.stderr,
            colour: false,
            columns: Some(80),
            now: "2026-01-01T00:00:00Z".parse().expect("a time"),
        }
    }

    pub(super) fn output(self, exit: Exit) -> Output {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Output { exit, stdout: text(self.stdout), stderr: text(self.stderr) }
    }
}
