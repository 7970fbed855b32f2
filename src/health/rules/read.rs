//! Rules as they stand in files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use serde_saphyr::{MessageFormatter, Spanned, UserMessageFormatter};
use thiserror::Error;

use super::{Rule, RuleError, cases::is_of_cases};
use crate::{
    api::{GROUP, StatusRuleSpec, VERSION},
    model::text,
};

/// The kind of a rule that is an object.
const KIND: &str = "StatusRule";

/// What the names of files with rules or cases end in.
pub(super) const ENDS: [&str; 3] = ["yaml", "yml", "json"];

/// The most that a file of rules may hold, in bytes.
const MAX_BYTES: u64 = 1 << 20;

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
    let documents: Vec<Spanned<Value>> = serde_saphyr::from_multiple(text).map_err(broken(file))?;
    let documents: Vec<_> = documents.into_iter().filter(|document| !document.value.is_null()).collect();
    let fault = |line, message: String| Err(FileError::Broken { path: file.to_owned(), line, message });
    let Some(first) = documents.first() else {
        return fault(1, "holds no rule".to_owned());
    };
    if let Value::Array(items) = &first.value {
        if items.is_empty() {
            return fault(1, "holds no rule".to_owned());
        }
        if items.iter().any(is_case) {
            let message = "holds cases, not rules: those of x.yaml stand in x.cases.yaml".to_owned();
            return fault(first.referenced.line(), message);
        }
        let specs: Vec<Spanned<StatusRuleSpec>> = serde_saphyr::from_str(text).map_err(broken(file))?;
        return Ok(specs.into_iter().map(|spec| listed(file, spec)).collect());
    }
    if let Some((document, message)) = documents.iter().find_map(|one| Some((one, no_rule(&one.value)?))) {
        return fault(document.referenced.line(), message);
    }
    let rules: Vec<Spanned<Resource>> = serde_saphyr::from_multiple(text).map_err(broken(file))?;
    rules.into_iter().map(|rule| resource(file, rule)).collect()
}

/// A `StatusRule` as it stands in a file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resource {
    #[serde(rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    metadata: Metadata,
    spec: StatusRuleSpec,
    #[serde(default, rename = "status")]
    _status: IgnoredAny,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

/// Why a document isn't a rule.
fn no_rule(document: &Value) -> Option<String> {
    let wanted = format!("a {KIND} of {GROUP}/{VERSION}, or a list of specs");
    if !document.is_object() {
        return Some(format!("is no rule: {wanted} is"));
    }
    let field = |key: &str| document.get(key).and_then(Value::as_str).map(text::word);
    match (field("apiVersion"), field("kind")) {
        (Some(api), Some(kind)) if kind == KIND && api == format!("{GROUP}/{VERSION}") => None,
        (Some(api), Some(kind)) => Some(format!("is a {kind} of {api}, and no rule: {wanted} is")),
        _ => Some(format!("is no rule, it lacks apiVersion or kind: {wanted} is")),
    }
}

fn is_case(item: &Value) -> bool {
    item.get("object").is_some() && item.get("health").is_some()
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

fn resource(file: &str, rule: Spanned<Resource>) -> Result<Written, FileError> {
    let (line, rule) = (rule.referenced.line(), rule.value);
    let (path, file) = (file.to_owned(), file.to_owned());
    if rule.metadata.name.is_empty() {
        return Err(FileError::Broken { path, line, message: "the StatusRule has no name".to_owned() });
    }
    let name = text::word(&format!("{KIND}/{}", rule.metadata.name));
    Ok(Written { name, file, line, spec: rule.spec })
}

/// Reads a file of rules.
///
/// # Errors
/// The first fault, with its line.
pub fn read_file(file: &Path) -> Result<Vec<Written>, FileError> {
    read_text(&shown(file), &load(file)?)
}

/// The files of rules at `path`, a folder or such a file, in order of name: what ends in `.yaml`, `.yml`
/// or `.json` and doesn't hold cases.
///
/// # Errors
/// Why the folder can't be read, or that there are none in it.
pub fn files_at(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut files = inside(path)?;
    if path.is_dir() {
        files.retain(|file| !is_of_cases(file));
    }
    if files.is_empty() {
        let cause = io::Error::other("no file of rules is in it: none ends in .yaml, .yml or .json");
        return Err(FileError::Unreadable { path: shown(path), cause });
    }
    Ok(files)
}

/// What ends as rules and cases do, in a folder; or the file itself.
pub(super) fn inside(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = || fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut files = entries().map_err(|cause| FileError::Unreadable { path: shown(path), cause })?;
    files.retain(|file| ENDS.iter().any(|end| file.extension().is_some_and(|own| own == *end)));
    files.sort();
    Ok(files)
}

pub(super) fn load(file: &Path) -> Result<String, FileError> {
    let unreadable = |cause| FileError::Unreadable { path: shown(file), cause };
    if fs::metadata(file).map_err(unreadable)?.len() > MAX_BYTES {
        return Err(unreadable(io::Error::other("more than 1 MiB, which no file of rules needs")));
    }
    fs::read_to_string(file).map_err(unreadable)
}

pub(super) fn shown(path: &Path) -> String {
    text::name(&path.to_string_lossy())
}

/// The line stands before the message, so it isn't in it once more.
pub(super) fn broken(path: &str) -> impl Fn(serde_saphyr::Error) -> FileError + '_ {
    move |error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = UserMessageFormatter.format_message(error.without_snippet());
        let first = message.lines().next().unwrap_or_default();
        FileError::Broken { path: path.to_owned(), line, message: text::message(first) }
    }
}
