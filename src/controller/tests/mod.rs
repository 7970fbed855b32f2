//! The engine with scripted inputs, under paused time.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod causes;
mod outages;
mod remembered;
mod shown;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    addons::{AddonNews, Seen, Written},
    engine::{Engine, Inputs, Outputs, READY_WHEN},
    owners::OwnerSearch,
};
use crate::{
    api::{Addon, AddonSpec, AddonStatus, ComponentStatus, Counts, Identifier, object_name},
    discover::{Catalogue, ResourceName},
    explain::Explainer,
    health::{Rules, SharedRules},
    metrics::Metrics,
    model::{Health, Kind, ObjectRef, StatusReporting, Verdict},
    publish::{Command, MANAGED_BY, MANAGER},
    serve::{Pulse, Readiness},
    summary::{Board, Combination, Membership, Observation, Summary, WatchState},
    watch::{News, Report, Turns},
};

const GRACE: Duration = Duration::from_secs(5);

/// Longer than anything that the engine waits for at its start.
const LONG: Duration = Duration::from_secs(60);

/// How many commands wait for the publisher at most.
const COMMANDS: usize = 64;

struct Bench {
    reports: mpsc::Sender<Report>,
    addons: mpsc::Sender<AddonNews>,
    catalogue: watch::Sender<Option<Arc<Catalogue>>>,
    combine: watch::Sender<Arc<BTreeMap<Identifier, Combination>>>,
    commands: mpsc::Receiver<Command>,
    board: Arc<Board>,
    asked: Arc<Mutex<Vec<String>>>,
    started: Instant,
}

/// The answer of an API server to a path with its query.
type Answer = fn(&str) -> Option<Value>;

impl Bench {
    /// An API server that knows nothing.
    fn new() -> Self {
        Self::asking(|_| None)
    }

    fn asking(answer: Answer) -> Self {
        let (reports, from_reports) = mpsc::channel(64);
        let (addons, from_addons) = mpsc::channel(64);
        let (found, owners) = mpsc::channel(64);
        let (explain, explained) = mpsc::channel(64);
        let (catalogue, discovered) = watch::channel(None);
        let (publisher, commands) = mpsc::channel(COMMANDS);
        let board = Arc::new(Board::default());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let server = tower::service_fn(move |request: http::Request<Body>| {
            let path = request.uri().to_string();
            let response = match answer(&path) {
                Some(json) => http::Response::new(Body::from(json.to_string().into_bytes())),
                None => http::Response::builder().status(404).body(Body::empty()).unwrap(),
            };
            seen.lock().unwrap().push(path);
            async { Ok::<_, Infallible>(response) }
        });
        let client = Client::new(server, "default");
        let rules = SharedRules::new(Rules::builtin().into());
        let outputs = Outputs {
            board: Arc::clone(&board),
            publisher,
            owners: OwnerSearch::new(client.clone(), discovered.clone(), found),
            explainer: Explainer::new(client, discovered.clone(), rules, explain),
            turns: Turns::new(1),
            metrics: Metrics::default(),
            addon_turns: Turns::new(1),
            pulse: Pulse::default(),
            readiness: Readiness::waiting_for(READY_WHEN, "a test"),
        };
        let (combine, combinations) = watch::channel(Arc::default());
        let inputs = Inputs {
            reports: from_reports,
            addons: from_addons,
            owners,
            explained,
            catalogue: discovered,
            combinations,
        };
        tokio::spawn(Engine::new(outputs, GRACE).run(inputs, CancellationToken::new()));
        Self { reports, addons, catalogue, combine, commands, board, asked, started: Instant::now() }
    }

    fn discover(&self, kinds: &[&str]) {
        let named =
            |plural: &&str| ResourceName { group: "lab.example".into(), plural: (*plural).to_owned() };
        let kinds = kinds.iter().map(|plural| (named(plural), kind(plural))).collect();
        self.catalogue.send_replace(Some(Arc::new(Catalogue { kinds, ..Catalogue::default() })));
    }

