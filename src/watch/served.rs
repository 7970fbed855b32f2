//! Which kinds the API server serves, as far as its documents can be taken at their word.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::{StreamExt, future, stream};
use kube::{Client, client::Body};
use tokio::time::Instant;

use super::{
    Feed,
    absences::{Absences, CONFIRMATION},
    schedule::Schedule,
};
use crate::{
    api::MarkerLabel,
    discover::{Catalogue, DiscoverError, ResourceName, Selection, discover},
    metrics::{Discovery, Metrics},
    model::{Kind, Timestamp},
};

/// How long the API server may take to say whether it is ready, and whether it serves a kind.
const READINESS: Duration = Duration::from_secs(5);

/// How long after an API server said that it isn't ready it is asked again what it serves.
const STARTING: Duration = Duration::from_secs(5);

/// How many kinds are asked for at the same time that the documents lack.
const CONCURRENT: usize = 16;

/// Reads what is served when that may have changed.
pub(super) struct Served {
    client: Client,
    selection: Selection,
    metrics: Metrics,
    schedule: Schedule,
    catalogue: Arc<Catalogue>,
    absences: Absences,
    /// What is wrong with discovery, as it was said last.
    complaint: Option<String>,
    /// The kinds that the documents lack and that were kept.
    kept: BTreeSet<ResourceName>,
    /// Nothing is known of the API server since it was last away, or since the start.
    in_doubt: bool,
}

/// What was read.
pub(super) struct Reading {
    pub(super) catalogue: Arc<Catalogue>,
    /// It couldn't be read before.
    pub(super) is_back: bool,
}

impl Served {
    pub(super) fn new(client: Client, selection: Selection, metrics: Metrics) -> Self {
        Self {
            client,
            selection,
            metrics,
            schedule: Schedule::new(Instant::now()),
            catalogue: Arc::default(),
            absences: Absences::default(),
            complaint: None,
            kept: BTreeSet::new(),
            in_doubt: true,
        }
    }

    /// When it is to be read next.
    pub(super) fn due(&self) -> Instant {
        self.schedule.next()
    }

    /// There is a sign of change.
    pub(super) fn sign(&mut self) {
        self.schedule.sign(Instant::now());
    }

    /// Reads what is served, and shows it with the `marker` that objects must carry to be seen; `None` where
    /// that can't be told: what was known holds.
    pub(super) async fn read(&mut self, marker: Option<&MarkerLabel>) -> Option<Reading> {
        self.schedule.begin(Instant::now());
        let mut read = match discover(&self.client, &self.selection, &self.catalogue).await {
            Ok(read) => read,
            Err(error) => {
                self.complain(&error);
                // Whoever answers next may have started only then.
                self.absences.forget();
                self.in_doubt = true;
                self.schedule.failed(Instant::now());
                return None;
            }
        };
        let is_back = self.complaint.take().is_some();
        if is_back {
            tracing::info!("the API server says again which kinds it serves");
        }
        let is_less = !self.catalogue.lacking_in(&read).is_empty();
        read.is_preliminary = (self.in_doubt || is_less) && is_starting(&self.client).await;
        let now = Instant::now();
        if read.is_preliminary {
            self.absences.forget();
            self.in_doubt = true;
            self.schedule.again(now + STARTING);
        } else if std::mem::take(&mut self.in_doubt) {
            // What it serves may lag behind a little.
            self.schedule.sign(now);
        }
        let mut catalogue = self.absences.confirm(&self.catalogue, read, now);
        self.keep_what_answers(&mut catalogue).await;
        if self.absences.is_open() {
            self.schedule.again(now + CONFIRMATION);
        }
        self.schedule.read(catalogue != *self.catalogue);
        self.metrics.discovered(Discovery {
            read: Some(Timestamp::now()),
            stale: catalogue.stale.iter().cloned().collect(),
            excluded: catalogue.excluded.values().cloned().collect(),
            unwatchable: catalogue.unwatchable.values().cloned().collect(),
            marker: marker.map(MarkerLabel::to_string),
            error: None,
        });
        self.catalogue = Arc::new(catalogue);
        Some(Reading { catalogue: Arc::clone(&self.catalogue), is_back })
    }

    /// Keeps the kinds that the documents lack and that can be listed all the same: a document that lacks a group
    /// would have its add-ons deleted.
    async fn keep_what_answers(&mut self, catalogue: &mut Catalogue) {
        let mut lacking = self.catalogue.lacking_in(catalogue);
        lacking.retain(|(_, kind)| !catalogue.serves(&kind.group_kind()));
        let client = &self.client;
        let kept: BTreeMap<ResourceName, Arc<Kind>> = stream::iter(lacking)
            .map(|(name, kind)| async move { answers(client.clone(), &kind).await.then_some((name, kind)) })
            .buffer_unordered(CONCURRENT)
            .filter_map(future::ready)
            .collect()
            .await;
        for (name, kind) in kept.iter().filter(|(name, _)| !self.kept.contains(*name)) {
            let kind = kind.resource_name();
            tracing::warn!(%kind, plural = %name.plural, "no document tells that it is served; it can be listed, and is kept");
            // Its end may be near.
            self.schedule.sign(Instant::now());
        }
        // Of one that the documents tell again it is said anew.
        self.kept.retain(|name| kept.contains_key(name) || self.absences.has(name));
        self.kept.extend(kept.keys().cloned());
        catalogue.kinds.extend(kept);
    }

