//! Watches and lists of metadata in protobuf.
//!
//! The messages are those of `k8s.io/apimachinery`: `WatchEvent` and `PartialObjectMetadata` of meta/v1,
//! and `Unknown` of runtime, which the API server puts around every object behind the four bytes `k8s\0`.
//! Fields that nobody reads aren't declared, and so are stepped over: `managedFields` first of all.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use prost::Message;
use serde_json::{Map, Value, json};

use super::{
    FeedError, Head,
    reader::Body,
    wire::{self, Event},
};
use crate::model::Timestamp;

/// What stands before every object.
pub(super) const MAGIC: &[u8] = b"k8s\0";

#[derive(Clone, PartialEq, Message)]
pub(super) struct WatchEvent {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) kind: Bytes,
    #[prost(message, optional, tag = "2")]
    pub(super) object: Option<RawExtension>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RawExtension {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) raw: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub(super) type_meta: Option<TypeMeta>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) raw: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeMeta {
    #[prost(string, tag = "2")]
    pub(super) kind: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Status {
    #[prost(string, tag = "3")]
    pub(super) message: String,
    #[prost(int32, tag = "6")]
    pub(super) code: i32,
}

/// What a `PartialObjectMetadataList` says beside its objects.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ListMeta {
    #[prost(string, tag = "2")]
    pub(super) resource_version: String,
    #[prost(string, tag = "3")]
    pub(super) r#continue: String,
}

/// `PartialObjectMetadata`, its metadata unread.
#[derive(Clone, PartialEq, Message)]
pub(super) struct PartialObjectMetadata {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) metadata: Bytes,
}

/// What names an object in its `ObjectMeta`.
#[derive(Clone, PartialEq, Message)]
struct Names {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, tag = "5")]
    uid: String,
    #[prost(string, tag = "6")]
    resource_version: String,
}

/// `ObjectMeta` without what nobody reads.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ObjectMeta {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) generate_name: String,
    #[prost(string, tag = "3")]
    pub(super) namespace: String,
    #[prost(string, tag = "5")]
    pub(super) uid: String,
    #[prost(string, tag = "6")]
    pub(super) resource_version: String,
    #[prost(int64, tag = "7")]
    pub(super) generation: i64,
    #[prost(message, optional, tag = "8")]
    pub(super) creation_timestamp: Option<Time>,
    #[prost(message, optional, tag = "9")]
    pub(super) deletion_timestamp: Option<Time>,
    #[prost(btree_map = "string, string", tag = "11")]
    pub(super) labels: BTreeMap<String, String>,
    #[prost(btree_map = "string, bytes", tag = "12")]
    pub(super) annotations: BTreeMap<String, Text>,
    #[prost(message, repeated, tag = "13")]
    pub(super) owner_references: Vec<OwnerReference>,
    #[prost(string, repeated, tag = "14")]
    pub(super) finalizers: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Time {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
}

/// Text that the API server doesn't look into. Whoever writes in protobuf may have it take what isn't UTF-8,
/// which is no reason to lose the object.
type Text = Vec<u8>;

#[derive(Clone, PartialEq, Message)]
pub(super) struct OwnerReference {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) kind: Text,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) name: Text,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) uid: Text,
    #[prost(bytes = "vec", tag = "5")]
    pub(super) api_version: Text,
    #[prost(bool, tag = "6")]
    pub(super) controller: bool,
}

/// Reads a message of a watch.
///
/// # Errors
/// Where it is no event, and the error that an ERROR event carries.
pub(super) fn event(message: &Bytes) -> Result<Event<'static>, FeedError> {
    let WatchEvent { kind, object } =
        WatchEvent::decode(message.clone()).map_err(|error| unreadable(&error))?;
    let (is_of, raw) = opened(&object.unwrap_or_default().raw)?;
    if &*kind == b"ERROR" {
        let Status { message, code } = Status::decode(raw).map_err(|error| unreadable(&error))?;
        return Err(wire::carried(u16::try_from(code).unwrap_or_default(), &message));
    }
    if is_of != "PartialObjectMetadata" {
        let is_of = crate::model::text::word(&is_of);
        return Err(FeedError::Unreadable(format!("metadata was asked for, and '{is_of}' came")));
    }
    let (head, metadata) = object_of(raw).map_err(|error| unreadable(&error))?;
    Ok(Event::new(wire::change(&kind), head, Body::Metadata(metadata)))
}

