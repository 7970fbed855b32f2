use thiserror::Error;

use super::{Listing, Named};
use crate::model::{Event, GroupKind, Object, ObjectRef};

/// Where the objects are that an explanation is made from.
pub trait Source: Sync {
    /// Looks an object up by its name.
    fn get(&self, wanted: &Named) -> impl Future<Output = Result<Lookup, Refusal>> + Send;

    /// Lists objects of a kind.
    fn list(&self, wanted: &Listing) -> impl Future<Output = Result<Part<Object>, Refusal>> + Send;

    /// Lists what was reported about an object.
    fn events(&self, about: &ObjectRef) -> impl Future<Output = Result<Part<Event>, Refusal>> + Send;
}

/// What became of looking an object up.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// This is it.
    Found(Box<Object>),
    /// There is certainly none; the reference would be its.
    Absent(ObjectRef),
}

/// Some of what was asked for.
#[derive(Clone, Debug)]
pub struct Part<T> {
    /// What came.
    pub items: Vec<T>,
    /// There is more.
    pub more: bool,
}

/// Why something can't be looked at.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// The API server refuses it to us.
    #[error("may not look at {0}")]
    Forbidden(String),
    /// There is no such kind.
    #[error("{0} is no kind that is served")]
    NotServed(GroupKind),
    /// What there is doesn't tell, as a file in which it isn't.
    #[error("{0} isn't among what was read")]
    Unknown(String),
    /// Asking failed, and may succeed another time.
    #[error("can't look at {what}: {why}")]
    Failed {
        /// What was asked for.
        what: String,
        /// What went wrong.
        why: String,
    },
}
