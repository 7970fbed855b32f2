//! The plain values that everything else speaks in.

mod component;
mod condition;
pub mod decode;
mod event;
mod explanation;
mod health;
mod object;
pub mod text;

pub use component::{Cause, Fact, Flapping};
pub use condition::{Condition, ConditionStatus};
pub use event::{About, Event};
pub use explanation::Explanation;
pub use health::{Health, Later, OVERDUE, Timeline, Verdict};
pub use object::{GroupKind, Kind, Object, ObjectRef, Owner, StatusReporting, group_version};

/// A point in time, as the Kubernetes API gives it.
pub type Timestamp = k8s_openapi::jiff::Timestamp;

/// A length of time.
pub type SignedDuration = k8s_openapi::jiff::SignedDuration;