    /// No document tells what the group serves.
    fn discover_nothing(&self) {
        let stale = ["lab.example".to_owned()].into();
        self.catalogue.send_replace(Some(Arc::new(Catalogue { stale, ..Catalogue::default() })));
    }

    async fn report(&self, plural: &str, news: News) {
        self.reports.send(Report { kind: kind(plural), news }).await.expect("the engine listens");
    }

    async fn list(&self, plural: &str, observations: Vec<Observation>) {
        self.report(plural, News::State(WatchState::Syncing)).await;
        self.report(plural, News::Listed(observations, Vec::new())).await;
        self.report(plural, News::State(WatchState::Synced)).await;
    }

    async fn forbid(&self, plural: &str) {
        self.report(plural, News::State(WatchState::Syncing)).await;
        self.report(plural, News::State(WatchState::Forbidden("no".into()))).await;
    }

    async fn list_addons(&self, addons: Vec<Addon>) {
        let news = AddonNews::Seen(
            Some(Seen::Listed(addons.iter().filter_map(|addon| Written::of(addon, true)).collect())),
            Some(News::Listed(Vec::new(), Vec::new())),
        );
        self.addons.send(news).await.expect("the engine listens");
        self.addons.send(AddonNews::State(WatchState::Synced)).await.expect("the engine listens");
    }

    /// The last that is shown of an add-on until `after` the start.
    async fn last_shown(&mut self, after: Duration) -> Option<Arc<Summary>> {
        let mut last = None;
        while let Ok(Some(command)) = timeout_at(self.started + after, self.commands.recv()).await {
            if let Command::Show(summary) = command {
                last = Some(summary);
            }
        }
        last
    }

    /// What is published until `after` the start, without what the API server holds.
    async fn published(&mut self, after: Duration) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(Some(command)) = timeout_at(self.started + after, self.commands.recv()).await {
            match command {
                Command::Show(summary) => {
                    all.push(format!("{} {}", summary.identifier, summary.status.health));
                }
                Command::Gone(identifier) => all.push(format!("{identifier} gone")),
                Command::Hold => all.push("hold".to_owned()),
                Command::Release => all.push("release".to_owned()),
                Command::Seen(_) => {}
            }
        }
        all
    }
}

fn kind(plural: &str) -> Arc<Kind> {
    Arc::new(Kind {
        group: "lab.example".into(),
        version: "v1".into(),
        kind: plural.trim_end_matches('s').to_owned(),
        plural: plural.to_owned(),
        namespaced: false,
        status: StatusReporting::Yes,
    })
}

/// An object that belongs to the add-on of its own name.
fn object(plural: &str, name: &str) -> Observation {
    let verdict = Verdict {
        health: Health::Healthy,
        reason: "Fine".into(),
        message: String::new(),
        since: None,
        rule: "test".into(),
    };
    Observation {
        object: ObjectRef { kind: kind(plural), namespace: "".into(), name: name.into(), uid: name.into() },
        memberships: vec![Membership { identifier: Identifier::new(name).unwrap(), install: String::new() }],
        controller: None,
        sums_up: None,
        timeline: verdict.into(),
        conditions: Vec::new(),
        version: None,
        informational: false,
        superseded: false,
        facts: Vec::new(),
        generation: None,
    }
}

/// The Addon of [`object`] as we wrote it, with `omitted` components more than it names.
fn addon(plural: &str, name: &str, omitted: i32) -> Addon {
    let component: ComponentStatus = serde_json::from_value(json!({
        "group": "lab.example", "kind": kind(plural).kind, "resource": plural, "version": "v1",
        "name": name, "uid": name, "health": "Healthy", "reason": "Fine", "rule": "test",
    }))
    .unwrap();
    let mut addon =
        Addon::new(&object_name(&Identifier::new(name).unwrap()), AddonSpec { identifier: name.to_owned() });
    addon.metadata.labels = Some(BTreeMap::from([(MANAGED_BY.to_owned(), MANAGER.to_owned())]));
    addon.status = Some(AddonStatus {
        components: vec![component],
        omitted,
        counts: Counts { total: 1 + omitted, ..Counts::default() },
        ..AddonStatus::default()
    });
    addon
}
