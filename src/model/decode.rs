//! From JSON to an [`Object`], leniently: a part that is malformed is as if it weren't there, and
//! only what isn't an object with a name at all is refused.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::{Kind, Object, ObjectRef, Owner, Timestamp, group_version, text};

/// Keys that are never kept, however deep they stand: they are large and nothing reads them.
const SKIPPED_KEYS: [&str; 3] =
    ["managedFields", "openAPIV3Schema", "kubectl.kubernetes.io/last-applied-configuration"];

/// How deep `spec` and `status` are read. What lies deeper is left out.
const MAX_DEPTH: usize = 32;

/// An object as it stands in JSON, before its kind is known to match.
///
/// Deserialize it from a watch's bytes or from a [`Value`]; [`Raw::into_object`] gives the object.
#[derive(Debug, Deserialize)]
pub struct Raw {
    /// `apiVersion`, where it is a string.
    #[serde(default, rename = "apiVersion", deserialize_with = "string")]
    pub api_version: Option<String>,
    /// `kind`, where it is a string.
    #[serde(default, deserialize_with = "string")]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "pruned")]
    metadata: Value,
    #[serde(default, deserialize_with = "pruned")]
    spec: Value,
    #[serde(default, deserialize_with = "pruned")]
    status: Value,
    #[serde(default, deserialize_with = "pruned")]
    webhooks: Value,
}

impl Raw {
    /// The object; `None` where `metadata` names none.
    pub fn into_object(self, kind: Arc<Kind>) -> Option<Object> {
        let named = matches!(self.metadata.get("name"), Some(Value::String(name)) if !name.is_empty());
        named.then(|| self.into_nameless(kind))
    }

    /// The object, whether it has a name or not: one that is only judged needs none. In place of a
    /// name that is no text stands how it was read, in place of a missing one `generateName`.
    pub fn into_nameless(self, kind: Arc<Kind>) -> Object {
        let mut metadata = match self.metadata {
            Value::Object(metadata) => metadata,
            _ => Map::new(),
        };
        let generated = metadata.get("generateName").and_then(Value::as_str).unwrap_or_default();
        let name = match metadata.get("name") {
            Some(Value::String(name)) if !name.is_empty() => text::name(name),
            Some(odd @ (Value::Bool(_) | Value::Number(_))) => odd.to_string(),
            _ => text::name(generated),
        };
        let field = |key: &str| metadata.get(key).and_then(Value::as_str).map(text::name).unwrap_or_default();
        let reference = ObjectRef {
            kind,
            namespace: field("namespace").into(),
            name: name.into(),
            uid: field("uid").into(),
        };
        Object {
            reference,
            generation: metadata.get("generation").and_then(Value::as_i64),
            created: time(metadata.get("creationTimestamp")),
            deletion: time(metadata.get("deletionTimestamp")),
            finalizers: strings(metadata.get("finalizers")),
            controller: controller(metadata.get("ownerReferences")),
            owners: owners(metadata.get("ownerReferences")),
            labels: pairs(metadata.remove("labels")),
            annotations: pairs(metadata.remove("annotations")),
            spec: self.spec,
            status: self.status,
            webhooks: self.webhooks,
        }
    }
}

/// A time as the API writes it (RFC 3339); `None` for anything else, and for the two moments that
/// stand for none: Go's zero time, and the 1970 that the Gateway API's defaults give.
pub fn time(value: Option<&Value>) -> Option<Timestamp> {
    time_of(value?.as_str()?)
}

/// The same of a text.
pub fn time_of(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|time| *time > Timestamp::UNIX_EPOCH)
}

/// The text that stands in a field.
pub fn text_at<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(text::name).collect()
}

fn pairs(value: Option<Value>) -> Vec<(String, String)> {
    let Some(Value::Object(map)) = value else { return Vec::new() };
    map.into_iter()
        .filter_map(|(key, value)| match value {
            Value::String(value) => Some((key, value)),
            _ => None,
        })
        .collect()
}

fn controller(owners: Option<&Value>) -> Option<Owner> {
    let owner = owners?.as_array()?.iter().find(|owner| owner["controller"] == Value::Bool(true))?;
    let field = |key: &str| owner.get(key).and_then(Value::as_str).map(text::name).unwrap_or_default();
    Some(Owner {
        uid: field("uid").into(),
        group: group_version(&field("apiVersion")).0.to_owned(),
        kind: field("kind"),
        name: field("name"),
    })
}

