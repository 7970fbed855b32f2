//! How agreement is shown.

use std::{collections::BTreeMap, env, fmt::Write, fs, path::Path};

/// Columns of running text.
const COLUMNS: usize = 100;

/// What stands around the generated part of `README.md`.
const BEGIN: &str = "<!-- figures: begin -->\n";
const END: &str = "<!-- figures: end -->\n";

/// How many cases there were.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub judged: usize,
    pub agreeing: usize,
    /// Cases whose answer takes other objects.
    pub needing_others: usize,
    /// Cases whose answer is no word of ours.
    pub without_word: usize,
    /// Objects that are being deleted, for which none of the other projects has a word.
    pub going: usize,
}

impl Tally {
    pub fn sum<'a>(tallies: impl Iterator<Item = &'a Self>) -> Self {
        tallies.fold(Self::default(), |sum, tally| Self {
            judged: sum.judged + tally.judged,
            agreeing: sum.agreeing + tally.agreeing,
            needing_others: sum.needing_others + tally.needing_others,
            without_word: sum.without_word + tally.without_word,
            going: sum.going + tally.going,
        })
    }

    pub fn thousandths(self) -> usize {
        1000 * self.agreeing / self.judged.max(1)
    }
}

/// A Markdown table, a row a suite.
pub fn by_suite(suites: &[(&str, Tally)]) -> String {
    let mut text = format!(
        "| {:13} | {:>6} | {:>5} | {:>6} | {:>18} | {:>12} | {:>13} |\n|---|--:|--:|--:|--:|--:|--:|\n",
        "suite", "judged", "agree", "%", "need other objects", "without word", "being deleted"
    );
    for (suite, tally) in suites {
        let Tally { judged, agreeing, needing_others, without_word, going } = tally;
        let percent = format!("{}.{}", tally.thousandths() / 10, tally.thousandths() % 10);
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "| {suite:13} | {judged:6} | {agreeing:5} | {percent:>6} | {needing_others:18} | {without_word:12} | {going:13} |"
        );
    }
    text
}

/// The kinds with a disagreement, then those without.
pub fn by_kind(kinds: &BTreeMap<String, Tally>) -> String {
    let (whole, part): (Vec<_>, Vec<_>) = kinds.iter().partition(|(_, tally)| tally.agreeing == tally.judged);
    let entry = |(kind, tally): &(&String, &Tally)| format!("{kind} {}/{}", tally.agreeing, tally.judged);
    let mut text = format!("{} kinds, {} with a disagreement:\n", kinds.len(), part.len());
    wrapped(&mut text, part.iter().map(entry));
    let _ = writeln!(text, "and {} without:", whole.len());
    wrapped(&mut text, whole.iter().map(entry));
    text
}

fn wrapped(text: &mut String, entries: impl Iterator<Item = String>) {
    let mut line = String::new();
    for entry in entries {
        if !line.is_empty() && line.len() + 2 + entry.len() > COLUMNS {
            let _ = writeln!(text, "  {line}");
            line.clear();
        }
        line += if line.is_empty() { "" } else { ", " };
        line += &entry;
    }
    if !line.is_empty() {
        let _ = writeln!(text, "  {line}");
    }
}

/// Compares the figures in `README.md` with `table`, or writes them with `UPDATE_GENERATED`.
pub fn check_readme(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/health/README.md");
    let text = fs::read_to_string(&path).expect("README.md");
    let (head, rest) = text.split_once(BEGIN).expect("where the figures begin");
    let (committed, tail) = rest.split_once(END).expect("where the figures end");
    if committed == table {
        return;
    }
    assert!(
        env::var_os("UPDATE_GENERATED").is_some(),
        "the figures in tests/health/README.md aren't those of this run. Run `make generate` and commit it.\n{table}"
    );
    fs::write(&path, format!("{head}{BEGIN}{table}{END}{tail}")).expect("README.md can be written");
}
