use super::{Book, Chapter, Error, Exit, Io, counted};
use crate::{ctl::wrap::wrap, health::Rules};

/// Columns of what a failure says beyond its first line.
const INDENT: usize = 4;

/// `addonctl rules test`.
pub(super) fn run(book: &Book, io: &mut Io<'_>) -> Result<Exit, Error> {
    let rules = book.in_force();
    let mut failures = Vec::new();
    for chapter in &book.chapters {
        failures.extend(failing(chapter, &rules));
    }
    for failure in &failures {
        for (n, line) in wrap(failure, INDENT).into_iter().enumerate() {
            let indent = if n == 0 { 0 } else { INDENT };
            writeln!(io.stdout, "{:indent$}{line}", "")?;
        }
    }
    let cases: usize = book.chapters.iter().map(|chapter| chapter.cases().count()).sum();
    if !book.is_empty() {
        let all: Vec<_> = book
            .chapters
            .iter()
            .flat_map(|chapter| chapter.rules.iter().map(move |(_, rule)| chapter.count(rule)))
            .collect();
        let bare = all.iter().filter(|count| **count == 0).count();
        let bare =
            if bare == 0 { String::new() } else { format!("; without a case: {}", counted(bare, "rule")) };
        let [rules, cases, failures] = [(all.len(), "rule"), (cases, "case"), (failures.len(), "failure")]
            .map(|(count, what)| counted(count, what));
        writeln!(io.stdout, "{rules}, {cases}, {failures}{bare}")?;
    }
    io.stdout.flush()?;
    for (file, cases) in book.chapters.iter().filter_map(Chapter::without_cases) {
        writeln!(io.stderr, "note: {file}: no cases beside it ({cases})")?;
    }
    book.say(io.stderr)?;
    if cases == 0 && book.faults.is_empty() {
        writeln!(io.stderr, "error: no case was run")?;
    }
    let is_right = cases > 0 && failures.is_empty() && book.faults.is_empty();
    Ok(if is_right { Exit::Success } else { Exit::Failure })
}

/// The cases of which `rules` say something else, and the rules that were switched off over them.
fn failing<'a>(chapter: &'a Chapter, rules: &'a Rules) -> impl Iterator<Item = String> + 'a {
    let file = chapter.cases.as_ref().map_or("", |cases| cases.file.as_str());
    let wrong = chapter.cases().filter_map(move |(line, case)| {
        case.fault(rules).map(|fault| format!("{file}:{line}: {}: {fault}", case.name))
    });
    let off = chapter.rules.iter().filter_map(|(written, rule)| {
        rule.trouble().map(|trouble| format!("{}:{}: {}: {trouble}", written.file, written.line, rule.name()))
    });
    wrong.chain(off)
}
