#![allow(clippy::expect_used)]

use proptest::prelude::*;

use super::*;
use crate::watch::{Seen, wire::Change};

fn of_kubernetes(kind: &str, object: &impl Message) -> Bytes {
    let type_meta = Some(TypeMeta { kind: kind.to_owned() });
    let unknown = Unknown { type_meta, raw: object.encode_to_vec().into() };
    [MAGIC, &unknown.encode_to_vec()].concat().into()
}

fn partial(meta: &ObjectMeta) -> PartialObjectMetadata {
    PartialObjectMetadata { metadata: meta.encode_to_vec().into() }
}

fn watched(kind: &str, object: Bytes) -> Bytes {
    let event = WatchEvent { kind: kind.to_owned().into(), object: Some(RawExtension { raw: object }) };
    event.encode_to_vec().into()
}

fn gear() -> ObjectMeta {
    ObjectMeta {
        name: "gear".into(),
        namespace: "shop".into(),
        uid: "u".into(),
        resource_version: "7".into(),
        generation: 3,
        creation_timestamp: Some(Time { seconds: 1_767_323_045 }),
        labels: [("addons.x-k8s.io/a".into(), "blue".into())].into(),
        annotations: [("note".into(), "text".into())].into(),
        owner_references: vec![OwnerReference {
            kind: "Shop".into(),
            name: "owner".into(),
            uid: "o".into(),
            api_version: "v1".into(),
            controller: true,
        }],
        finalizers: vec!["wait".into()],
        ..ObjectMeta::default()
    }
}

fn json_of(seen: &Seen<'_>) -> Value {
    seen.decode().expect("JSON")
}

#[test]
fn an_event_is_the_metadata_as_json_has_it() {
    let message = watched("MODIFIED", of_kubernetes("PartialObjectMetadata", &partial(&gear())));
    let Event { change, seen } = event(&message).expect("an event");
    assert_eq!(change, Change::Set);
    assert_eq!((&*seen.head.name, &*seen.head.namespace, &*seen.head.uid), ("gear", "shop", "u"));
    assert_eq!(seen.head.resource_version, "7");
    assert_eq!(
        json_of(&seen),
        json!({"metadata": {
            "name": "gear", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 3,
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"addons.x-k8s.io/a": "blue"}, "annotations": {"note": "text"},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Shop", "name": "owner", "uid": "o", "controller": true}],
            "finalizers": ["wait"],
        }})
    );
}

#[test]
fn a_bookmark_is_no_change() {
    let message = watched("BOOKMARK", of_kubernetes("PartialObjectMetadata", &partial(&gear())));
    assert_eq!(event(&message).expect("an event").change, Change::Bookmark);
}

#[test]
fn an_error_event_is_an_error() {
    let status = Status { message: "too old\u{1b}".into(), code: 410 };
    let error = event(&watched("ERROR", of_kubernetes("Status", &status))).err().expect("an error");
    assert_eq!(error.to_string(), "too old\u{fffd} (410)");
    assert_eq!(error.code(), Some(410));
}

#[test]
fn an_object_that_cannot_be_read_has_no_name() {
    let (head, metadata) = object(&partial(&gear()).encode_to_vec().into()).expect("an object");
    assert_eq!((&*head.name, metadata), ("gear", Bytes::from(gear().encode_to_vec())));
    assert!(object(&Bytes::from_static(&[0xff])).is_none());
}

#[test]
fn what_is_something_else_is_unreadable() {
    let status = of_kubernetes("Status", &Status { message: String::new(), code: 200 });
    for message in [Bytes::new(), Bytes::from_static(b"<html>"), watched("ADDED", status)] {
        assert!(matches!(event(&message), Err(FeedError::Unreadable(_))), "{message:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes: Vec<u8>, cut in 0usize..200) {
        let message = watched("ADDED", of_kubernetes("PartialObjectMetadata", &partial(&gear())));
        let cut = message.slice(..cut.min(message.len()));
        for bytes in [Bytes::from(bytes.clone()), cut, [MAGIC, &bytes].concat().into()] {
            let _ = event(&bytes).map(|event| event.seen.decode::<Value>().is_ok());
            let _ = object(&bytes);
            let _ = to_json(&bytes);
        }
    }
}
