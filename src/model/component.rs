use super::{ObjectRef, Timestamp};

/// That an object went to and fro between well and ill, which stays true when time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flapping {
    /// How many times it changed.
    pub changes: usize,
    /// When it changed the first of these times.
    pub first: Timestamp,
    /// When it changed last.
    pub last: Timestamp,
}

/// The object further down that explains a bad verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Which object.
    pub object: ObjectRef,
    /// CamelCase.
    pub reason: String,
    /// For people.
    pub message: String,
}

/// Something that a rule read from an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact {
    /// What it is, such as `url`.
    pub name: String,
    /// What it says.
    pub value: String,
}
