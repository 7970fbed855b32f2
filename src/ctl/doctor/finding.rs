//! What a check found, and how that is printed.

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::{NAMED, shell};
use crate::ctl::{Error, output, table::paint, wrap::wrap};

/// Where the words of a line begin, after the verdict and the name of the check.
const INDENT: usize = 19;

/// Where commands begin.
const COMMAND_INDENT: usize = 6;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// What a check found. All text is clean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub check: &'static str,
    pub verdict: Verdict,
    pub what: String,
    pub details: Vec<String>,
    pub commands: Vec<String>,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Ok => Style::new(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Fail => AnsiColor::Red.on_default().bold(),
        }
    }
}

impl Finding {
    pub fn new(check: &'static str, verdict: Verdict, what: impl Into<String>) -> Self {
        Self { check, verdict, what: what.into(), details: Vec::new(), commands: Vec::new() }
    }

    pub fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self::new(check, Verdict::Ok, what)
    }

    pub fn warn(check: &'static str, what: impl Into<String>) -> Self {
        Self::new(check, Verdict::Warn, what)
    }

    pub fn fail(check: &'static str, what: impl Into<String>) -> Self {
        Self::new(check, Verdict::Fail, what)
    }

    /// With one more line below.
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    /// With the first of `lines` below, and how many more there are.
    pub fn details(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        let mut lines = lines.into_iter();
        self.details.extend(lines.by_ref().take(NAMED));
        match lines.count() {
            0 => self,
            more => self.detail(format!("and {more} more")),
        }
    }

    /// With a command that mends it or tells more.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.push(command.into());
        self
    }

    /// With the first of `commands`.
    pub fn commands(mut self, commands: impl IntoIterator<Item = String>) -> Self {
        self.commands.extend(commands.into_iter().take(NAMED));
        self
    }

    pub fn is_failure(&self) -> bool {
        self.verdict == Verdict::Fail
    }
}

/// For people: a line a check, what it means below, and the commands indented.
pub(super) fn table(findings: &[Finding], colour: bool) -> String {
    let mut text = String::new();
    for finding in findings {
        let Finding { check, verdict, what, details, commands } = finding;
        let mut lines = wrap(what, INDENT).into_iter();
        let first = lines.next().unwrap_or_default();
        let word = paint(&format!("{:<6}", verdict.word()), verdict.style(), colour);
        text += &format!("{word}{check:<width$}{first}\n", width = INDENT - 6);
        for line in lines.chain(details.iter().flat_map(|detail| wrap(detail, INDENT))) {
            text += &format!("{:INDENT$}{line}\n", "");
        }
        for line in commands.iter().flat_map(|command| shell::fold(command, COMMAND_INDENT)) {
            text += &format!("{:COMMAND_INDENT$}{line}\n", "");
        }
    }
    let [ok, warn, fail] = counts(findings);
    text + &format!("{ok} ok, {warn} to look at, {fail} failed\n")
}

/// For programs.
pub(super) fn json(findings: &[Finding]) -> Result<String, Error> {
    let [ok, warn, fail] = counts(findings);
    output::json(&serde_json::json!({"checks": findings, "ok": ok, "warn": warn, "fail": fail}))
}

fn counts(findings: &[Finding]) -> [usize; 3] {
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    [Verdict::Ok, Verdict::Warn, Verdict::Fail].map(count)
}
