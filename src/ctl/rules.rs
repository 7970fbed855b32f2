//! Rules that stand in files, and what is wrong with them.

mod list;
mod test;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Error, Exit, Io, args::RulesCommand};
use crate::health::{
    Case, Cases, Clash, Failure, FileError, Rule, Rules, Taken, Written, builtin_cases, builtin_files,
    cases_name, read_case_text, read_cases, read_file, read_text, rule_files, stray_cases,
};

/// `addonctl rules`.
pub(super) fn run(command: &RulesCommand, io: &mut Io<'_>) -> Result<Exit, Error> {
    match command {
        RulesCommand::List(args) => list::run(&Book::with_cases(&args.book.paths), args.output, io),
        RulesCommand::Test(book) => test::run(&Book::with_cases(&book.paths), io),
    }
}

/// Rules of the user's own that go before all others, and what is wrong with their files: a rule that
/// isn't right is left out.
pub(super) struct Own {
    rules: Vec<Arc<Rule>>,
    /// The file and the line of each.
    places: Vec<Place>,
    faults: Vec<FileError>,
}

/// Reads the rules of `folders`.
pub(super) fn read(folders: &[PathBuf]) -> Own {
    let Book { chapters, faults, .. } = Book::read(folders);
    let mut own = Own { rules: Vec::new(), places: Vec::new(), faults };
    for (written, rule) in chapters.into_iter().flat_map(|chapter| chapter.rules) {
        own.places.push((written.file, written.line));
        own.rules.push(rule);
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

    fn failures(&self) -> impl Iterator<Item = (&Place, Failure)> {
        let of_rule = |(place, rule): (_, &Arc<Rule>)| {
            rule.failures().into_iter().map(move |failure| (place, failure)).collect::<Vec<_>>()
        };
        self.places.iter().zip(&self.rules).flat_map(of_rule)
    }
}

/// Files of rules, and maybe the cases beside them.
#[derive(Default)]
struct Book {
    chapters: Vec<Chapter>,
    faults: Vec<FileError>,
    is_builtin: bool,
    /// Where what is judged by rules is judged, and where the names of objects stand.
    taken: Taken<Place>,
    names: HashMap<String, Place>,
}

/// A file of rules with its cases.
struct Chapter {
    /// `None` for one that is built in.
    file: Option<PathBuf>,
    rules: Vec<(Written, Arc<Rule>)>,
    cases: Option<Cases>,
    /// Whether there is no file of cases beside it.
    is_bare: bool,
}

/// A file and a line.
type Place = (String, u64);

impl Book {
    /// The rules in files and folders with their cases, or the built-in ones where none are named.
    fn with_cases(paths: &[PathBuf]) -> Self {
        if paths.is_empty() {
            return Self::builtin();
        }
        let mut book = Self::read(paths);
        for chapter in &mut book.chapters {
            match chapter.file.as_deref().map(read_cases).transpose() {
                Ok(cases) => {
                    chapter.cases = cases.flatten();
                    chapter.is_bare = chapter.cases.is_none();
                    book.faults.extend(chapter.cases.iter_mut().flat_map(|cases| cases.faults.drain(..)));
                }
                Err(fault) => book.faults.push(fault),
            }
        }
        book.faults.extend(paths.iter().flat_map(|path| stray_cases(path)));
        book
    }

    /// The rules in files and folders.
    fn read(paths: &[PathBuf]) -> Self {
        let mut book = Self::default();
        let mut seen = HashSet::new();
        for path in paths {
            let files = rule_files(path).unwrap_or_else(|fault| {
                book.faults.push(fault);
                Vec::new()
            });
            for file in files {
                // A folder and a file in it may both be named.
                if seen.insert(fs::canonicalize(&file).unwrap_or_else(|_| file.clone())) {
                    let written = read_file(&file);
                    book.add(Some(file), written, None);
                }
            }
        }
        book
    }

    fn builtin() -> Self {
        let mut book = Self { is_builtin: true, ..Self::default() };
        for (file, text) in builtin_files() {
            let beside = cases_name(Path::new(file));
            let cases = builtin_cases().iter().find(|(name, _)| *name == beside);
            let cases = cases.map(|(name, text)| read_case_text(name, text)).transpose();
            let cases = cases.unwrap_or_else(|fault| {
                book.faults.push(fault);
                None
            });
            book.add(None, read_text(file, text), cases);
        }
        book
    }

    /// Adds a file. Of rules that aren't right, and of those that judge what one before them judges,
    /// the fault is kept alone.
    fn add(
        &mut self,
        file: Option<PathBuf>,
        written: Result<Vec<Written>, FileError>,
        mut cases: Option<Cases>,
    ) {
        self.faults.extend(cases.iter_mut().flat_map(|cases| cases.faults.drain(..)));
        let written = written.unwrap_or_else(|fault| {
            self.faults.push(fault);
            Vec::new()
        });
        let mut rules = Vec::new();
        for written in written {
            match written.compile().and_then(|rule| self.take(&written, &rule).map(|()| Arc::new(rule))) {
                Ok(rule) => rules.push((written, rule)),
                Err(fault) => self.faults.push(fault),
            }
        }
        self.chapters.push(Chapter { file, rules, cases, is_bare: false });
    }

    /// Refuses a rule that the API server or the controller would refuse for another one. Which of two is
    /// older, files don't tell.
    fn take(&mut self, written: &Written, rule: &Rule) -> Result<(), FileError> {
        if self.is_builtin {
            return Ok(());
        }
        let (path, line) = (written.file.clone(), written.line);
        let place = (path.clone(), line);
        if rule.is_object() {
            if let Some((file, other)) = self.names.get(&written.name) {
                let message = format!("there is a {} at {file}:{other} already", written.name);
                return Err(FileError::Broken { path, line, message });
            }
            self.names.insert(written.name.clone(), place.clone());
        }
        self.taken.take(&place, rule).map_err(|Clash { other: (file, other), what }| FileError::Broken {
            path,
            line,
            message: format!(
                "the rule that begins here judges {what}, and so does the one at {file}:{other}: make one of them"
            ),
        })
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
        self.faults.iter().try_for_each(|fault| writeln!(stderr, "error: {fault}"))
    }
}

impl Chapter {
    /// The file of rules beside which there are no cases, and what they would be called.
    fn without_cases(&self) -> Option<(String, String)> {
        let file = self.file.as_deref().filter(|_| self.is_bare)?;
        Some((self.rules.first()?.0.file.clone(), cases_name(file)))
    }

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
