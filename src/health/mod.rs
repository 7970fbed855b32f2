//! From one object to its verdict.

use crate::model::{Condition, Object, Timeline};

/// What judging an object gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How the object is, and what becomes of that when time passes.
    pub timeline: Timeline,
    /// Its own conditions, normalised, in order of type.
    pub conditions: Vec<Condition>,
    /// It ended or was replaced, and says nothing any more about the owner that made it: a Pod that
    /// ran to its end, a ReplicaSet scaled to zero.
    pub superseded: bool,
}

/// Judges an object. Total: any object gets an answer, whatever its status looks like.
pub fn judge(object: &Object) -> Judgement {
    let _ = object;
    todo!("health room")
}
