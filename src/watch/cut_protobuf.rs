//! Cuts a list in protobuf into its objects as it arrives.
//!
//! It is a `PartialObjectMetadataList` in an `Unknown` of Kubernetes' runtime, behind four bytes: what is
//! around the objects is short, and comes in any order.

use bytes::{Buf, Bytes, BytesMut};
use prost::{
    Message,
    encoding::{WireType, decode_key, decode_varint},
};

use super::{
    FeedError,
    items::{ListMeta, MAX_ITEM, MAX_REST},
    protobuf::{self, MAGIC, TypeMeta, unreadable},
    wire,
};

/// Fields of `Unknown`.
const TYPE_META: u32 = 1;
const RAW: u32 = 2;

/// Fields of the list.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

/// A key and a length are no longer.
const MAX_HEAD: usize = 15;

/// A list that has arrived up to some place.
#[derive(Default)]
pub(super) struct Cutter {
    buffer: BytesMut,
    is_begun: bool,
    /// How much of the list itself is still to come, once it has begun.
    inside: Option<u64>,
    kind: String,
    meta: Option<protobuf::ListMeta>,
}

/// A field whose content hasn't been looked at.
struct Field {
    number: u32,
    /// Whether it has a content of its own length, and not a number.
    has_length: bool,
    /// What its key and length take.
    head: usize,
    length: u64,
}

impl Cutter {
    /// More has arrived.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next object that has arrived whole.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, FeedError> {
        if !self.is_begun {
            if self.buffer.len() < MAGIC.len() {
                return Ok(None);
            }
            if self.buffer.split_to(MAGIC.len()) != MAGIC {
                return Err(FeedError::Unreadable("no object of Kubernetes came".to_owned()));
            }
            self.is_begun = true;
        }
        while let Some(field) = field(&self.buffer)? {
            let is_inside = self.inside.is_some_and(|left| left > 0);
            if !is_inside && field.number == RAW && field.has_length {
                if self.inside.is_some() {
                    return Err(broken());
                }
                self.buffer.advance(field.head);
                self.inside = Some(field.length);
                continue;
            }
            let is_item = is_inside && field.number == ITEMS && field.has_length;
            let most = if is_item { MAX_ITEM } else { MAX_REST };
            let length = usize::try_from(field.length).ok().filter(|length| *length <= most);
            let length = length.ok_or(FeedError::TooLarge)?;
            if self.buffer.len() < field.head + length {
                self.buffer.reserve(field.head + length - self.buffer.len());
                return Ok(None);
            }
            if is_inside {
                let left = self.inside.unwrap_or_default().checked_sub((field.head + length) as u64);
                self.inside = Some(left.ok_or_else(broken)?);
            }
            self.buffer.advance(field.head);
            let content = self.buffer.split_to(length).freeze();
            match (is_inside, field.number) {
                _ if !field.has_length => {}
                (true, ITEMS) => return Ok(Some(content)),
                (true, METADATA) => self.meta = Some(decoded(content)?),
                (false, TYPE_META) => self.kind = decoded::<TypeMeta>(content)?.kind,
                _ => {}
            }
        }
        Ok(None)
    }

    /// What is said of the list, once all has arrived.
    pub(super) fn end(self) -> Result<ListMeta, FeedError> {
        if !self.buffer.is_empty() || self.inside != Some(0) {
            return Err(wire::cut_off());
        }
        if !self.kind.ends_with("List") {
            return Err(wire::no_list(&self.kind));
        }
        let protobuf::ListMeta { resource_version, r#continue: token } = self.meta.unwrap_or_default();
        Ok(ListMeta { resource_version, token })
    }
}

/// The field that begins here; `None` where its head hasn't arrived.
fn field(buffer: &[u8]) -> Result<Option<Field>, FeedError> {
    let mut rest = buffer;
    let head = decode_key(&mut rest).and_then(|(number, wire)| {
        Ok((number, wire, if wire == WireType::LengthDelimited { decode_varint(&mut rest)? } else { 0 }))
    });
    let (number, wire, length) = match head {
        Ok(head) => head,
        Err(_) if buffer.len() < MAX_HEAD => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let head = buffer.len() - rest.len();
    let length = match wire {
        WireType::LengthDelimited => length,
        WireType::Varint => match rest.iter().position(|byte| *byte < 0x80) {
            Some(last) => last as u64 + 1,
            None if rest.len() < MAX_HEAD => return Ok(None),
            None => return Err(broken()),
        },
        WireType::SixtyFourBit => 8,
        WireType::ThirtyTwoBit => 4,
        WireType::StartGroup | WireType::EndGroup => return Err(broken()),
    };
    Ok(Some(Field { number, has_length: wire == WireType::LengthDelimited, head, length }))
}

fn decoded<T: Message + Default>(content: Bytes) -> Result<T, FeedError> {
    T::decode(content).map_err(|error| unreadable(&error))
}

fn broken() -> FeedError {
    FeedError::Unreadable("a list has fields that make no sense".to_owned())
}
