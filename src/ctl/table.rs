//! The one table printer: columns as wide as their widest cell, three spaces apart, as kubectl's.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use crate::model::Health;

/// What stands in a cell that has nothing to say: tools that split at blanks must find every column.
pub(super) const NONE: &str = "<none>";

const GAP: usize = 3;

/// Rows under a header.
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// One value, and how it is coloured.
#[derive(Clone)]
pub(super) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A health, coloured where it isn't well: colour is for what needs eyes.
    pub fn health(word: &str) -> Self {
        Self { style: health_style(word), ..Self::from(word) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        let text = text.into();
        let text = if text.is_empty() { NONE.to_owned() } else { text };
        Self { text, style: Style::new() }
    }
}

impl Table {
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The lines of the table, that of the header first where `header` is set.
    pub fn lines(&self, header: bool, colour: bool) -> Vec<String> {
        let titles: Vec<Cell> = self.header.iter().map(|title| Cell::from(title.as_str())).collect();
        let rows: Vec<&Vec<Cell>> = header.then_some(&titles).into_iter().chain(&self.rows).collect();
        let mut widths = vec![0; self.header.len()];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(*row) {
                *width = cell.text.width().max(*width);
            }
        }
        rows.into_iter().map(|row| line(row, &widths, colour)).collect()
    }

    /// [`Table::lines`] as one text.
    pub fn render(&self, header: bool, colour: bool) -> String {
        self.lines(header, colour).iter().fold(String::new(), |text, line| text + line + "\n")
    }
}

fn line(row: &[Cell], widths: &[usize], colour: bool) -> String {
    let mut line = String::new();
    let mut owed = 0;
    for (cell, width) in row.iter().zip(widths) {
        // Writing to a String can't fail.
        let _ = write!(line, "{:owed$}{}", "", paint(&cell.text, cell.style, colour));
        owed = width + GAP - cell.text.width();
    }
    line
}

/// `text` in `style`, or as it is.
pub(super) fn paint(text: &str, style: Style, colour: bool) -> String {
    if colour && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// How a health is coloured.
pub(super) fn health_style(word: &str) -> Style {
    match Health::parse(word) {
        Health::Degraded => AnsiColor::Red.on_default().bold(),
        Health::Unknown | Health::Progressing | Health::Terminating => AnsiColor::Yellow.on_default(),
        Health::Suspended => Style::new().dimmed(),
        Health::Healthy => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["NAME", "HEALTH", "NOTE"]);
        table.push(vec!["dns".into(), Cell::health("Healthy"), "".into()]);
        table.push(vec!["容量".into(), Cell::health("Degraded"), "e\u{301}!".into()]);
        table
    }

    #[test]
    fn columns_stand_below_each_other_whatever_their_width() {
        assert_eq!(
            table().render(true, false),
            "NAME   HEALTH     NOTE\ndns    Healthy    <none>\n容量   Degraded   e\u{301}!\n"
        );
        assert_eq!(table().render(false, false).lines().count(), 2);
    }

    #[test]
    fn only_the_abnormal_is_coloured_and_the_columns_stay() {
        let lines = table().lines(true, true);
        assert_eq!(lines[1], "dns    Healthy    <none>");
        assert_eq!(lines[2], "容量   \u{1b}[1m\u{1b}[31mDegraded\u{1b}[0m   e\u{301}!");
    }
}