    fn complain(&mut self, error: &DiscoverError) {
        let said = error.to_string();
        self.metrics.undiscovered(&said);
        if self.complaint.as_ref() != Some(&said) {
            tracing::warn!(%error, "what was known of the API server's kinds is kept");
            self.complaint = Some(said);
        }
    }
}

/// Whether a kind can be listed, or it can't be told. What isn't served is answered 404, or 403 where one may not
/// ask for it.
async fn answers(client: Client, kind: &Arc<Kind>) -> bool {
    let feed = Feed::uncounted(client, Arc::clone(kind)).of_metadata().patient(READINESS);
    match feed.list(1, "").await {
        Ok(_) => true,
        Err(error) => !matches!(error.code(), Some(403 | 404)),
    }
}

/// Whether the API server says itself that it isn't ready, or says nothing. One that doesn't tell
/// everybody counts as ready.
async fn is_starting(client: &Client) -> bool {
    let Ok(request) = http::Request::get("/readyz").body(Body::empty()) else { return false };
    match tokio::time::timeout(READINESS, client.send(request)).await {
        Ok(Ok(answer)) => answer.status().is_server_error(),
        Ok(Err(_)) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::unwrap_used)]

    use std::{convert::Infallible, sync::Mutex};

    use http::{Request, Response};
    use serde_json::{Value, json};

    use super::*;

    /// What an API server says at some time.
    #[derive(Clone, Copy)]
    struct Says {
        /// The kinds in its documents, by their plurals.
        documents: &'static [&'static str],
        /// What it answers to who lists one, whatever the documents say.
        list: u16,
        readyz: u16,
    }

    const UP: Says = Says { documents: &["cogs", "gears"], list: 200, readyz: 200 };

    fn document(plurals: &[&str]) -> Value {
        let resources: Vec<Value> = plurals
            .iter()
            .map(|plural| json!({"resource": plural, "scope": "Cluster", "verbs": ["list", "watch"],
                "responseKind": {"group": "lab.example", "version": "v1", "kind": plural.trim_end_matches('s')}}))
            .collect();
        json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": [
            {"metadata": {"name": "lab.example"}, "versions": [{"version": "v1", "freshness": "Current", "resources": resources}]}
        ]})
    }

    fn answer(says: Says, path: &str) -> Response<Body> {
        let (code, body) = match path {
            "/apis" | "/api" => (200, document(says.documents)),
            "/readyz" => (says.readyz, json!("ok")),
            _ => (says.list, json!({"metadata": {"resourceVersion": "1"}, "items": []})),
        };
        let body = Body::from(body.to_string().into_bytes());
        let response = Response::builder().status(code).header("content-type", "application/json");
        response.body(body).unwrap()
    }

    struct Bench {
        says: Arc<Mutex<Says>>,
        served: Served,
    }

    impl Bench {
        /// One that has read what `says` says.
        async fn reading(says: Says) -> Self {
            let says = Arc::new(Mutex::new(says));
            let now = Arc::clone(&says);
            let service = tower::service_fn(move |request: Request<Body>| {
                let answer = answer(*now.lock().unwrap(), request.uri().path());
                async { Ok::<_, Infallible>(answer) }
            });
            let client = Client::new(service, "default");
            let mut bench =
                Self { says, served: Served::new(client, Selection::default(), Metrics::default()) };
            bench.until(Duration::ZERO, says_now(&bench)).await;
            bench
        }

        /// What is taken for served once it has said something for so long.
        async fn until(&mut self, after: Duration, says: Says) -> Vec<String> {
            *self.says.lock().unwrap() = says;
            let end = Instant::now() + after;
            loop {
                let reading = self.served.read(None).await.expect("it can be read");
                let plurals = reading.catalogue.kinds.keys().map(|name| name.plural.clone()).collect();
                if self.served.due() > end {
                    return plurals;
                }
                tokio::time::sleep_until(self.served.due()).await;
            }
        }
    }

    fn says_now(bench: &Bench) -> Says {
        *bench.says.lock().unwrap()
    }

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_kind_goes_that_no_document_tells_and_nobody_answers_for() {
        for code in [404, 403] {
            let mut bench = Bench::reading(UP).await;
            assert_eq!(bench.until(SOON, Says { documents: &["cogs"], list: code, ..UP }).await, ["cogs"]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_can_be_listed_stays_whatever_the_documents_say() {
        for code in [200, 500, 503] {
            let mut bench = Bench::reading(UP).await;
            let lacking = Says { documents: &["cogs"], list: code, ..UP };
            assert_eq!(bench.until(SOON * 60, lacking).await, ["cogs", "gears"], "{code}");
            assert_eq!(bench.until(SOON * 60, Says { list: 404, ..lacking }).await, ["cogs"], "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_api_server_that_is_not_ready_takes_nothing_away_and_is_asked_again_soon() {
        let mut bench = Bench::reading(UP).await;
        let starting = Says { documents: &["cogs"], list: 404, readyz: 500 };
        assert_eq!(bench.until(SOON, starting).await, ["cogs", "gears"]);

        let mut bench = Bench::reading(starting).await;
        assert!(bench.served.catalogue.is_preliminary);
        assert!(bench.served.due() <= Instant::now() + STARTING);
        assert_eq!(bench.until(SOON, UP).await, ["cogs", "gears"]);
        assert!(!bench.served.catalogue.is_preliminary);
    }
}
