//! From one document to its nodes.

use serde_json::Deserializer;
use serde_saphyr::{DuplicateKeyPolicy, Error, MessageFormatter, Options};

use super::{
    items::{Json, Lines},
    node::{self, Node},
    split::{Document, breaks},
};
use crate::model::text;

/// How deep a document may be nested: what `serde_json` allows, too.
const MAX_DEPTH: usize = 128;

/// The stack that reading [`MAX_DEPTH`] levels takes, in a build without optimisation, with room to
/// spare. A main thread may have as little as 1 MiB.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// What a document, or a part of one, gives.
pub(super) enum Parsed<'a> {
    /// A value and where it stands.
    Node(Node, Lines<'a>),
    /// Nothing that could be read, the line of the fault, and what it is.
    Broken(usize, String),
}

/// Reads a document: YAML, or JSON values one after the other. Each is passed to `found`, which
/// says whether to go on.
pub(super) fn parse<'a>(document: Document<'a>, found: &mut impl FnMut(Parsed<'a>) -> bool) {
    let bytes = document.bytes.strip_prefix(b"---").unwrap_or(document.bytes);
    let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    if !(is_json && json(bytes, document, found)) {
        found(yaml(document));
    }
}

/// Reads a document that is one JSON value.
pub(super) fn parse_line(document: Document<'_>) -> Parsed<'_> {
    match serde_json::from_slice(document.bytes) {
        Ok(node) => Parsed::Node(node, Lines::json(document.bytes, document.line)),
        Err(error) => Parsed::Broken(document.line, json_message(&error)),
    }
}

/// The message without the place, which is counted from the start of the document.
fn json_message(error: &serde_json::Error) -> String {
    let at = format!(" at line {} column {}", error.line(), error.column());
    text::message(&error.to_string().replace(&at, ""))
}

/// Reads JSON values; `false` where the very first is rather YAML in braces.
fn json<'a>(bytes: &'a [u8], document: Document<'a>, found: &mut impl FnMut(Parsed<'a>) -> bool) -> bool {
    let mut start = 0;
    let mut first = true;
    while start < bytes.len() {
        let first_line = document.line + breaks(&bytes[..start]);
        let mut line = first_line;
        let mut values = Deserializer::from_slice(&bytes[start..]).into_iter::<Node>();
        let (mut counted, mut read) = (start, 0);
        let (parsed, is_cut_off) = loop {
            match values.next() {
                None => return true,
                Some(Ok(node)) => {
                    first = false;
                    line += breaks(&bytes[counted..start + read]);
                    counted = start + read;
                    read = values.byte_offset();
                    if !found(Parsed::Node(node, Lines::json(&bytes[counted..], line))) {
                        return true;
                    }
                }
                Some(Err(error)) if first && matches!(yaml(document), Parsed::Node(..)) => {
                    tracing::debug!(%error, line = first_line, "braces, and not JSON");
                    return false;
                }
                Some(Err(error)) => {
                    let line = first_line + error.line().saturating_sub(1);
                    break (Parsed::Broken(line, json_message(&error)), error.is_eof());
                }
            }
        };
        first = false;
        let broken = &bytes[start + read..];
        let list = Json::read(broken);
        let whole = list.end();
        if let Some(node) = cut_off(list) {
            let line = document.line + breaks(&bytes[..start + read]);
            if !found(Parsed::Node(node, Lines::json(broken, line))) {
                return true;
            }
        }
        // Of what is cut off after whole items, the rest is the item that isn't.
        if !found(parsed) || is_cut_off && whole > 0 {
            return true;
        }
        start += read + whole + next_value(&broken[whole..]);
    }
    true
}

/// The items of a list that were read before it breaks off.
fn cut_off(list: Json<'_>) -> Option<Node> {
    // What is wrong in an item is what broke the list, and is told.
    let items: Vec<Node> =
        list.items.iter().map(|item| serde_json::from_str(item.get()).unwrap_or(Node::Null)).collect();
    if items.is_empty() { None } else { node::list(list.head, items) }
}

/// Where the next value may begin after a broken one: at a line that starts with a brace.
fn next_value(bytes: &[u8]) -> usize {
    let inside = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count() + 1;
    let rest = bytes.get(inside..).unwrap_or_default();
    let next = rest.windows(2).position(|pair| matches!(pair, [b'\n', b'{' | b'[']));
    next.map_or(bytes.len(), |next| inside + next + 1)
}

fn yaml(document: Document<'_>) -> Parsed<'_> {
    let text = match std::str::from_utf8(document.bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = document.line + breaks(&document.bytes[..error.valid_up_to()]);
            return Parsed::Broken(line, "not UTF-8 text".to_owned());
        }
    };
    match serde_saphyr::from_str_with_options(text, options(text.len())) {
        Ok(node) => Parsed::Node(node, Lines::yaml(document.bytes, document.line)),
        Err(error) => {
            let offset = error.location().map_or(0, |at| at.line().saturating_sub(1));
            let line = document.line + usize::try_from(offset).unwrap_or(0);
            Parsed::Broken(line, yaml_message(&error))
        }
    }
}

/// The message without the place, which is counted from the start of the document.
fn yaml_message(error: &Error) -> String {
    text::message(&serde_saphyr::UserMessageFormatter.format_message(error.without_snippet()))
}

/// Reads as kubectl does: `yes` and `on` are truth values, and what
/// only looks like a number is text. What a document may cost grows with its size and has an end,
/// so that a large one is read and a small one that unfolds itself isn't.
pub(super) fn options(bytes: usize) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_events: 2 * bytes + 100_000,
            max_nodes: bytes + 100_000,
            max_total_scalar_bytes: 2 * bytes + (1 << 20),
            max_recorded_anchor_events: bytes + 100_000,
            max_recorded_anchor_bytes: 2 * bytes + (1 << 20),
            enforce_alias_anchor_ratio: false,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        null_as_string: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    }
}
