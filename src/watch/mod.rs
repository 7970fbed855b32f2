//! One supervised watch a kind, and what could not be seen.
//!
//! # Guarantees
//! - A list is staged and taken over whole: a half list shows nothing and takes nothing away. No more of it
//!   is held than one object and what a [`Reader`] makes of each.
//! - An error takes nothing away. What is known of a kind stays until the kind is listed anew or a
//!   current discovery document lacks it.
//! - A kind that is refused or fails holds up no other.
//! - Rules that change are applied to what is known already by listing the kinds concerned anew;
//!   until such a list is whole, the verdicts stand.
//! - What the watch told of components is compared with a fresh list now and then; what differs is counted,
//!   and the kind is listed anew.
//! - Of a kind of which few objects are wanted, only metadata is asked for, and each wanted object is read;
//!   which of the two serves better is decided from what comes, and no change is missed at the switch.
//!
//! # Recovery
//! Failures are repeated with a growing, spread wait that only progress resets: an event, a watch that stays
//! open, or a complete list that a watch can go on from. A version that the server has forgotten leads to a new
//! list, whether it says so in the answer or in an event; so does a watch that is refused for what it asks (400, 404,
//! 405, 422), and an event that can't be read when it comes a second time. A list that doesn't come through in one
//! answer is asked for in pages, and in smaller ones. Lists and watches wait as long as the server asks, two minutes
//! at most; other waits end early where many kinds failed and one is answered again, or discovery is.

mod absences;
mod audit;
mod components;
mod cut_json;
mod cut_protobuf;
mod error;
mod feed;
mod fleet;
mod follow;
mod frames;
mod items;
mod json;
mod labels;
mod listing;
mod live_rules;
mod owners;
mod pages;
mod progress;
mod protobuf;
mod reader;
mod schedule;
mod served;
mod snapshot;
#[cfg(test)]
mod tests;
mod transport;
mod trigger;
mod turns;
mod unmarked;
mod wire;

pub use components::{ComponentReader, News, Report};
pub use error::FeedError;
pub use feed::Feed;
pub use fleet::Fleet;
pub use follow::follow;
pub use live_rules::LiveRules;
pub use owners::{Controller, controller_of};
pub use reader::{Compared, Head, Known, Reader, Seen};
pub use snapshot::{addon_kind, snapshot};
pub use turns::Turns;
pub use unmarked::{Unmarked, unmarked};
