use std::borrow::Cow;

use bytes::Bytes;
use memchr::memmem;
use serde::{
    Deserialize,
    de::{DeserializeOwned, Error},
};

use super::protobuf;
use crate::summary::WatchState;

/// Makes news of what a follower sees.
pub trait Reader: Send {
    /// What it makes.
    type News: Send;

    /// A new list begins. What was known stays until it is whole.
    fn begin(&mut self);

    /// An object of the list. Gives whether anything is kept of it.
    fn listed(&mut self, seen: &Seen<'_>) -> bool;

    /// The list is whole: what wasn't in it is gone.
    fn complete(&mut self) -> Option<Self::News>;

    /// An object is new or changed.
    fn changed(&mut self, seen: &Seen<'_>) -> Option<Self::News>;

    /// An object is gone.
    fn deleted(&mut self, seen: &Seen<'_>) -> Option<Self::News>;

    /// Whether an object of which the metadata came is one that has to be read whole.
    fn wants(&self, _: &Seen<'_>) -> bool {
        false
    }

    /// How the watch is has changed.
    fn state(&mut self, state: &WatchState) -> Option<Self::News>;

    /// How many objects it knows, where it can [compare](Self::compare) them.
    fn known(&self) -> Option<Known> {
        None
    }

    /// How an object of another list is beside what it knows.
    fn compare(&self, _: &Seen<'_>) -> Compared {
        Compared::Alien
    }
}

/// How many objects a [`Reader`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known(pub usize);

/// An object beside what a [`Reader`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It isn't known, and needn't be.
    Alien,
    /// It is known so.
    Same,
    /// It is known otherwise.
    Changed,
    /// It should be known.
    New,
}

/// An object as it came.
pub struct Seen<'a> {
    /// What names it.
    pub head: Head<'a>,
    pub(super) body: Body<'a>,
}

/// What an object came in.
pub(super) enum Body<'a> {
    /// Its JSON.
    Object(&'a [u8]),
    /// The JSON of an event around it.
    Event(&'a [u8]),
    /// Its `ObjectMeta` in protobuf.
    Metadata(Bytes),
}

/// What names an object.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Head<'a> {
    /// `metadata.uid`, empty where there is none.
    #[serde(borrow)]
    pub uid: Cow<'a, str>,
    /// `metadata.namespace`, empty where there is none.
    #[serde(borrow)]
    pub namespace: Cow<'a, str>,
    /// `metadata.name`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) resource_version: Cow<'a, str>,
}

impl Seen<'_> {
    /// Reads the object, or its metadata where that is all that came.
    ///
    /// # Errors
    /// Where what came doesn't fit.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        #[derive(Deserialize)]
        struct Event<T> {
            object: T,
        }
        match &self.body {
            Body::Object(json) => serde_json::from_slice(json),
            Body::Event(json) => serde_json::from_slice::<Event<T>>(json).map(|event| event.object),
            Body::Metadata(metadata) => {
                serde_json::from_value(protobuf::to_json(metadata).map_err(serde_json::Error::custom)?)
            }
        }
    }

    /// The object with this JSON.
    #[cfg(test)]
    pub(crate) fn of_json(json: &[u8]) -> Seen<'_> {
        let head = super::json::head(json).unwrap_or_default();
        Seen { head, body: Body::Object(json) }
    }

    /// Whether `finder` finds something anywhere in what came.
    pub(super) fn holds(&self, finder: &memmem::Finder<'_>) -> bool {
        let bytes: &[u8] = match &self.body {
            Body::Object(json) | Body::Event(json) => json,
            Body::Metadata(metadata) => metadata,
        };
        finder.find(bytes).is_some()
    }
}
