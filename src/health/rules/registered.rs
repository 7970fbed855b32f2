//! `StatusRule` objects as an API server holds them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    api::{AddonCondition, StatusRuleSpec, accepted},
    model::{Timestamp, decode, text},
};

/// The most that a spec may hold, in bytes.
const MAX_SPEC: usize = 64 << 10;

/// A rule that somebody registered.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The object's name, cleaned.
    pub name: String,
    /// The object's uid.
    pub uid: String,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Which version of the spec this is.
    pub generation: Option<i64>,
    /// What the rule says, or why that can't be read, with the place.
    pub spec: Result<Arc<StatusRuleSpec>, String>,
    /// What its status says of whether it is in force.
    pub accepted: Option<AddonCondition>,
}

impl Registered {
    /// Reads an object, leniently: what it says may have been written by anybody. `None` where it has no name.
    pub fn read(object: &Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let field = |key: &str| metadata.get(key).and_then(Value::as_str).map(text::name).unwrap_or_default();
        let name = Some(field("name")).filter(|name| !name.is_empty())?;
        let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        let mut conditions = conditions.filter(|condition| condition["type"] == accepted::TYPE);
        Some(Self {
            name,
            uid: field("uid"),
            created: decode::time(metadata.get("creationTimestamp")),
            generation: metadata.get("generation").and_then(Value::as_i64),
            spec: spec(object.get("spec")).map(Arc::new),
            accepted: conditions.find_map(|condition| AddonCondition::deserialize(condition).ok()),
        })
    }
}

fn spec(value: Option<&Value>) -> Result<StatusRuleSpec, String> {
    let value = value.ok_or("there is no spec")?;
    let size = serde_json::to_vec(value).map_or(usize::MAX, |written| written.len());
    if size > MAX_SPEC {
        return Err(format!("the spec is larger than {} KiB", MAX_SPEC >> 10));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let (place, cause) = (error.path().to_string(), error.inner().to_string());
        // A place that isn't known is a dot.
        text::message(&if place == "." { cause } else { format!("{place}: {cause}") })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use serde_json::json;

    use super::*;

    fn read(spec: &Value) -> Result<Arc<StatusRuleSpec>, String> {
        Registered::read(&json!({"metadata": {"name": "r"}, "spec": spec})).expect("a rule").spec
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        for (spec, told) in [
            (
                json!({"rows": [{"verdict": "Fine"}]}),
                "rows[0].verdict: unknown variant `Fine`, expected one of",
            ),
            (
                json!({"rows": [{"verdict": "Healthy", "if": [{"condition": "A", "status": true}]}]}),
                "rows[0].if[0].status: must be text or a list of texts: True, False and numbers stand in quotes",
            ),
            (
                json!({"rows": [{"verdict": "Healthy", "if": [{"any": [{"patth": "x"}]}]}]}),
                "rows[0].if[0].any[0].patth: unknown field `patth`",
            ),
            (json!(7), "invalid type: integer `7`"),
            (json!("x\u{1b}[2J"), r#"invalid type: string "x\u{1b}[2J""#),
            (json!({"facts": [{"name": "a".repeat(MAX_SPEC)}]}), "the spec is larger than 64 KiB"),
        ] {
            let error = read(&spec).expect_err("a fault");
            assert!(error.starts_with(told), "{error}");
        }
        let no_spec = Registered::read(&json!({"metadata": {"name": "r"}})).expect("a rule");
        assert_eq!(no_spec.spec, Err("there is no spec".to_owned()));
    }

    #[test]
    fn what_is_no_object_is_no_rule() {
        for strange in [json!(null), json!([1]), json!({"metadata": 1}), json!({"metadata": {"name": ""}})] {
            assert!(Registered::read(&strange).is_none(), "{strange}");
        }
    }

    #[test]
    fn a_strange_status_is_as_if_it_were_not_there() {
        let condition = json!({
            "type": "Accepted", "status": "True", "reason": "Accepted", "message": "",
            "lastTransitionTime": "2026-11-30T00:00:00Z", "observedGeneration": 3,
        });
        for (status, read) in [
            (json!({"conditions": [{"type": "Other"}, condition]}), true),
            (json!({"conditions": [{"type": "Accepted"}]}), false),
            (json!({"conditions": {"a": 1}}), false),
            (json!(7), false),
        ] {
            let object = json!({"metadata": {"name": "r"}, "spec": {}, "status": status});
            assert_eq!(Registered::read(&object).expect("a rule").accepted.is_some(), read, "{object}");
        }
    }
}
