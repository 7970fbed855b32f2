use serde::Serialize;
use serde_json::json;

use super::{Error, computed::Computed};
use crate::api::{GROUP, VERSION};

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
