//! The lines of a watch.

use std::borrow::Cow;

use serde::Deserialize;

use super::{FeedError, Head, Seen};

/// The annotation of the bookmark that ends the list of a streaming list.
const LIST_END: &str = "k8s.io/initial-events-end";

/// What happened to an object, without more of the object than names it.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) object: Whole<'a>,
}

/// An object of which only what names it is read.
#[derive(Default, Deserialize)]
pub(super) struct Whole<'a> {
    #[serde(borrow, default)]
    pub(super) metadata: Head<'a>,
}

impl<'a> Event<'a> {
    /// Reads a line; an ERROR event is the error that it carries.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, FeedError> {
        #[derive(Deserialize)]
        struct Error {
            object: Status,
        }
        #[derive(Deserialize)]
        struct Status {
            #[serde(default)]
            code: u16,
            #[serde(default)]
            message: String,
        }
        let unreadable = |error: serde_json::Error| FeedError::Unreadable(error.to_string());
        let event: Self = serde_json::from_slice(line).map_err(unreadable)?;
        if event.kind != "ERROR" {
            return Ok(event);
        }
        let Error { object } = serde_json::from_slice(line).map_err(unreadable)?;
        let message = crate::model::text::message(&object.message);
        Err(FeedError::Status { code: object.code, message, retry_after: None })
    }

    /// The object in the `line` that the event was read from.
    pub(super) fn seen(self, line: &'a [u8]) -> Seen<'a> {
        Seen { head: self.object.metadata, json: line, in_event: true }
    }
}

/// Whether the bookmark in `line` ends the list of a streaming list.
pub(super) fn ends_list(line: &[u8]) -> bool {
    memchr::memmem::find(line, LIST_END.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_event_is_an_error() {
        let line = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old\u001b"}}"#;
        let error = Event::parse(line).err();
        let wanted =
            FeedError::Status { code: 410, message: "too old\u{fffd}".to_owned(), retry_after: None };
        assert_eq!(error, Some(wanted));
    }

    #[test]
    fn what_is_no_event_is_unreadable() {
        for line in ["", "<html>", "{}", "[]", r#"{"type":"ADDED"}"#, r#"{"type":"ADDED","object":[1]}"#] {
            assert!(matches!(Event::parse(line.as_bytes()), Err(FeedError::Unreadable(_))), "{line}");
        }
    }
}
