//! Watches and lists in JSON.

use std::borrow::Cow;

use serde::{Deserialize, de::IgnoredAny};

use super::{
    FeedError, Head,
    items::ListMeta,
    reader::Body,
    wire::{self, Event},
};
use crate::model::text;

/// An object of which only what names it is read.
#[derive(Default, Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    metadata: Head<'a>,
}

/// Reads a line of a watch.
///
/// # Errors
/// Where it is no event, and the error that an ERROR event carries.
pub(super) fn event(line: &[u8]) -> Result<Event<'_>, FeedError> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        object: Named<'a>,
    }
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
    let Line { kind, object } = serde_json::from_slice(line).map_err(|error| unreadable(&error))?;
    if kind == "ERROR" {
        let Error { object } = serde_json::from_slice(line).map_err(|error| unreadable(&error))?;
        return Err(wire::carried(object.code, &object.message));
    }
    Ok(Event::new(wire::change(kind.as_bytes()), object.metadata, Body::Event(line)))
}

/// Reads what is said of a list, from all of it but its objects.
///
/// # Errors
/// Where it is none.
pub(super) fn list_meta(rest: &[u8]) -> Result<ListMeta, FeedError> {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "they were cut out: none is left")]
    struct List {
        #[serde(default)]
        kind: String,
        items: Option<[IgnoredAny; 0]>,
        #[serde(default)]
        metadata: Meta,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Meta {
        resource_version: String,
        r#continue: String,
    }
    let List { kind, metadata, .. } = serde_json::from_slice(rest).map_err(|error| match error.is_eof() {
        true => wire::cut_off(),
        false => unreadable(&error),
    })?;
    if !kind.ends_with("List") {
        return Err(wire::no_list(&kind));
    }
    Ok(ListMeta { resource_version: metadata.resource_version, token: metadata.r#continue })
}

/// What names an object; nothing where it isn't named as it should be.
///
/// # Errors
/// Where it isn't JSON.
pub(super) fn head(object: &[u8]) -> Result<Head<'_>, FeedError> {
    if let Ok(named) = serde_json::from_slice::<Named<'_>>(object) {
        return Ok(named.metadata);
    }
    match serde_json::from_slice::<IgnoredAny>(object) {
        Ok(_) => Ok(Head::default()),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unreadable(error: &serde_json::Error) -> FeedError {
    // It may quote what came, however long that is.
    FeedError::Unreadable(text::message(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_event_is_an_error() {
        let line = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old\u001b"}}"#;
        let wanted =
            FeedError::Status { code: 410, message: "too old\u{fffd}".to_owned(), retry_after: None };
        assert_eq!(event(line).err(), Some(wanted));
    }

    #[test]
    fn what_comes_is_not_quoted_whole() {
        let line = format!(r#"{{"type":"ADDED","object":"{}"}}"#, "\\u001b".repeat(100_000));
        let error = event(line.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.len() < 2_000 && !error.contains('\u{1b}'), "{} bytes", error.len());
    }

    #[test]
    fn what_is_no_event_is_unreadable() {
        for line in ["", "<html>", "{}", "[]", r#"{"type":"ADDED"}"#, r#"{"type":"ADDED","object":[1]}"#] {
            assert!(matches!(event(line.as_bytes()), Err(FeedError::Unreadable(_))), "{line}");
        }
    }
}
