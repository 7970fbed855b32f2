//! Where the items of a list stand in a document: asked for only where something is wrong.

use std::{cell::OnceCell, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};
use serde_saphyr::Spanned;

use super::{document::options, split::breaks};

/// The lines of a document and of the items in it.
pub(super) struct Lines<'a> {
    /// The line on which the document begins, or the search for it began.
    pub(super) line: usize,
    bytes: &'a [u8],
    is_json: bool,
    items: OnceCell<Vec<usize>>,
}

impl<'a> Lines<'a> {
    /// Those of JSON that begins in `bytes`, which begin on `line`.
    pub(super) fn json(bytes: &'a [u8], line: usize) -> Self {
        Self { line, bytes, is_json: true, items: OnceCell::new() }
    }

    /// Those of YAML.
    pub(super) fn yaml(bytes: &'a [u8], line: usize) -> Self {
        Self { line, bytes, is_json: false, items: OnceCell::new() }
    }

    /// The line of the item with this number, from 0; that of the document where it can't be told.
    pub(super) fn of_item(&self, number: usize) -> usize {
        let items = self.items.get_or_init(|| {
            if self.is_json { Json::read(self.bytes).lines(self.line) } else { self.yaml_items() }
        });
        items.get(number).copied().unwrap_or(self.line)
    }

    fn yaml_items(&self) -> Vec<usize> {
        let mut found: Vec<Spanned<IgnoredAny>> = Vec::new();
        let text = std::str::from_utf8(self.bytes).unwrap_or_default();
        let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(text.len()), |yaml| {
            Items { head: &mut Map::new(), found: &mut found }.deserialize(yaml)
        });
        if let Err(error) = read {
            tracing::debug!(%error, "can't tell the lines of all items");
        }
        let line = |item: &Spanned<IgnoredAny>| usize::try_from(item.referenced.line()).unwrap_or(1);
        found.iter().map(|item| self.line + line(item).saturating_sub(1)).collect()
    }
}

/// A list as far as it can be read: it may be cut off.
pub(super) struct Json<'a> {
    bytes: &'a [u8],
    /// What it says of itself before its items.
    pub(super) head: Map<String, Value>,
    /// The items that are whole.
    pub(super) items: Vec<&'a RawValue>,
}

impl<'a> Json<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let (mut head, mut items) = (Map::new(), Vec::new());
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read = Items { head: &mut head, found: &mut items }.deserialize(&mut json);
        if let Err(error) = read {
            tracing::debug!(%error, "the list isn't whole");
        }
        Self { bytes, head, items }
    }

    /// The line of each item, where the first byte stands on `first`.
    pub(super) fn lines(&self, first: usize) -> Vec<usize> {
        let (mut line, mut counted) = (first, 0);
        let mut lines = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let start = self.offset(item);
            line += breaks(&self.bytes[counted..start]);
            counted = start;
            lines.push(line);
        }
        lines
    }

    /// Where the last item ends.
    pub(super) fn end(&self) -> usize {
        self.items.last().map_or(0, |last| self.offset(last) + last.get().len())
    }

    fn offset(&self, item: &RawValue) -> usize {
        (item.get().as_ptr().addr() - self.bytes.as_ptr().addr()).min(self.bytes.len())
    }
}

/// Reads the items of a list, or of what is a list itself, into `found`, also where an end is missing.
struct Items<'o, T> {
    head: &'o mut Map<String, Value>,
    found: &'o mut Vec<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        while let Some(key) = access.next_key::<String>()? {
            match key.as_str() {
                "items" => access.next_value_seed(Elements(self.found, PhantomData))?,
                "apiVersion" | "kind" | "metadata" => {
                    self.head.insert(key, access.next_value()?);
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        Elements(self.found, PhantomData).visit_seq(access)
    }
}

struct Elements<'o, 'de, T>(&'o mut Vec<T>, PhantomData<&'de ()>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Elements<'_, 'de, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<'_, 'de, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        while let Some(item) = access.next_element()? {
            self.0.push(item);
        }
        Ok(())
    }
}
