//! `Addon` objects to the API server, only when something changed; and whether `StatusRule` objects
//! are in force.
//!
//! A [`Publisher`] takes what should be shown and what the API server holds, and writes the difference. What
//! to do about one `Addon` is decided without a client in `decide`; when it may be done, in `ledger`.
//! [`RuleStatuses`] does the same for the status of rules, whose specs are their users'.
//!
//! # Guarantees
//!
//! - Nothing is written before the `Addon` objects were listed once, and nothing that is there already:
//!   a restart in a quiet cluster writes nothing.
//! - A change is written at once where the last write of the same `Addon` was a second ago or more, and
//!   after that second otherwise; what changes in between is written once.
//! - At most [`Limits::in_flight`] requests at a time, at most half of them for `Addon` objects of which the
//!   last write failed, and [`Limits::per_second`] writes a second beyond the first [`Limits::burst`].
//! - Where the CRD is older than this program, the fields that it lacks are left out. That it is as new is found
//!   out within half a minute.
//! - An `Addon` that was edited or deleted by hand is put right. One that was made by hand is never
//!   deleted.
//!
//! # Errors
//!
//! None ends it. An overloaded or unreachable API server holds everything back, as long as it asks for or
//! ever longer up to half a minute; another failure holds back only the `Addon` that it concerns. So does an
//! answer that doesn't come in time, as a webhook may concern only some. Of a status that the API server refuses
//! the headline is sent instead. Where that is refused too, both are tried again after ten seconds, and less and
//! less often. Of those that aren't kept whole, one is tried again each half a minute, and all once it is kept.

mod decide;
mod ledger;
mod lessened;
mod live;
mod notice;
mod pace;
mod request;
mod rules;
mod run;
mod settle;

use std::sync::Arc;

pub use live::Held;
pub use pace::Limits;
pub use rules::{RuleStatuses, RuleWish};
pub use run::Publisher;
pub use settle::settle;

use crate::{api::Identifier, summary::Summary};

/// The field manager of all writes, and the value of [`MANAGED_BY`].
pub const MANAGER: &str = "addon-controller";

/// The label that tells an `Addon` of ours from one that was made by hand. Whoever takes it off an
/// `Addon` keeps that one: its status is still written, and it isn't deleted any more.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// What a [`Publisher`] is told.
#[derive(Clone, Debug)]
pub enum Command {
    /// The add-on has components, and this is how it is. Its conditions were given to [`settle`].
    Show(Arc<Summary>),
    /// The add-on has no component, which is certain: every kind that could hold one was listed whole,
    /// and the grace is over.
    ///
    /// Its `Addon` is deleted, or says so where it was made by hand. To be said of every `Addon` that
    /// is there without components, also of one that somebody makes later.
    Gone(Identifier),
    /// What the API server holds.
    Seen(Seen),
    /// Nothing is to be written until [`Command::Release`]: what is to be shown may be wrong soon.
    Hold,
    /// What was held back is to be written.
    Release,
}

/// What a list or a watch of the `Addon` objects showed.
#[derive(Clone, Debug)]
pub enum Seen {
    /// All that there are.
    Listed(Vec<Held>),
    /// One as it is now.
    Changed(Box<Held>),
    /// The one of this name isn't there any more.
    Gone(String),
}

#[cfg(test)]
mod tests;
