use serde::Serialize;
use serde_json::json;

use super::{Error, computed::Computed};
use crate::{
    api::{GROUP, VERSION},
    model::ObjectRef,
};

/// An object in JSON: which one it is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reference<'a> {
    api_version: String,
    group: &'a str,
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
}

impl<'a> Reference<'a> {
    /// What there is to say of `object`.
    pub(super) fn of(object: &'a ObjectRef) -> Self {
        let ObjectRef { kind, namespace, name, uid } = object;
        // Of an object that others only name nobody may know the version.
        let api_version = if kind.version.is_empty() { String::new() } else { kind.api_version() };
        Self { api_version, group: &kind.group, kind: &kind.kind, namespace, name, uid }
    }
}

/// JSON as kubectl prints it.
pub(super) fn json(value: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::Format(error.to_string()))?;
    Ok(text + "\n")
}

/// YAML.
pub(super) fn yaml(value: &impl Serialize) -> Result<String, Error> {
    serde_saphyr::to_string(value).map_err(|error| Error::Format(error.to_string()))
}

/// An `AddonList`, as the API server would give it.
pub(super) fn addon_list(addons: &[Computed]) -> Result<serde_json::Value, Error> {
    let items: Result<Vec<_>, _> =
        addons.iter().map(|computed| serde_json::to_value(&computed.addon)).collect();
    Ok(json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "AddonList",
        "metadata": {},
        "items": items.map_err(|error| Error::Format(error.to_string()))?,
    }))
}

/// A line for each name, in the form that kubectl takes.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("addon.{GROUP}/{name}\n")).collect()
}

/// `head`, a reason in brackets and a message, as far as there are any.
pub(super) fn sentence(head: &str, reason: &str, message: &str) -> String {
    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    format!("{head}{reason}{message}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// What an Addon may hold: cleaned text of any look.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a",
            " ",
            "  ",
            ": ",
            "#",
            " #",
            "-",
            "- ",
            "'",
            "\"",
            "{",
            "}",
            "[",
            "]",
            "&",
            "*",
            "!",
            "|",
            ">",
            "%",
            "@",
            "`",
            "true",
            "no",
            "null",
            "~",
            "1",
            "0x1",
            "1e3",
            "2001-01-01",
            "é",
            "容量",
            "\u{fffd}",
            "\\",
            ",",
            "?",
            "=",
            "<<",
            "a long word that makes lines long ",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn yaml_says_what_json_says(texts in prop::collection::vec(texts(), 1..5)) {
            let value = json!({"items": [{"message": texts[0], "all": texts}], "empty": [], "none": {}, "n": 5});
            let yaml: Value = serde_saphyr::from_str(&super::yaml(&value).expect("written")).expect("YAML");
            let json: Value = serde_json::from_str(&super::json(&value).expect("written")).expect("JSON");
            prop_assert_eq!(&yaml, &value);
            prop_assert_eq!(&json, &value);
        }
    }
}
