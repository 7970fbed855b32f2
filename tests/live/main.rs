//! The controller and `addonctl` on a real API server, as their users meet them.
#![allow(missing_docs, clippy::expect_used, clippy::unwrap_used)]

mod arrivals;
mod coverage;
mod doctor;
mod explain;
mod ills;
mod install;
mod manifests;
mod publish;
mod rules;
mod support;
mod surfaces;
