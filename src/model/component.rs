use super::{Condition, ObjectRef, Timestamp, Verdict};

/// A part of an add-on, with the verdict that holds now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Which object.
    pub object: ObjectRef,
    /// Which install of the add-on it belongs to, empty for most.
    pub install: String,
    /// How it is.
    pub verdict: Verdict,
    /// Its own conditions, in order of type.
    pub conditions: Vec<Condition>,
    /// The object further down that explains a bad verdict.
    pub cause: Option<Cause>,
    /// Its `app.kubernetes.io/version`.
    pub version: Option<String>,
    /// It is shown and doesn't colour.
    pub informational: bool,
    /// It is ill and doesn't colour, as enough others of its sort are well.
    pub spare: bool,
    /// It goes to and fro between well and ill.
    pub flapping: Option<Flapping>,
    /// What rules extracted from it, each name once.
    pub facts: Vec<Fact>,
}

impl Component {
    /// Whether it counts for how its add-on is.
    pub fn colours(&self) -> bool {
        !self.informational && !self.spare
    }
}

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
