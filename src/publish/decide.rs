//! What to do about one `Addon`: from what should be, what is, what was tried and the clock.

use std::{sync::Arc, time::Instant};

use super::{
    live::{Digest, Live},
    notice::{self, Notice},
};
use crate::{
    api::{AddonStatus, Identifier, LabelPrefix, bounds},
    model::Timestamp,
    summary::Summary,
};

/// What the add-on should look like.
#[derive(Clone, Debug, Default)]
pub(super) enum Wish {
    /// Nobody said yet.
    #[default]
    Unsaid,
    /// It has no components, since this was said.
    Gone { since: Timestamp },
    /// This.
    Show(Arc<Summary>),
}

/// All that is known of one `Addon` object.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub wish: Wish,
    /// As it was seen last, in a watch or in an answer.
    pub live: Option<Live>,
    pub tried: Option<Tried>,
    /// Before this nothing is written.
    pub not_before: Option<Instant>,
}

/// What became of the last attempt to write a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tried {
    /// The status that was wanted, before anything was left out of it.
    pub wanted: Digest,
    pub form: Form,
    pub answer: Answer,
}

impl Tried {
    /// Whether all that was wanted is kept; nothing where none of it was taken.
    pub(super) fn is_whole(&self) -> Option<bool> {
        match self.answer {
            Answer::Taken(kept) => Some(kept == self.wanted),
            Answer::Refused(_) => None,
        }
    }
}

/// How much of the wanted status was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Whole,
    Headline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was taken, and this is what the API server made of it.
    Taken(Digest),
    /// It was refused, and nothing shorter is left to send before then.
    Refused(Instant),
}

/// A status to write.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub status: AddonStatus,
    pub digest: Digest,
    /// The status that was wanted.
    pub wanted: Digest,
    pub form: Form,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// All is as it should be, or as near as it gets.
    Nothing,
    /// Look again then.
    Wait(Instant),
    /// Make the object, then write its status.
    Create(Identifier, Box<Draft>),
    /// Write the status.
    Status(Box<Draft>),
    /// Delete the object of this `uid`.
    Delete(String),
}

/// Decides what to do about the `Addon` of this name.
pub(super) fn decide(name: &str, entry: &Entry, prefix: &LabelPrefix, now: Instant) -> Action {
    if let Some(at) = entry.not_before.filter(|at| *at > now) {
        return Action::Wait(at);
    }
    let notice = |notice, live: &Live| {
        let status = notice::status(notice, name, live, prefix);
        draft(status, entry, now).map_or_else(rest, Action::Status)
    };
    match (&entry.wish, &entry.live) {
        // An object that bears another's name: ours goes, so that the right one can be made.
        (_, Some(live)) if !live.named && live.managed => delete(live),
        (_, Some(live)) if !live.named => notice(Notice::NameMismatch, live),
        (Wish::Gone { .. }, Some(live)) if live.managed => delete(live),
        (Wish::Gone { since }, Some(live)) => notice(Notice::NoComponents { since: *since }, live),
        (Wish::Show(summary), live) => {
            match (draft(bounds::fit(&summary.worst(bounds::COMPONENTS)), entry, now), live) {
                (Ok(draft), Some(_)) => Action::Status(draft),
                (Ok(draft), None) => Action::Create(summary.identifier.clone(), draft),
                (Err(until), _) => rest(until),
            }
        }
        (Wish::Unsaid | Wish::Gone { .. }, _) => Action::Nothing,
    }
}

fn delete(live: &Live) -> Action {
    if live.deleting { Action::Nothing } else { Action::Delete(live.uid.clone()) }
}

/// There is nothing to do until then, or until something changes.
fn rest(until: Option<Instant>) -> Action {
    until.map_or(Action::Nothing, Action::Wait)
}

/// What to send so that the object says `status`. Otherwise it does already, or it can't be had before
/// the time that is given.
fn draft(status: AddonStatus, entry: &Entry, now: Instant) -> Result<Box<Draft>, Option<Instant>> {
    let wanted = Digest::of(Some(&status));
    let tried = entry.tried.filter(|tried| tried.wanted == wanted);
    let (form, taken) = match tried {
        None => (Form::Whole, None),
        Some(Tried { form, answer: Answer::Taken(taken), .. }) => (form, Some(taken)),
        Some(Tried { form: Form::Whole, answer: Answer::Refused(_), .. }) => (Form::Headline, None),
        Some(Tried { form: Form::Headline, answer: Answer::Refused(again), .. }) if again > now => {
            return Err(Some(again));
        }
        // What refused it may be gone.
        Some(Tried { form: Form::Headline, answer: Answer::Refused(_), .. }) => (Form::Whole, None),
    };
    let (status, digest) = match form {
        Form::Whole => (status, wanted),
        Form::Headline => {
            let headline = bounds::headline(&status);
            let digest = Digest::of(Some(&headline));
            (headline, digest)
        }
    };
    let is = entry.live.as_ref().map(|live| live.status);
    let settled = is.is_some() && (is == Some(digest) || is == taken);
    if settled { Err(None) } else { Ok(Box::new(Draft { status, digest, wanted, form })) }
}
