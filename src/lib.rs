//! What is installed in a Kubernetes cluster, what it is made of, and whether it is well.
//!
//! Any object may carry the label `addons.x-k8s.io/<identifier>`. This library finds those
//! objects, judges each, and sums them up in one `Addon` per identifier. Data flows down this
//! list; a room uses those above it, never those below:
//!
//! - [`model`]: the plain values that everything else speaks in.
//! - [`api`]: the `Addon` and `StatusRule` resources, labels, names and bounds.
//! - [`metrics`]: what the rooms below count for operators.
//! - [`health`]: from one object to its verdict.
//! - [`summary`]: from components to the status of an add-on, incrementally.
//! - [`dump`]: the same objects from files instead of a cluster.
//! - [`connect`]: the connection to the API server.
//! - [`discover`]: which kinds the API server serves, and which come and go.
//! - [`watch`]: one supervised watch a kind, and what could not be seen.
//! - [`explain`]: from an ill component down to its cause, on demand.
//! - [`publish`]: `Addon` objects to the API server, only when something changed.
//! - [`serve`]: HTTP: JSON, metrics and a page.
//! - [`controller`]: those rooms wired into `addon-controller`.
//! - [`ctl`]: the commands of `addonctl`.
//!
//! The rooms down to `summary` know neither clients nor `tokio`.

pub mod api;
pub mod connect;
pub mod controller;
pub mod ctl;
pub mod discover;
pub mod dump;
pub mod explain;
pub mod health;
pub mod metrics;
pub mod model;
pub mod publish;
pub mod serve;
pub mod summary;
pub mod watch;
