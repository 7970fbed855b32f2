//! The rules of `rules/`, compiled in.

use super::{Rule, read::read_text};

/// The names and texts of the files.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The names and texts of the files of built-in rules, in order of name.
pub fn files() -> &'static [(&'static str, &'static str)] {
    FILES
}

/// All of them. A file that isn't right is left out, which a test finds.
pub(super) fn rules() -> Vec<Rule> {
    let read = FILES.iter().filter_map(|(name, text)| read_text(name, text).ok()).flatten();
    read.filter_map(|written| written.compile().ok()).collect()
}
