//! Rules that stand in files, and what is wrong with them.

mod list;
mod test;
#[cfg(test)]
mod tests;

use std::{io, io::Write, path::PathBuf, sync::Arc};

use super::{
    Error, Exit, Io,
    args::{BookArgs, RulesCommand},
};
use crate::health::{
    Case, Cases, Failure, FileError, Rule, Rules, Written, builtin_cases, builtin_files, read_case_text,
    read_cases, read_dir, read_text, rule_files,
};

/// `addonctl rules`.
pub(super) fn run(command: &RulesCommand, io: &mut Io<'_>) -> Result<Exit, Error> {
    match command {
        RulesCommand::List(BookArgs { paths }) => list::run(&Book::read(paths), io),
        RulesCommand::Test(BookArgs { paths }) => test::run(&Book::read(paths), io),
    }
}

/// Rules of the user's own that go before all others, and what is wrong with their files: a rule that
/// isn't right is left out.
pub(super) struct Own {
    rules: Vec<Arc<Rule>>,
    /// The file and the line of each.
    places: Vec<(String, u64)>,
    faults: Vec<FileError>,
}

/// Reads the rules of `folders`.
pub(super) fn read(folders: &[PathBuf]) -> Own {
    let mut own = Own { rules: Vec::new(), places: Vec::new(), faults: Vec::new() };
    for folder in folders {
        let (written, unread) = read_dir(folder);
        own.faults.extend(unread);
        for (written, rule) in compiled(written, &mut own.faults) {
            own.places.push((written.file, written.line));
            own.rules.push(rule);
        }
    }
    own
}

impl Own {
    /// The rules, of which the first for a kind counts most.
    pub(super) fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// The built-in rules with these before them.
    pub(super) fn in_force(&self) -> Arc<Rules> {
        if self.rules.is_empty() {
            return Rules::builtin();
        }
        Arc::new(Rules::with(self.rules.iter().cloned()))
    }

    /// Says what is wrong with the files, and which expressions had no answer for what was judged: for
    /// how many objects, where each of them was judged once.
    pub(super) fn say(&self, each_once: bool, stderr: &mut dyn Write) -> io::Result<()> {
        self.faults.iter().try_for_each(|fault| writeln!(stderr, "error: {fault}"))?;
        for ((file, line), Failure { place, first, times, is_off }) in self.failures() {
            let objects = match times {
                _ if !each_once => String::new(),
                1 => "1 object, ".to_owned(),
                times => format!("{times} objects, the first "),
            };
            let end = if is_off { "; it was switched off then" } else { "" };
            writeln!(
                stderr,
                "error: {file}:{line}: in the rule that begins here, {place} has no answer for \
                 {objects}{first}{end}"
            )?;
        }
        Ok(())
    }

    /// Whether nothing is wrong with them, and their expressions had answers for all that was judged.
    pub(super) fn is_right(&self) -> bool {
        self.faults.is_empty() && self.failures().next().is_none()
    }

    fn failures(&self) -> impl Iterator<Item = (&(String, u64), Failure)> {
        let of_rule = |(place, rule): (_, &Arc<Rule>)| {
            rule.failures().into_iter().map(move |failure| (place, failure)).collect::<Vec<_>>()
        };
        self.places.iter().zip(&self.rules).flat_map(of_rule)
    }
}

/// The rules that make sense, as they were written and ready to judge.
fn compiled(written: Vec<Written>, faults: &mut Vec<FileError>) -> Vec<(Written, Arc<Rule>)> {
    let compile = |written: Written| match written.compile() {
        Ok(rule) => Some((written, Arc::new(rule))),
        Err(fault) => {
            faults.push(fault);
            None
        }
    };
    written.into_iter().filter_map(compile).collect()
}

/// Files of rules with the cases beside them.
#[derive(Default)]
struct Book {
    chapters: Vec<Chapter>,
    faults: Vec<FileError>,
    is_builtin: bool,
}

/// A file of rules with its cases.
struct Chapter {
    rules: Vec<(Written, Arc<Rule>)>,
    cases: Option<Cases>,
}

impl Book {
    /// The rules in files and folders, or the built-in ones where none are named.
    fn read(paths: &[PathBuf]) -> Self {
        let mut book = Self { is_builtin: paths.is_empty(), ..Self::default() };
        if book.is_builtin {
            for (file, text) in builtin_files() {
                let beside = file.replace(".yaml", ".cases.yaml");
                let cases = builtin_cases().iter().find(|(name, _)| *name == beside);
                let cases = cases.map(|(name, text)| read_case_text(name, text)).transpose();
                let (written, faults) = match read_text(file, text) {
                    Ok(written) => (written, Vec::new()),
                    Err(fault) => (Vec::new(), vec![fault]),
                };
                book.add(written, faults, cases);
            }
        }
        for path in paths {
            match rule_files(path) {
                Ok(files) => {
                    for file in files {
                        let (written, faults) = read_dir(&file);
                        book.add(written, faults, read_cases(&file));
                    }
                }
                // Reading it names the fault.
                Err(_) => book.faults.extend(read_dir(path).1),
            }
        }
        book
    }

    fn add(
        &mut self,
        written: Vec<Written>,
        faults: Vec<FileError>,
        cases: Result<Option<Cases>, FileError>,
    ) {
        self.faults.extend(faults);
        let rules = compiled(written, &mut self.faults);
        let cases = cases.unwrap_or_else(|fault| {
            self.faults.push(fault);
            None
        });
        self.chapters.push(Chapter { rules, cases });
    }

    /// The rules in force when these are.
    fn in_force(&self) -> Arc<Rules> {
        if self.is_builtin {
            return Rules::builtin();
        }
        let rules = self.chapters.iter().flat_map(|chapter| &chapter.rules);
        Arc::new(Rules::with(rules.map(|(_, rule)| Arc::clone(rule))))
    }

    fn is_empty(&self) -> bool {
        self.chapters.iter().all(|chapter| chapter.rules.is_empty())
    }

    /// Says what is wrong with the files.
    fn say(&self, stderr: &mut dyn Write) -> io::Result<()> {
        self.faults.iter().try_for_each(|fault| writeln!(stderr, "error: {fault}"))?;
        if self.is_empty() && self.faults.is_empty() {
            writeln!(stderr, "No rules found.")?;
        }
        Ok(())
    }
}

impl Chapter {
    /// The cases, each with its line.
    fn cases(&self) -> impl Iterator<Item = &(u64, Case)> {
        self.cases.iter().flat_map(|cases| &cases.cases)
    }

    /// How many of the cases are about what `rule` is for.
    fn count(&self, rule: &Rule) -> usize {
        let is_for =
            |(_, case): &&(u64, Case)| case.kind().is_some_and(|of| rule.is_for(&of.group, &of.kind));
        self.cases().filter(is_for).count()
    }
}

/// `1 rule`, `2 rules`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
