//! The controller on a real API server that fails, behind a proxy that makes it fail.
//!
//! In each test the add-ons are recorded while the fault lasts (nothing turns green or goes that
//! shouldn't), and compared with what follows from a fresh list once it is over. The numbers are
//! those of the list of faults in issue 5.
#![allow(missing_docs, clippy::expect_used, clippy::unwrap_used)]

mod aggregated;
mod api_server;
mod churn;
mod discovery;
mod history;
mod kinds;
mod lane;
mod leak;
mod lists;
mod oracle;
mod partition;
mod process;
mod rights;
mod shapes;
mod stage;
mod store;
mod watches;
mod writes;

#[path = "../live/support.rs"]
#[allow(dead_code)] // Each of the two programs needs another part of it.
mod support;
