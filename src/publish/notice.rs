//! What an `Addon` that was made by hand says where there is nothing to sum up.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{live::Live, settle};
use crate::{
    api::{AddonCondition, AddonStatus, Identifier, LabelPrefix, bounds, condition, object_name},
    model::{Health, Timestamp},
};

/// Why there is nothing to sum up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// No object carries the label, which was first noticed then.
    NoComponents { since: Timestamp },
    /// The add-on's own `Addon` has another name.
    NameMismatch,
}

/// The status that says it. The same notice says the same as long as it stands.
pub(super) fn status(notice: Notice, name: &str, live: &Live, prefix: &LabelPrefix) -> AddonStatus {
    let (reason, message, since) = match notice {
        Notice::NoComponents { since } => ("NoComponents", no_components(&live.identifier, prefix), since),
        // Neither the name nor the identifier of an object changes.
        Notice::NameMismatch => ("NameMismatch", name_mismatch(name, &live.identifier), live.created),
    };
    let draft = |kind: &str, status: &str, reason: &str, message: &str| AddonCondition {
        kind: kind.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: Time(since),
        observed_generation: None,
    };
    let mut status = AddonStatus {
        conditions: vec![
            draft(condition::READY, "Unknown", reason, &message),
            draft(condition::PROGRESSING, "False", "NothingMoves", ""),
            draft(condition::DEGRADED, "False", "NothingFails", ""),
            draft(condition::OBSERVED, "True", "AllKindsWatched", ""),
        ],
        health: Health::Unknown.to_string(),
        reason: reason.to_owned(),
        message,
        ready: "0/0".to_owned(),
        ..AddonStatus::default()
    };
    settle(&mut status, live.before.as_deref());
    bounds::fit(&status)
}

fn no_components(identifier: &str, prefix: &LabelPrefix) -> String {
    format!(
        "No object carries the label {prefix}{identifier}. Label the objects that the add-on is made of: \
         kubectl label KIND NAME {prefix}{identifier}="
    )
}

fn name_mismatch(name: &str, identifier: &str) -> String {
    match Identifier::new(identifier).map(|identifier| object_name(&identifier)) {
        Some(own) => format!(
            "The Addon of the identifier '{identifier}' is '{own}'; '{name}' is not kept up to date. Delete it: \
             an Addon is made for every label by itself."
        ),
        None => format!(
            "'{identifier}' can't be the name part of a label: '{name}' is not kept up to date. Delete it: an \
             Addon is made for every label by itself."
        ),
    }
}
