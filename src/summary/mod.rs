//! From components to the status of an add-on.

mod board;
mod observation;

pub use board::{Board, KindCoverage, WatchState};
pub use observation::{Membership, Observation};

use crate::api::{AddonStatus, Identifier};

/// One add-on, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which add-on.
    pub identifier: Identifier,
    /// What it is made of and how it is, with every component: `api::bounds::fit` cuts it to what
    /// an `Addon` object may hold.
    pub status: AddonStatus,
}
