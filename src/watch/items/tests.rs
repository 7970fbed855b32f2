#![allow(clippy::expect_used)]

use std::convert::Infallible;

use futures::stream;
use http_body_util::StreamBody;
use proptest::prelude::*;
use prost::Message;
use serde_json::{Value, json};

use super::{
    super::protobuf::{ListMeta as Meta, MAGIC, TypeMeta, Unknown},
    *,
};

#[derive(Clone, PartialEq, Message)]
struct List {
    #[prost(message, optional, tag = "1")]
    metadata: Option<Meta>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    items: Vec<Bytes>,
}

type Outcome = Result<(Vec<Bytes>, ListMeta), FeedError>;

/// What comes of a list that arrives in these pieces.
fn read(encoding: Encoding, pieces: Vec<Vec<u8>>) -> Outcome {
    let pieces: Vec<Result<hyper::body::Frame<Bytes>, Infallible>> =
        pieces.into_iter().map(|piece| Ok(hyper::body::Frame::data(piece.into()))).collect();
    let body = StreamBody::new(stream::iter(pieces));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let mut items = Items::new(body, encoding, Duration::from_secs(60));
        let mut all = Vec::new();
        while let Some(item) = items.next().await? {
            item.seen()?;
            all.push(item.bytes);
        }
        items.end().map(|meta| (all, meta))
    })
}

fn pieces(bytes: &[u8], cuts: Vec<usize>) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| bytes[cut[0]..cut[1]].to_vec()).collect()
}

fn meta(resource_version: &str, token: &str) -> ListMeta {
    ListMeta { resource_version: resource_version.into(), token: token.into() }
}

fn json(text: &str) -> Outcome {
    read(Encoding::Json, vec![text.into()])
}

