//! The cases beside files of rules: what the rules must say of some objects.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use serde_saphyr::Spanned;

use super::{
    Rules,
    read::{ENDS, FileError, broken, inside, load, shown},
};
use crate::{
    api::Word,
    health::judge,
    model::{Health, Kind, Timestamp, Verdict, decode::Raw, text},
};

/// An object with the verdict that a rule must give it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// The object.
    pub object: Value,
    /// How it is.
    pub health: Word,
    /// The reason, where it matters.
    pub reason: Option<String>,
    /// The clock; without it no time has passed.
    pub now: Option<Timestamp>,
    /// What is shown of it.
    pub facts: BTreeMap<String, String>,
}

/// A case as it is written: of what isn't right its name can be told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    #[serde(default)]
    name: String,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    health: Value,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    now: Value,
    #[serde(default)]
    facts: BTreeMap<String, String>,
}

impl TryFrom<Draft> for Case {
    type Error = String;

    fn try_from(draft: Draft) -> Result<Self, String> {
        let Draft { name, object, health, reason, now, facts } = draft;
        let name = text::message(&name);
        if name.is_empty() {
            return Err("a case has no name".to_owned());
        }
        match field("health", health).and_then(|health| Ok((health, field("now", now)?))) {
            Ok((Some(_), _)) if object.is_null() => Err(format!("{name}: it has no object")),
            Ok((Some(health), now)) => Ok(Self { name, object, health, reason, now, facts }),
            Ok((None, _)) => Err(format!("{name}: it has no health")),
            Err(fault) => Err(format!("{name}: {fault}")),
        }
    }
}

fn field<T: DeserializeOwned>(name: &str, value: Value) -> Result<Option<T>, String> {
    serde_json::from_value(value).map_err(|error| text::message(&format!("{name}: {error}")))
}

/// The cases beside a file of rules.
#[derive(Debug)]
pub struct Cases {
    /// The file that they stand in.
    pub file: String,
    /// Each with the line on which it begins.
    pub cases: Vec<(u64, Case)>,
    /// What is wrong with others.
    pub faults: Vec<FileError>,
}

/// Reads the cases beside a file of rules: `x.cases.yaml`, or the like, beside `x.yaml`. `None` where
/// there are none.
///
/// # Errors
/// What is wrong with the file.
pub fn read_cases(rules: &Path) -> Result<Option<Cases>, FileError> {
    let mut beside = ENDS.iter().map(|end| rules.with_extension(format!("cases.{end}")));
    let Some(file) = beside.find(|file| file.exists()) else { return Ok(None) };
    read_case_text(&shown(&file), &load(&file)?).map(Some)
}

/// Reads the cases in `text`. `file` stands for it in errors.
///
/// # Errors
/// The first fault that leaves no cases to be told apart, with its line.
pub fn read_case_text(file: &str, text: &str) -> Result<Cases, FileError> {
    let drafts: Option<Vec<Spanned<Draft>>> = serde_saphyr::from_str(text).map_err(broken(file))?;
    let fault = |line, message| FileError::Broken { path: file.to_owned(), line, message };
    let (mut cases, mut faults) = (Vec::new(), Vec::new());
    for draft in drafts.into_iter().flatten() {
        let line = draft.referenced.line();
        match Case::try_from(draft.value) {
            Ok(case) => cases.push((line, case)),
            Err(message) => faults.push(fault(line, message)),
        }
    }
    if cases.is_empty() && faults.is_empty() {
        return Err(fault(1, "holds no cases".to_owned()));
    }
    Ok(Cases { file: file.to_owned(), cases, faults })
}

/// The files of cases in a folder that stand beside no rules, each as a fault. There are none where `path`
/// is a file or can't be read.
pub fn stray_cases(path: &Path) -> Vec<FileError> {
    if !path.is_dir() {
        return Vec::new();
    }
    let mut files = inside(path).unwrap_or_default();
    let is_stray = |file: &Path| !ENDS.iter().any(|end| rules_of(file).with_extension(end).exists());
    files.retain(|file| is_of_cases(file) && is_stray(file));
    let fault = |file: PathBuf| {
        let rules = rules_of(&file).with_extension("yaml");
        let name = shown(Path::new(rules.file_name().unwrap_or_default()));
        let cause = io::Error::other(format!("holds cases, and no file of rules is beside it ({name})"));
        FileError::Unreadable { path: shown(&file), cause }
    };
    files.into_iter().map(fault).collect()
}

/// The name of the file in which the cases of a file of rules stand.
pub fn cases_name(rules: &Path) -> String {
    shown(Path::new(rules.with_extension("cases.yaml").file_name().unwrap_or_default()))
}

/// Whether the name of a file says that it holds cases.
pub(super) fn is_of_cases(file: &Path) -> bool {
    ENDS.iter().any(|end| file.extension().is_some_and(|own| own == *end))
        && rules_of(file).extension().is_some_and(|end| end == "cases")
}

/// `x.cases` for `x.cases.yaml`.
fn rules_of(file: &Path) -> PathBuf {
    file.with_extension("")
}

impl Case {
    /// The kind of the object; `None` where it isn't given.
    pub fn kind(&self) -> Option<Kind> {
        let text = |field: &str| self.object.get(field)?.as_str().filter(|text| !text.is_empty());
        Some(Kind::named(text("apiVersion")?, text("kind")?))
    }

    /// What is wrong with what `rules` say of the case; `None` where they say what they must.
    pub fn fault(&self, rules: &Rules) -> Option<String> {
        let Some(kind) = self.kind() else {
            return Some("the object has no apiVersion or no kind".to_owned());
        };
        let Ok(raw) = Raw::deserialize(&self.object) else {
            return Some("the object can't be read".to_owned());
        };
        let object = raw.into_nameless(Arc::new(kind));
        let judgement = judge(&object, rules);
        let verdict = self.now.map_or(&judgement.timeline.first, |now| judgement.timeline.at(now));
        let facts: BTreeMap<_, _> = judgement.facts.iter().map(|fact| (&fact.name, &fact.value)).collect();
        let expected = Health::from(self.health);
        let reason = self.reason.as_deref().filter(|reason| *reason != verdict.reason);
        let fact = self.facts.iter().find(|(name, value)| facts.get(name) != Some(value));
        if verdict.health != expected || reason.is_some() {
            let reason = self.reason.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
            let Verdict { health, reason: actual, rule, .. } = verdict;
            return Some(format!("expected {expected}{reason}, got {health} {actual} by {rule}"));
        }
        let (name, value) = fact?;
        let actual = facts.get(name).map_or("none", |actual| actual.as_str());
        Some(format!("expected the fact {name} to be {value}, got {actual}"))
    }
}
