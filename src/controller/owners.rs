//! Looks up owners that carry no label, on demand.

use std::{collections::HashSet, sync::Arc, time::Duration};

use kube::Client;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::{
    discover::Catalogue,
    model::Owner,
    watch::{Controller, controller_of},
};

/// How many owners are looked up at the same time.
const CONCURRENT: usize = 8;

/// The first wait where the API server doesn't tell. Each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// So often an owner is asked for, within about a minute, before it is put off.
const ATTEMPTS: u32 = 6;

/// The longest wait that the API server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// An owner that was looked up, and what came of it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) owner: Owner,
    pub(super) namespace: String,
    pub(super) controller: Controller,
}

/// Looks up owners in the background and sends what it finds.
pub(super) struct OwnerSearch {
    client: Client,
    catalogue: watch::Receiver<Option<Arc<Catalogue>>>,
    found: mpsc::Sender<Found>,
    places: Arc<Semaphore>,
    /// The `uid`s of the owners that were asked for and not answered.
    open: HashSet<Box<str>>,
}

impl OwnerSearch {
    pub(super) fn new(
        client: Client,
        catalogue: watch::Receiver<Option<Arc<Catalogue>>>,
        found: mpsc::Sender<Found>,
    ) -> Self {
        Self { client, catalogue, found, places: Arc::new(Semaphore::new(CONCURRENT)), open: HashSet::new() }
    }

    /// Whether everything that was asked for was answered.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Notes an answer.
    pub(super) fn answered(&mut self, found: &Found) {
        self.open.remove(&found.owner.uid);
    }

    /// Looks up `owner`, which controls something in `namespace`.
    pub(super) fn search(&mut self, owner: Owner, namespace: String) {
        if !self.open.insert(owner.uid.clone()) {
            return;
        }
        let (client, catalogue) = (self.client.clone(), self.catalogue.clone());
        let (found, places) = (self.found.clone(), Arc::clone(&self.places));
        tokio::spawn(async move {
            let controller = ask(&client, &catalogue, &places, &owner, &namespace).await;
            let _ = found.send(Found { owner, namespace, controller }).await;
        });
    }
}

/// Asks until the API server tells, says that it won't, or has failed for long.
async fn ask(
    client: &Client,
    catalogue: &watch::Receiver<Option<Arc<Catalogue>>>,
    places: &Semaphore,
    owner: &Owner,
    namespace: &str,
) -> Controller {
    let mut wait = FIRST_WAIT;
    for _ in 0..ATTEMPTS {
        let Ok(place) = places.acquire().await else { return Controller::Unknown };
        // As it is now: the kind may be served only since a moment ago.
        let served = catalogue.borrow().clone().unwrap_or_default();
        let asked = match controller_of(client, &served, owner, namespace).await {
            Ok(controller) => return controller,
            Err(error) if matches!(error.code(), Some(403..=405)) => return Controller::Unknown,
            Err(error) => {
                tracing::debug!(kind = %owner.kind, name = %owner.name, %error, "an owner can't be looked up");
                error.retry_after()
            }
        };
        drop(place);
        tokio::time::sleep(wait.max(asked.unwrap_or_default().min(LONGEST_WAIT))).await;
        wait *= 2;
    }
    Controller::Unknown
}
