//! Rules and their cases as they stand in files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;
use thiserror::Error;

use super::{Rule, RuleError};
use crate::{
    api::{StatusRule, StatusRuleSpec, Word},
    model::{Timestamp, text},
};

/// The most that a file of rules may hold, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// What the names of files with cases end in.
const CASES: &str = ".cases.yaml";

/// A rule as it stands in a file.
#[derive(Clone, Debug)]
pub struct Written {
    /// What it is called in verdicts: `rules/<group>.<Kind>`, or `StatusRule/<name>`.
    pub name: String,
    /// The file that it stands in.
    pub file: String,
    /// The line on which it begins.
    pub line: u64,
    /// What it says.
    pub spec: StatusRuleSpec,
}

/// Why rules or cases could not be read.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file or folder can't be read at all.
    #[error("{path}: {cause}")]
    Unreadable {
        /// The path as it was given.
        path: String,
        /// Why.
        cause: io::Error,
    },
    /// What stands in it isn't what it should be.
    #[error("{path}:{line}: {message}")]
    Broken {
        /// The path as it was given.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}

/// An object with the verdict that a rule must give it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// The object.
    pub object: Value,
    /// How it is.
    pub health: Word,
    /// The reason, where it matters.
    #[serde(default)]
    pub reason: Option<String>,
    /// The clock; without it no time has passed.
    #[serde(default)]
    pub now: Option<Timestamp>,
    /// What is shown of it.
    #[serde(default)]
    pub facts: std::collections::BTreeMap<String, String>,
}

/// The cases beside a file of rules.
#[derive(Debug)]
pub struct Cases {
    /// The file that they stand in.
    pub file: String,
    /// Each with the line on which it begins.
    pub cases: Vec<(u64, Case)>,
}

impl Written {
    /// Makes it ready to judge.
    ///
    /// # Errors
    /// What makes no sense in it, with file and line.
    pub fn compile(&self) -> Result<Rule, FileError> {
        Rule::compile(&self.name, &self.spec).map_err(|RuleError { at, message }| FileError::Broken {
            path: self.file.clone(),
            line: self.line,
            message: format!("in the rule that begins here, {at}: {message}"),
        })
    }
}

/// Reads the rules in `text`: a list of specs, or documents that are a `StatusRule` each. `file`
/// stands for it in errors.
///
/// # Errors
/// The first fault, with its line.
pub fn read_text(file: &str, text: &str) -> Result<Vec<Written>, FileError> {
    let first =
        text.lines().find(|line| !(line.trim().is_empty() || line.starts_with('#') || *line == "---"));
    if first.is_some_and(|line| line.starts_with('-')) {
        let specs: Vec<Spanned<StatusRuleSpec>> = serde_saphyr::from_str(text).map_err(broken(file))?;
        return Ok(specs.into_iter().map(|spec| listed(file, spec)).collect());
    }
    let rules: Vec<Spanned<StatusRule>> = serde_saphyr::from_multiple(text).map_err(broken(file))?;
    Ok(rules.into_iter().map(|rule| resource(file, rule)).collect())
}

fn listed(file: &str, spec: Spanned<StatusRuleSpec>) -> Written {
    let name = match &spec.value.matches {
        Some(matches) => match (&matches.kind, &*matches.kinds) {
            (Some(kind), []) | (None, [kind]) if matches.group.is_empty() => format!("rules/{kind}"),
            (Some(kind), []) | (None, [kind]) => format!("rules/{}.{kind}", matches.group),
            _ => format!("rules/{}", matches.group),
        },
        None => "rules/combine".to_owned(),
    };
    Written { name: text::word(&name), file: file.to_owned(), line: spec.referenced.line(), spec: spec.value }
}

fn resource(file: &str, rule: Spanned<StatusRule>) -> Written {
    let name = rule.value.metadata.name.as_deref().unwrap_or_default();
    Written {
        name: text::word(&format!("StatusRule/{name}")),
        file: file.to_owned(),
        line: rule.referenced.line(),
        spec: rule.value.spec,
    }
}

/// Reads every `.yaml` and `.yml` file of rules in a folder, or a single file.
///
/// # Errors
/// Each fault; what could be read is given all the same.
pub fn read_dir(path: &Path) -> (Vec<Written>, Vec<FileError>) {
    let mut written = Vec::new();
    let mut errors = Vec::new();
    match files(path) {
        Ok(files) => {
            for file in files {
                match load(&file).and_then(|text| read_text(&shown(&file), &text)) {
                    Ok(rules) => written.extend(rules),
                    Err(error) => errors.push(error),
                }
            }
        }
        Err(cause) => errors.push(FileError::Unreadable { path: shown(path), cause }),
    }
    (written, errors)
}

/// Reads the cases beside a file of rules: `x.cases.yaml` beside `x.yaml`. `None` where there are
/// none.
///
/// # Errors
/// What is wrong with the file.
pub fn read_cases(rules: &Path) -> Result<Option<Cases>, FileError> {
    let file = rules.with_extension("cases.yaml");
    if !file.exists() {
        return Ok(None);
    }
    let shown = shown(&file);
    let cases: Vec<Spanned<Case>> = serde_saphyr::from_str(&load(&file)?).map_err(broken(&shown))?;
    let cases = cases.into_iter().map(|case| (case.referenced.line(), case.value)).collect();
    Ok(Some(Cases { file: shown, cases }))
}

/// The files of rules at `path`, in order of name.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        (name.ends_with(".yaml") || name.ends_with(".yml")) && !name.ends_with(CASES)
    });
    files.sort();
    Ok(files)
}

fn load(file: &Path) -> Result<String, FileError> {
    let unreadable = |cause| FileError::Unreadable { path: shown(file), cause };
    if fs::metadata(file).map_err(unreadable)?.len() > MAX_BYTES {
        return Err(unreadable(io::Error::other("more than 1 MiB, which no file of rules needs")));
    }
    fs::read_to_string(file).map_err(unreadable)
}

fn shown(path: &Path) -> String {
    text::name(&path.to_string_lossy())
}

fn broken(path: &str) -> impl Fn(serde_saphyr::Error) -> FileError + '_ {
    move |error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default();
        FileError::Broken { path: path.to_owned(), line, message: text::message(first) }
    }
}
