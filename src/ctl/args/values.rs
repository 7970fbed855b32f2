//! The words that flags take.

use clap::ValueEnum;

use crate::model::Timestamp;

/// How to print verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::ctl) enum Verdicts {
    Table,
    Wide,
    Json,
}

/// How to print a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::ctl) enum Tree {
    Tree,
    Json,
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ctl) enum Moment {
    Now,
    At(Timestamp),
}

impl Moment {
    /// The time that is meant where it is `now`.
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Now => now,
            Self::At(time) => time,
        }
    }
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::ctl) enum Format {
    Table,
    Wide,
    Json,
    Yaml,
    Name,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::ctl) enum Colour {
    Auto,
    Always,
    Never,
}

impl Colour {
    /// Whether to colour, where `auto` is what the surroundings say.
    pub fn resolve(self, auto: bool) -> bool {
        match self {
            Self::Auto => auto,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// A point in time: `now`, a time or a date.
pub(super) fn moment(raw: &str) -> Result<Moment, String> {
    if raw == "now" {
        return Ok(Moment::Now);
    }
    let midnight = || format!("{raw}T00:00:00Z").parse();
    raw.parse().or_else(|_| midnight()).map(Moment::At).map_err(|_| {
        "must be 'now', a time such as 2025-03-01T10:00:00Z, or a date such as 2025-03-01".to_owned()
    })
}