/// What names an object of a list, and its metadata; `None` where that can't be read.
pub(super) fn object(object: &Bytes) -> Option<(Head<'static>, Bytes)> {
    object_of(object.clone()).ok()
}

fn object_of(object: Bytes) -> Result<(Head<'static>, Bytes), prost::DecodeError> {
    let metadata = PartialObjectMetadata::decode(object)?.metadata;
    let Names { name, namespace, uid, resource_version } = Names::decode(metadata.clone())?;
    let head = Head {
        uid: uid.into(),
        namespace: namespace.into(),
        name: name.into(),
        resource_version: resource_version.into(),
    };
    Ok((head, metadata))
}

/// The object that this metadata is of, as JSON would have it.
///
/// # Errors
/// Where the metadata can't be read.
pub(super) fn to_json(metadata: &Bytes) -> Result<Value, prost::DecodeError> {
    let meta = ObjectMeta::decode(metadata.clone())?;
    let mut fields = Map::new();
    let texts = [
        ("name", meta.name),
        ("generateName", meta.generate_name),
        ("namespace", meta.namespace),
        ("uid", meta.uid),
        ("resourceVersion", meta.resource_version),
    ];
    for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        fields.insert(field.to_owned(), text.into());
    }
    // 0 stands for none.
    if meta.generation != 0 {
        fields.insert("generation".to_owned(), meta.generation.into());
    }
    let times =
        [("creationTimestamp", meta.creation_timestamp), ("deletionTimestamp", meta.deletion_timestamp)];
    for (field, time) in times {
        if let Some(time) = time.and_then(|time| Timestamp::from_second(time.seconds).ok()) {
            fields.insert(field.to_owned(), time.to_string().into());
        }
    }
    let labels: Map<_, _> = meta.labels.into_iter().map(|(key, value)| (key, value.into())).collect();
    let annotations: Map<_, _> =
        meta.annotations.into_iter().map(|(key, value)| (key, text(&value).into())).collect();
    for (field, pairs) in [("labels", labels), ("annotations", annotations)] {
        if !pairs.is_empty() {
            fields.insert(field.to_owned(), pairs.into());
        }
    }
    let owners = meta.owner_references.iter().map(|owner| {
        let OwnerReference { kind, name, uid, api_version, controller } = owner;
        json!({"apiVersion": text(api_version), "kind": text(kind), "name": text(name), "uid": text(uid),
            "controller": controller})
    });
    for (field, values) in [
        ("ownerReferences", owners.collect::<Vec<Value>>()),
        ("finalizers", meta.finalizers.into_iter().map(Value::from).collect()),
    ] {
        if !values.is_empty() {
            fields.insert(field.to_owned(), values.into());
        }
    }
    Ok(json!({"metadata": fields}))
}

fn text(raw: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(raw)
}

/// The kind of an object, and the object, out of what the API server puts around it.
fn opened(bytes: &Bytes) -> Result<(String, Bytes), FeedError> {
    if !bytes.starts_with(MAGIC) {
        return Err(FeedError::Unreadable("no object of Kubernetes came".to_owned()));
    }
    let Unknown { type_meta, raw } =
        Unknown::decode(bytes.slice(MAGIC.len()..)).map_err(|error| unreadable(&error))?;
    Ok((type_meta.unwrap_or_default().kind, raw))
}

pub(super) fn unreadable(error: &prost::DecodeError) -> FeedError {
    FeedError::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests;
