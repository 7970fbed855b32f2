//! Recorded data that isn't kept here.

use std::{env, fs, path::PathBuf, sync::Arc};

use addons::{
    health::{Rules, read_file, rule_files},
    model::{Kind, Object, StatusReporting, decode::Raw},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// The cases of a file, a JSON value a line; `None` where it is absent, which is said.
pub fn cases<T: DeserializeOwned>(file: &str) -> Option<Vec<T>> {
    let folder = env::var_os("ADDONS_FIXTURES")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"), PathBuf::from);
    let path = folder.join(file);
    let Ok(lines) = fs::read_to_string(&path) else {
        println!("SKIPPED: there is no {}", path.display());
        return None;
    };
    let case = |(number, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}:{}: {error}", number + 1))
    };
    Some(lines.lines().enumerate().map(case).collect())
}

/// The object that `value` spells, with a name or without, of a kind that reports a status or not.
pub fn object_of(value: &Value, status: StatusReporting) -> Object {
    let raw = Raw::deserialize(value).expect("any JSON object");
    let api_version = raw.api_version.clone().unwrap_or_default();
    let kind = Kind::named(&api_version, &raw.kind.clone().unwrap_or_default());
    raw.into_nameless(Arc::new(Kind { status, ..kind }))
}

/// The built-in rules, with those of the folder or file that `ADDONS_RULES` names before them.
pub fn rules() -> Arc<Rules> {
    let Some(path) = env::var_os("ADDONS_RULES") else { return Rules::builtin() };
    let files = rule_files(path.as_ref()).expect("files of rules");
    let written = files.iter().flat_map(|file| read_file(file).expect("rules"));
    let rule = |written: addons::health::Written| Arc::new(written.compile().expect("a rule"));
    Arc::new(Rules::with(written.map(rule)))
}
