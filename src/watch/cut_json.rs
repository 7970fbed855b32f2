//! Cuts a list in JSON into its objects as it arrives. Whether each of them, and what is around them, is JSON is
//! told by whoever reads it.

use bytes::Bytes;
use memchr::memchr2;

use super::{
    FeedError,
    items::{MAX_ITEM, MAX_REST},
};

/// The field that the objects are in.
const ITEMS: &[u8] = br#""items""#;

/// There is no more between the name of that field and its array.
const MAX_BETWEEN: usize = 256;

/// A list that has arrived up to some place.
#[derive(Default)]
pub(super) struct Cutter {
    chunk: Bytes,
    place: Place,
    /// Whether the place is among the objects.
    among: bool,
    /// What has arrived of the object that isn't whole yet.
    partial: Vec<u8>,
    /// What stands around the objects.
    rest: Vec<u8>,
    /// The last string in the rest: where it begins, and where it ends.
    last: (usize, usize),
}

/// Where in a text: how deep, and whether in a string.
#[derive(Default)]
struct Place {
    depth: usize,
    in_string: bool,
    /// The character before was a backslash.
    escaped: bool,
}

impl Cutter {
    /// More has arrived; what arrived before was cut up.
    pub(super) fn push(&mut self, chunk: Bytes) {
        self.chunk = chunk;
    }

    /// The next object that has arrived whole.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, FeedError> {
        while !self.chunk.is_empty() {
            if !self.among {
                self.around()?;
            } else if let Some(item) = self.item()?
                && !item.trim_ascii().is_empty()
            {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// What stood around the objects, once all has arrived.
    pub(super) fn end(self) -> Vec<u8> {
        self.rest
    }

    /// Goes on to the first object, or to the end of what has arrived.
    fn around(&mut self) -> Result<(), FeedError> {
        let mut at = 0;
        while at < self.chunk.len() && !self.among {
            let was_in_string = self.place.in_string;
            let before = at;
            at = self.place.step(&self.chunk, at);
            if !was_in_string && self.place.in_string {
                self.last.0 = self.rest.len();
            }
            self.rest.extend_from_slice(&self.chunk[before..at]);
            if was_in_string && !self.place.in_string {
                self.last.1 = self.rest.len();
            }
            let begins = !was_in_string && self.chunk[before] == b'[' && self.place.depth == 2;
            self.among = begins && self.is_before_items();
            if self.rest.len() > MAX_REST {
                return Err(FeedError::TooLarge);
            }
        }
        drop(self.chunk.split_to(at));
        Ok(())
    }

    /// Whether the rest ends with the name of the objects' field and the beginning of an array.
    fn is_before_items(&self) -> bool {
        let (begin, end) = self.last;
        let between = &self.rest[end..];
        if between.len() > MAX_BETWEEN || self.rest[begin..end] != *ITEMS {
            return false;
        }
        let between: Vec<u8> = between.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        between == b":["
    }

    /// Goes on to the end of the object, or of what has arrived. What is between two commas may be blank.
    fn item(&mut self) -> Result<Option<Bytes>, FeedError> {
        let mut at = 0;
        while at < self.chunk.len() {
            let byte = self.chunk[at];
            let is_between = self.place.depth == 2 && !self.place.in_string;
            if is_between && matches!(byte, b',' | b']') {
                if byte == b']' {
                    self.place.step(&self.chunk, at);
                    self.among = false;
                    self.rest.push(byte);
                }
                let end = self.chunk.split_to(at + 1).slice(..at);
                if self.partial.is_empty() {
                    return Ok(Some(end));
                }
                self.partial.extend_from_slice(&end);
                return Ok(Some(std::mem::take(&mut self.partial).into()));
            }
            at = self.place.step(&self.chunk, at);
        }
        if self.partial.len() + at > MAX_ITEM {
            return Err(FeedError::TooLarge);
        }
        self.partial.extend_from_slice(&self.chunk.split_to(at));
        Ok(None)
    }
}

impl Place {
    /// Goes over what stands at `at`, a character or the inside of a string; gives what is after it.
    fn step(&mut self, text: &[u8], at: usize) -> usize {
        if self.escaped {
            self.escaped = false;
            return at + 1;
        }
        if self.in_string {
            let Some(end) = memchr2(b'"', b'\\', &text[at..]) else { return text.len() };
            self.escaped = text[at + end] == b'\\';
            self.in_string = self.escaped;
            return at + end + 1;
        }
        match text[at] {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        at + 1
    }
}
