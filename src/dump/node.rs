//! What a document is made of, as far as it is read: `data`, and with it every Secret, is skipped
//! before it is held.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{
    clock,
    value::{Twice, Whole},
};
use crate::model::{Event, Timestamp, decode::Raw};

/// A part of a document.
#[derive(Debug)]
pub(super) enum Node {
    Mapping(Box<Mapping>),
    Sequence(Vec<Node>),
    /// Text, a number or a truth value.
    Scalar,
    /// Nothing at all.
    Null,
}

/// What `metadata` says of the object's name.
#[derive(Debug)]
pub(super) enum Name {
    Given(String),
    /// It isn't text, and this is how it was read.
    NotText(String),
    /// The API server is to make one from this.
    Generated(String),
    Missing,
}

/// A mapping: an object, a list of objects or something else.
#[derive(Debug)]
pub(super) struct Mapping {
    pub raw: Raw,
    /// A list never has one.
    pub name: Name,
    /// Whether it is marked as an object: there is a `kind`, whatever it is, and `metadata` has a
    /// name, labels or annotations. The settings of many tools have a `kind` and no such thing. Or it
    /// has all three fields of an object, and one of them can't be that.
    pub marked: bool,
    /// A field that stands there twice, at any depth: which of both is meant nobody can tell.
    pub twice: Option<String>,
    /// The labels that are text, where there is no usable name, kind or version to find them by.
    pub stray_labels: Vec<(String, String)>,
    /// Whether there is neither a `spec` nor a `status`.
    pub is_bare: bool,
    pub namespaced: bool,
    /// 0 where there is none.
    pub resource_version: u64,
    /// The newest moment that it tells of.
    pub newest: Option<Timestamp>,
    /// Labels whose value was no text.
    pub odd_labels: Vec<String>,
    /// What `items` holds, where there is such a field.
    pub items: Option<Vec<Node>>,
    /// What it reports, where it is an Event.
    pub event: Option<Event>,
}

