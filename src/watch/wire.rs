//! What the API server sends, in either encoding.

use bytes::Bytes;
use http::{HeaderMap, header};

use super::{FeedError, Head, Seen, json, protobuf, reader::Body};

/// How an answer is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

/// How much of objects is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Their metadata alone.
    Metadata,
    /// All of them.
    Whole,
}

/// One event of a watch.
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) encoding: Encoding,
}

/// What happened to an object.
pub(super) struct Event<'a> {
    pub(super) change: Change,
    pub(super) seen: Seen<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is new, or is so now.
    Set,
    Deleted,
    /// No change: it tells how far the watch has come.
    Bookmark,
}

impl Encoding {
    /// How the answer with these headers is encoded. Everything but protobuf is read as JSON, which
    /// says what is wrong with it.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if media_type.is_some_and(|media_type| media_type.starts_with("application/vnd.kubernetes.protobuf"))
        {
            Self::Protobuf
        } else {
            Self::Json
        }
    }
}

impl Detail {
    /// The media types to ask for, the best first. Whoever serves an API may know only the last.
    pub(super) fn accept(self, list: bool) -> &'static str {
        match (self, list) {
            (Self::Metadata, false) => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Metadata, true) => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (Self::Whole, _) => "application/json",
        }
    }
}

impl Frame {
    /// Reads the event.
    ///
    /// # Errors
    /// Where it is none, and the error that an ERROR event carries.
    pub(super) fn event(&self) -> Result<Event<'_>, FeedError> {
        match self.encoding {
            Encoding::Json => json::event(&self.bytes),
            Encoding::Protobuf => protobuf::event(&self.bytes),
        }
    }
}

/// The error of a list that isn't one.
pub(super) fn no_list(kind: &str) -> FeedError {
    let kind = crate::model::text::word(kind);
    FeedError::Unreadable(format!("a list was asked for, and '{kind}' came"))
}

/// The error of a list that ends before it is whole.
pub(super) fn cut_off() -> FeedError {
    FeedError::BrokeOff("not all of it came".to_owned())
}

/// The error that an ERROR event carries.
pub(super) fn carried(code: u16, message: &str) -> FeedError {
    FeedError::Status { code, message: crate::model::text::message(message), retry_after: None }
}

/// What happened, by the type of an event; an unknown one is a change.
pub(super) fn change(kind: &[u8]) -> Change {
    match kind {
        b"DELETED" => Change::Deleted,
        b"BOOKMARK" => Change::Bookmark,
        _ => Change::Set,
    }
}

impl<'a> Event<'a> {
    pub(super) fn new(change: Change, head: Head<'a>, body: Body<'a>) -> Self {
        Self { change, seen: Seen { head, body } }
    }
}
