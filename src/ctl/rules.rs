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
    Case, Cases, FileError, Rule, Rules, Written, builtin_cases, builtin_files, read_case_text, read_cases,
    read_dir, read_text, rule_files,
};

/// `addonctl rules`.
pub(super) fn run(command: &RulesCommand, io: &mut Io<'_>) -> Result<Exit, Error> {
    match command {
        RulesCommand::List(BookArgs { paths }) => list::run(&Book::read(paths), io),
        RulesCommand::Test(BookArgs { paths }) => test::run(&Book::read(paths), io),
    }
}

/// The built-in rules with those of `folders` before them, and what is wrong with these: a rule
/// that isn't right is left out.
pub(super) fn read(folders: &[PathBuf]) -> (Arc<Rules>, Vec<FileError>) {
    if folders.is_empty() {
        return (Rules::builtin(), Vec::new());
    }
    let mut rules = Vec::new();
    let mut faults = Vec::new();
    for folder in folders {
        let (written, unread) = read_dir(folder);
        faults.extend(unread);
        rules.extend(compiled(written, &mut faults).into_iter().map(|(_, rule)| rule));
    }
    (Arc::new(Rules::with(rules)), faults)
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
