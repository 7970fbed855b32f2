//! The table that is printed.

use std::{fmt::Write as _, time::Duration};

use crate::program::Side;

/// A row a measure, a column a program.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    goal: &'static str,
    cells: [Option<String>; 2],
}

impl Table {
    /// Adds a figure; `goal` is that of the design, empty where it has none.
    pub(crate) fn put(&mut self, side: Side, what: &str, goal: &'static str, value: impl Into<String>) {
        let value = value.into();
        eprintln!("  {what}: {value}");
        let row = match self.rows.iter().position(|row| row.what == what) {
            Some(row) => row,
            None => {
                self.rows.push(Row { what: what.to_owned(), goal, cells: [None, None] });
                self.rows.len() - 1
            }
        };
        self.rows[row].cells[side as usize] = Some(value);
    }

    /// The table in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = "| what | goal | addons | client-go |\n|---|---|---|---|\n".to_owned();
        for Row { what, goal, cells } in &self.rows {
            let [addons, peer] = cells.each_ref().map(|cell| cell.as_deref().unwrap_or("-"));
            // Writing to a string can't fail.
            let _ = writeln!(text, "| {what} | {goal} | {addons} | {peer} |");
        }
        text
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[allow(clippy::cast_precision_loss)] // Some hundred mebibytes.
pub(crate) fn mebibytes(kibibytes: u64) -> String {
    format!("{:.1} MiB", kibibytes as f64 / 1024.0)
}

#[allow(clippy::cast_precision_loss)] // Some hundred megabytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The 50th and the 99th of a hundred, in milliseconds.
pub(crate) fn percentiles(mut milliseconds: Vec<f64>) -> String {
    milliseconds.sort_by(f64::total_cmp);
    let at = |share: usize| {
        let last = milliseconds.len().saturating_sub(1);
        milliseconds.get((milliseconds.len() * share / 100).min(last)).copied().unwrap_or_default()
    };
    format!("{:.1} / {:.1} ms", at(50), at(99))
}
