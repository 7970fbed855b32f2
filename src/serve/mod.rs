//! HTTP: JSON, metrics, probes and a page, all read from the [`Board`] and never from the cluster.
//!
//! | path | gives |
//! |---|---|
//! | `/` and `/addons/{identifier}` | a page of all add-ons and of one |
//! | `/api/v1alpha1/addons` | an `AddonList` without components, and `coverage` |
//! | `/api/v1alpha1/addons/{identifier}` | an `Addon` with every component |
//! | `/metrics` | OpenMetrics text |
//! | `/debug/watches` | how each kind is watched, as JSON |
//! | `/livez`, `/readyz` | probes; `?verbose` says more |
//!
//! # Guarantees
//!
//! - Only `GET` and `HEAD` are answered, and no request body is read.
//! - Listing costs one look-up until the board changes, however many add-ons there are.
//! - Slow and silent clients are cut off; connections and large answers are capped.
//! - Every error of the server is JSON of the form `{"error": {"code", "reason", "message"}}`.

mod addons;
mod bind;
mod coverage;
mod failure;
mod guard;
mod list;
mod page;
mod probe;
mod rendered;
mod run;
mod scrape;
mod watches;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::{
    Router,
    extract::{self, Request},
    middleware,
    routing::get,
};
use bytes::Bytes;
use prometheus_client::registry::Registry;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use self::{
    bind::{BindError, DEFAULT_LISTEN, Listen, check_bind},
    probe::{Pulse, Readiness},
    run::run,
};
use self::{failure::Failure, guard::Hosts, list::List};
use crate::{metrics::Metrics, summary::Board};

/// The most places for answers that are rendered for one client, and held until they are sent. Each is for about
/// a megabyte.
const LARGE_ANSWERS: u32 = 32;

/// What the server answers from. Clones share everything.
#[derive(Clone)]
pub struct State(Arc<Shared>);

struct Shared {
    board: Arc<Board>,
    metrics: Metrics,
    list: List,
    registry: Registry,
    pulse: Pulse,
    readiness: Readiness,
    large_answers: Arc<Semaphore>,
}

impl State {
    /// Answers come from `board` and the counts of `metrics`; the engine keeps `pulse` and
    /// `readiness` up to date.
    pub fn new(board: Arc<Board>, metrics: &Metrics, pulse: Pulse, readiness: Readiness) -> Self {
        Self(Arc::new(Shared {
            registry: scrape::registry(&board, metrics),
            board,
            metrics: metrics.clone(),
            list: List::default(),
            pulse,
            readiness,
            large_answers: Arc::new(Semaphore::new(LARGE_ANSWERS as usize)),
        }))
    }

    /// Room for an answer of about so many megabytes, which is rendered for one client.
    fn large_answer(&self, megabytes: usize) -> Result<OwnedSemaphorePermit, Failure> {
        // The largest of all has all the room.
        let places = u32::try_from(megabytes).unwrap_or(LARGE_ANSWERS).clamp(1, LARGE_ANSWERS);
        Arc::clone(&self.0.large_answers).try_acquire_many_owned(places).map_err(|_| Failure::busy())
    }
}

/// Bytes that keep their place among the large answers until the last of them is sent.
struct Held {
    body: Vec<u8>,
    _place: OwnedSemaphorePermit,
}

impl Held {
    fn bytes(body: Vec<u8>, place: OwnedSemaphorePermit) -> Bytes {
        Bytes::from_owner(Self { body, _place: place })
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

fn router(state: State, hosts: Hosts) -> Router {
    Router::new()
        .route("/", get(page::html))
        .route("/addons/{identifier}", get(page::html))
        .route("/page.css", get(page::css))
        .route("/page.js", get(page::js))
        .route("/icon.svg", get(page::icon))
        .route("/api/v1alpha1/addons", get(addons::list))
        .route("/api/v1alpha1/addons/{identifier}", get(addons::one))
        .route("/livez", get(probe::livez))
        .route("/readyz", get(probe::readyz))
        .route("/metrics", get(scrape::metrics))
        .route("/debug/watches", get(watches::watches))
        .fallback(nothing_here)
        .with_state(state)
        .layer(middleware::from_fn_with_state(hosts, guard::guard))
}

async fn nothing_here(request: Request) -> Failure {
    Failure::no_such_path(request.uri().path())
}

type SharedState = extract::State<State>;