/// The fields of an Event besides its metadata.
const EVENT_FIELDS: [&str; 11] = [
    "deprecatedLastTimestamp",
    "eventTime",
    "firstTimestamp",
    "involvedObject",
    "lastTimestamp",
    "message",
    "note",
    "reason",
    "regarding",
    "series",
    "type",
];

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut fields = Map::new();
        let mut event = Map::new();
        let mut items = None;
        let twice = Twice::default();
        while let Some(key) = access.next_key::<String>()? {
            match key.as_str() {
                // Charts often render a label twice, and the API server takes the last one, too.
                "metadata" => {
                    fields.insert(key, access.next_value_seed(Whole(&Twice::default()))?);
                }
                "apiVersion" | "kind" | "spec" | "status" | "webhooks" => {
                    if fields.contains_key(&key) {
                        twice.note(&key);
                    }
                    fields.insert(key, access.next_value_seed(Whole(&twice))?);
                }
                "items" => {
                    if items.is_some() {
                        twice.note(&key);
                    }
                    items = Some(access.next_value()?);
                }
                field if EVENT_FIELDS.contains(&field) => {
                    event.insert(key, access.next_value()?);
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        mapping(fields, items, event, twice.into_field()).map_err(serde::de::Error::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = access.next_element()? {
            nodes.push(node);
        }
        Ok(Node::Sequence(nodes))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }
}

fn mapping(
    mut fields: Map<String, Value>,
    items: Option<Node>,
    event: Map<String, Value>,
    twice: Option<String>,
) -> Result<Node, serde_json::Error> {
    let newest = fields.values().filter_map(clock::newest).max();
    let odd_labels = labels_to_text(fields.get_mut("metadata"));
    let text = |key: &str| fields.get("metadata")?.get(key)?.as_str().filter(|text| !text.is_empty());
    let metadata = fields.get("metadata");
    let name = name(metadata);
    let is_text = |key: &str| fields.get(key).is_some_and(Value::is_string);
    let usable = matches!(name, Name::Given(_)) && is_text("kind") && is_text("apiVersion");
    let is_event = fields.get("kind").is_some_and(|kind| kind == "Event");
    Ok(Node::Mapping(Box::new(Mapping {
        event: is_event.then(|| read_event(event, metadata)).flatten(),
        marked: has_mark(&fields),
        twice,
        stray_labels: if usable { Vec::new() } else { labels(metadata) },
        name,
        is_bare: ["spec", "status"].iter().all(|key| fields.get(*key).is_none_or(Value::is_null)),
        namespaced: text("namespace").is_some(),
        resource_version: text("resourceVersion").and_then(|version| version.parse().ok()).unwrap_or(0),
        newest,
        odd_labels,
        raw: Raw::deserialize(Value::Object(fields))?,
        items: match items {
            Some(Node::Sequence(nodes)) => Some(nodes),
            Some(Node::Scalar | Node::Null) => Some(Vec::new()),
            Some(Node::Mapping(_)) | None => None,
        },
    })))
}

fn has_mark(fields: &Map<String, Value>) -> bool {
    const MARKS: [&str; 4] = ["name", "generateName", "labels", "annotations"];
    let (version, kind, metadata) = (fields.get("apiVersion"), fields.get("kind"), fields.get("metadata"));
    match (version, kind, metadata) {
        (_, Some(_), Some(Value::Object(metadata)))
            if MARKS.iter().any(|key| metadata.contains_key(*key)) =>
        {
            true
        }
        (Some(version), Some(kind), Some(metadata)) => {
            !(version.is_string() && kind.is_string() && (metadata.is_object() || metadata.is_null()))
        }
        _ => false,
    }
}

/// The list that `head` is the beginning of, with those of its items that are whole. Without a `kind`,
/// which may stand after the items, only these: what else it could be has items without a kind.
pub(super) fn list(head: Map<String, Value>, items: Vec<Node>) -> Option<Node> {
    let is_list = |kind: &Value| kind.as_str().is_some_and(|kind| kind.ends_with("List"));
    match head.get("kind") {
        None => Some(Node::Sequence(items)),
        Some(kind) if is_list(kind) && !matches!(name(head.get("metadata")), Name::Given(_)) => {
            mapping(head, Some(Node::Sequence(items)), Map::new(), None).ok()
        }
        Some(_) => None,
    }
}

fn read_event(mut event: Map<String, Value>, metadata: Option<&Value>) -> Option<Event> {
    event.extend(metadata.map(|metadata| ("metadata".to_owned(), metadata.clone())));
    Event::read(&Value::Object(event))
}

fn name(metadata: Option<&Value>) -> Name {
    let field = |key: &str| metadata.and_then(|metadata| metadata.get(key));
    match (field("name"), field("generateName")) {
        (Some(Value::String(name)), _) if !name.is_empty() => Name::Given(name.clone()),
        (Some(odd @ (Value::Bool(_) | Value::Number(_))), _) => Name::NotText(odd.to_string()),
        (_, Some(Value::String(start))) if !start.is_empty() => Name::Generated(start.clone()),
        _ => Name::Missing,
    }
}

fn labels(metadata: Option<&Value>) -> Vec<(String, String)> {
    let labels = metadata.and_then(|metadata| metadata.get("labels")).and_then(Value::as_object);
    let pair = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(pair).collect()
}

/// Takes a label without a value for an empty one, as the API server does, and one with a number
/// or a truth value for its text, which the API server refuses: the keys of these come back.
fn labels_to_text(metadata: Option<&mut Value>) -> Vec<String> {
    let mut odd = Vec::new();
    let labels = metadata.and_then(|metadata| metadata.get_mut("labels")).and_then(Value::as_object_mut);
    for (key, value) in labels.into_iter().flatten() {
        match value {
            Value::Null => *value = Value::String(String::new()),
            Value::Bool(_) | Value::Number(_) => {
                odd.push(key.clone());
                *value = Value::String(value.to_string());
            }
            Value::String(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    odd
}
