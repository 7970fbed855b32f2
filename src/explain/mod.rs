//! From an ill component down to its cause, on demand.
//!
//! [`explain`] looks at what an object depends on and made, judges each, and goes down where it isn't
//! well: Deployment, ReplicaSet, pod, claim, and what controllers reported in events. Where to look next is
//! decided without a client, in `built_in` for the kinds of Kubernetes and by the `causes` of rules
//! for others. Objects come from a [`Source`]: an API server or files.
//!
//! # Guarantees
//! - Bounded: [`Limits`] say how many objects are looked at and how deep; every object once.
//! - Deterministic: the worst goes first, then what is nearer by kind, then by name.
//! - What can't be looked at is said, and hides nothing else.

mod built_in;
mod by_rule;
mod choose;
mod explainer;
mod files;
mod kinds;
mod lead;
mod mention;
mod pace;
mod report;
mod schedule;
mod selector;
mod server;
mod source;
mod step;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod walk;

pub use explainer::{Explained, Explainer, explain_by_name};
pub use files::Files;
pub use lead::{Listing, Named};
pub use pace::Pace;
pub use selector::Selector;
pub use server::Server;
pub use source::{Lookup, Part, Refusal, Source};
pub use step::{Gap, Says, Step};
use walk::State;
pub use walk::{Limits, explain};