#[test]
fn an_answer_that_is_no_list_is_not_an_empty_list() {
    for body in [
        "{}",
        "",
        "<html>",
        "[]",
        r#"{"kind":"Status","code":200}"#,
        r#"{"kind":"Pod","items":[]}"#,
        r#"{"kind":"PodList","items":[{}"#,
        r#"{"kind":"PodList","items":[{},{}]"#,
        r#"{"kind":"PodList","items":[]}}"#,
        r#"{"kind":"PodList","items":]}"#,
        r#"{"kind":"PodList","items":{"a":1}}"#,
        r#"{"kind":"PodList","items":"x"}"#,
        r#"{"kind":"PodList","\u0069tems":[{}]}"#,
        r#"{"kind":"PodList","items":[],"items":[{}]}"#,
        r#"{"kind":"PodList","items":[{"a":}]}"#,
        r#"{"kind":"PodList","items":[{}{}]}"#,
        r#"{"kind":"PodList","items":[} {,{}]}"#,
    ] {
        assert!(matches!(json(body), Err(FeedError::Unreadable(_) | FeedError::BrokeOff(_))), "{body}");
        assert!(read(Encoding::Protobuf, vec![body.into()]).is_err(), "{body}");
    }
    assert_eq!(json(r#"{"kind":"PodList","items":null}"#).expect("a list").0.len(), 0);
    // What Go writes of a struct, and of a map.
    for body in [
        r#"{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{},{"a":[{"items":[1]}]}]}"#,
        r#"{ "items" : [ {} , {"a":[{"items":[1]}]} ] , "kind":"PodList","metadata":{"resourceVersion":"1"}}"#,
    ] {
        let (items, of) = json(body).expect("a list");
        assert_eq!((items[1].trim_ascii(), of), (&br#"{"a":[{"items":[1]}]}"#[..], meta("1", "")));
        assert_eq!(items.len(), 2);
    }
    let odd = r#"{"kind":"PodList","metadata":{"items":[1,2]},"x\"items":[3],"items":[4,"]",null]}"#;
    assert_eq!(json(odd).expect("a list").0, ["4", r#""]""#, "null"]);
}

#[test]
fn what_is_endless_is_an_error() {
    let item = format!(r#"{{"kind":"PodList","items":["{}"#, "x".repeat(MAX_ITEM + 1));
    assert_eq!(json(&item), Err(FeedError::TooLarge));
    let rest = format!(r#"{{"kind":"PodList","x":"{}"#, "x".repeat(MAX_REST + 1));
    assert_eq!(json(&rest), Err(FeedError::TooLarge));
    let mut message = [MAGIC, &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x12]].concat();
    message.extend([0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(read(Encoding::Protobuf, vec![message]), Err(FeedError::TooLarge));
}

fn protobuf(items: &[Vec<u8>], of: Meta) -> Vec<u8> {
    protobuf_of("PartialObjectMetadataList", items, of)
}

fn protobuf_of(kind: &str, items: &[Vec<u8>], of: Meta) -> Vec<u8> {
    let list = List { metadata: Some(of), items: items.iter().map(|item| item.clone().into()).collect() };
    let type_meta = Some(TypeMeta { kind: kind.into() });
    let unknown = Unknown { type_meta, raw: list.encode_to_vec().into() };
    [MAGIC, &unknown.encode_to_vec()].concat()
}

#[test]
fn a_message_that_is_cut_off_is_no_list() {
    let of = Meta { resource_version: "7".into(), r#continue: "next".into() };
    let whole = protobuf(&[b"one".to_vec(), Vec::new(), b"three".to_vec()], of.clone());
    let status = protobuf_of("Status", &[], of.clone());
    let error = read(Encoding::Protobuf, vec![status]).expect_err("no list").to_string();
    assert!(error.ends_with("a list was asked for, and 'Status' came"), "{error}");
    let read_to = |end: usize| read(Encoding::Protobuf, vec![whole[..end].to_vec()]);
    let (items, of) = read_to(whole.len()).expect("a list");
    assert_eq!((items, of), (vec!["one".into(), Bytes::new(), "three".into()], meta("7", "next")));
    for end in 0..whole.len() {
        assert!(matches!(read_to(end), Err(FeedError::BrokeOff(_))), "after {end} bytes");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\{}\\[\\],: é]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![Just("items".to_owned()), "[a-z\"\\\\]{0,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_list_in_json_is_what_it_is_however_it_arrives(
        items in prop::collection::vec(values(), 0..6),
        before in values(),
        cuts in prop::collection::vec(0usize..400, 0..12),
        pretty: bool,
    ) {
        let list = json!({
            "a": before, "items": items, "kind": "PodList",
            "metadata": {"resourceVersion": "7", "continue": "next"},
        });
        let text = if pretty { serde_json::to_string_pretty(&list) } else { serde_json::to_string(&list) };
        let text = text.expect("JSON");
        let (read, of) = read(Encoding::Json, pieces(text.as_bytes(), cuts)).expect("a list");
        let read: Vec<Value> =
            read.iter().map(|item| serde_json::from_slice(item).expect("an item")).collect();
        prop_assert_eq!(read, items);
        prop_assert_eq!(of, meta("7", "next"));
    }

    #[test]
    fn a_list_in_protobuf_is_what_it_is_however_it_arrives(
        items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
        cuts in prop::collection::vec(0usize..900, 0..12),
    ) {
        let of = Meta { resource_version: "7".into(), r#continue: "next".into() };
        let message = protobuf(&items, of);
        let (read, of) = read(Encoding::Protobuf, pieces(&message, cuts)).expect("a list");
        prop_assert_eq!(read, items);
        prop_assert_eq!(of, meta("7", "next"));
    }

    #[test]
    fn what_is_no_list_is_an_error_and_nothing_else(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(0usize..200, 0..4),
        magic: bool,
    ) {
        let bytes = if magic { [MAGIC, &bytes].concat() } else { bytes };
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            prop_assert!(read(encoding, pieces(&bytes, cuts.clone())).is_err());
        }
    }
}