fn owners(owners: Option<&Value>) -> Vec<Box<str>> {
    let owners = owners.and_then(Value::as_array).into_iter().flatten();
    owners.filter_map(|owner| Some(text::name(text_at(owner, "uid")?).into())).collect()
}

fn string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match pruned(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// A JSON value without [`SKIPPED_KEYS`] and without what lies deeper than [`MAX_DEPTH`].
fn pruned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Pruned { depth: 0 }.deserialize(deserializer)
}

#[derive(Clone, Copy)]
struct Pruned {
    depth: usize,
}

impl Pruned {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Pruned {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > MAX_DEPTH {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pruned {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.deeper())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if SKIPPED_KEYS.contains(&key.as_str()) {
                access.next_value::<IgnoredAny>()?;
            } else {
                map.insert(key, access.next_value_seed(self.deeper())?);
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use serde_json::json;

    use super::*;
    use crate::model::StatusReporting;

    fn kind() -> Arc<Kind> {
        Arc::new(Kind {
            group: String::new(),
            version: "v1".into(),
            kind: "Thing".into(),
            plural: "things".into(),
            namespaced: true,
            status: StatusReporting::Unsaid,
        })
    }

    fn object(value: &Value) -> Option<Object> {
        let from_bytes = serde_json::from_str::<Raw>(&value.to_string()).expect("raw");
        let from_value = Raw::deserialize(value).expect("raw");
        let object = from_bytes.into_object(kind());
        assert_eq!(format!("{object:?}"), format!("{:?}", from_value.into_object(kind())));
        object
    }

    #[test]
    fn malformed_parts_are_as_if_they_were_not_there() {
        let object = object(&json!({
            "apiVersion": 1, "kind": ["x"], "spec": "text", "status": 3,
            "metadata": {"name": "n", "namespace": 5, "uid": {}, "generation": "4", "labels": ["a"],
                "annotations": {"a": 1, "b": "c"}, "ownerReferences": {"x": 1}, "finalizers": [1, "f"],
                "creationTimestamp": "yesterday", "deletionTimestamp": null}
        }))
        .expect("an object");
        assert_eq!(&*object.reference.name, "n");
        assert_eq!(object.annotations, [("b".to_owned(), "c".to_owned())]);
        assert_eq!(object.finalizers, ["f"]);
        assert!(object.labels.is_empty() && object.deletion.is_none() && object.generation.is_none());
    }

    #[test]
    fn what_has_no_name_is_no_object() {
        for value in [
            json!({}),
            json!({"metadata": []}),
            json!({"metadata": {"name": ""}}),
            json!({"metadata": {"name": 1}}),
        ] {
            assert!(object(&value).is_none(), "{value}");
        }
    }

    #[test]
    fn a_name_is_not_needed_to_be_judged() {
        for (value, name) in [
            (json!({"spec": 1}), ""),
            (json!({"metadata": ["x"]}), ""),
            (json!({"metadata": {"name": "", "generateName": "job-"}}), "job-"),
            (json!({"metadata": {"name": 12}}), "12"),
            (json!({"metadata": {"name": "n", "generateName": "x-"}}), "n"),
        ] {
            let object = Raw::deserialize(&value).expect("raw").into_nameless(kind());
            assert_eq!(&*object.reference.name, name, "{value}");
        }
    }

    #[test]
    fn large_parts_that_nobody_reads_are_dropped() {
        let object = object(&json!({
            "metadata": {"name": "n", "managedFields": [{"x": 1}], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
            "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}]}
        }))
        .expect("an object");
        assert!(object.annotations.is_empty());
        assert_eq!(object.spec, json!({"versions": [{"name": "v1", "schema": {}}]}));
    }

    #[test]
    fn the_controlling_owner_is_found_among_others() {
        let object = object(&json!({"metadata": {"name": "n", "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "1"},
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "2", "controller": true}]}}))
        .expect("an object");
        let owner = object.controller.expect("a controller");
        assert_eq!(
            (&*owner.uid, &*owner.group, &*owner.kind, &*owner.name),
            ("2", "apps", "ReplicaSet", "rs")
        );
        assert_eq!(object.owners.iter().map(|uid| &**uid).collect::<Vec<_>>(), ["1", "2"]);
    }
}
