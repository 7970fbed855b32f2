//! The engine with scripted inputs, under paused time.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
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
    model::{Health, Kind, ObjectRef, SignedDuration, StatusReporting, Timestamp, Verdict},
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
    let component: ComponentStatus = serde_json::from_value(serde_json::json!({
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

#[tokio::test(start_paused = true)]
async fn what_was_listed_is_shown_and_goes_after_the_grace() {
    let mut bench = Bench::new();
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    assert_eq!(bench.published(Duration::from_secs(1)).await, ["a Healthy"]);
    bench.report("gears", News::Gone("a".into())).await;
    assert!(bench.published(Duration::from_secs(1) + GRACE / 2).await.is_empty());
    assert_eq!(bench.published(LONG).await, ["a gone"]);
    assert!(bench.board.get("a").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_addon_list_that_comes_late_deletes_nothing() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.forbid("gears").await;
    bench.list("cogs", vec![object("cogs", "b")]).await;
    assert!(bench.published(Duration::from_secs(30)).await.is_empty(), "it isn't known what there was");
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    assert_eq!(bench.published(LONG).await, ["a Unknown", "b Healthy"]);
}

#[tokio::test(start_paused = true)]
async fn addons_that_cannot_be_listed_hold_up_only_what_is_written() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.forbid("gears").await;
    bench.list("cogs", vec![object("cogs", "b")]).await;
    bench.addons.send(AddonNews::State(WatchState::Failing("down".into()))).await.unwrap();
    assert_eq!(bench.published(Duration::from_secs(30)).await, ["b Healthy"]);
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    let published = bench.published(LONG * 2).await;
    assert!(published.contains(&"a Unknown".to_owned()), "{published:?}");
    assert!(!published.iter().any(|what| what.ends_with("gone")), "{published:?}");
}

#[tokio::test(start_paused = true)]
async fn a_kind_of_the_catalogue_that_is_not_followed_yet_keeps_what_is_remembered() {
    let mut bench = Bench::new();
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    bench.discover(&["gears"]);
    assert_eq!(bench.published(LONG).await, ["a Healthy"]);
    bench.list("gears", Vec::new()).await;
    assert_eq!(bench.published(LONG * 2).await, ["a gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_takes_its_remembered_components_along() {
    let mut bench = Bench::new();
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    bench.discover(&[]);
    assert_eq!(
        bench.published(Duration::from_secs(5)).await,
        ["a Healthy"],
        "the document may be incomplete"
    );
    assert_eq!(bench.published(LONG).await, ["a gone"]);
}

#[tokio::test(start_paused = true)]
async fn the_kind_that_can_not_be_seen_is_named_before_its_add_ons_are_unknown() {
    let mut bench = Bench::new();
    bench.discover(&["gears"]);
    // More than the publisher takes at once.
    let gears = (0..3 * COMMANDS).map(|n| object("gears", &format!("a{n}"))).collect();
    bench.list("gears", gears).await;
    bench.list_addons(Vec::new()).await;
    assert_eq!(bench.published(LONG).await.len(), 3 * COMMANDS);
    bench.report("gears", News::State(WatchState::Failing("down".into()))).await;
    let first = bench.commands.recv().await;
    assert!(
        matches!(&first, Some(Command::Show(summary)) if summary.status.health == "Unknown"),
        "{first:?}"
    );
    let coverage = bench.board.coverage();
    let named = coverage.iter().any(|covered| covered.state == WatchState::Failing("down".into()));
    assert!(named, "{coverage:?}");
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_not_ready_may_serve_more_in_a_moment() {
    let mut bench = Bench::new();
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    let starting = Catalogue { is_preliminary: true, ..Catalogue::default() };
    bench.catalogue.send_replace(Some(Arc::new(starting)));
    assert_eq!(bench.published(LONG).await.last().map(String::as_str), Some("a Unknown"));
    bench.discover(&["gears"]);
    bench.list("gears", vec![object("gears", "a")]).await;
    assert_eq!(bench.published(LONG * 2).await, ["a Healthy"]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_combine_hold_from_the_first_summary_on() {
    let mut bench = Bench::new();
    let combine = |informational: &str| {
        let rule = serde_json::json!({"identifiers": ["dns"], "informational": [{"names": [informational]}]});
        Arc::new(Combination::of([&serde_json::from_value(rule).unwrap()]))
    };
    let mut bad = object("gears", "bad");
    bad.memberships[0].identifier = Identifier::new("dns").unwrap();
    bad.timeline.first.health = Health::Degraded;
    bench.discover(&["gears"]);
    bench.combine.send_replace(combine("bad"));
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "dns"), bad]).await;
    assert_eq!(bench.published(LONG).await, ["dns Healthy"]);
    bench.combine.send_replace(combine("none"));
    assert_eq!(bench.published(LONG * 2).await, ["dns Degraded"]);
    bench.combine.send_replace(Arc::default());
    assert!(bench.published(LONG * 3).await.is_empty(), "it says the same");
}

#[tokio::test(start_paused = true)]
async fn a_last_word_after_the_end_is_not_heard() {
    let mut bench = Bench::new();
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    bench.report("gears", News::Left).await;
    bench.report("gears", News::Changed(Box::new(object("gears", "a")))).await;
    bench.report("gears", News::State(WatchState::Synced)).await;
    let published = bench.published(LONG).await;
    assert_eq!(published.last().map(String::as_str), Some("a gone"), "{published:?}");
    assert!(bench.board.coverage().iter().all(|covered| covered.kind.plural != "gears"));
}

#[tokio::test(start_paused = true)]
async fn a_cut_addon_goes_once_its_components_were_seen_to_go() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.forbid("cogs").await;
    bench.list_addons(vec![addon("gears", "a", 0), addon("gears", "b", 1)]).await;
    bench.list("gears", Vec::new()).await;
    // Where not all were named, the rest may be of the kind that can't be listed.
    assert_eq!(bench.published(LONG).await, ["a gone"]);
    bench.list("cogs", Vec::new()).await;
    assert_eq!(bench.published(LONG * 2).await, ["b gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_cut_addon_keeps_its_count_until_all_kinds_were_listed() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.list_addons(vec![addon("gears", "a", 7)]).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    bench.report("cogs", News::State(WatchState::Syncing)).await;
    let ready = |summary: Option<Arc<Summary>>| summary.map(|shown| shown.status.ready.clone());
    assert_eq!(ready(bench.last_shown(LONG).await).as_deref(), Some("8/8"), "what was known holds");
    bench.report("cogs", News::State(WatchState::Failing("down".into()))).await;
    let shown = bench.last_shown(LONG * 2).await.expect("it is shown anew");
    assert_eq!(
        (&*shown.status.health, &*shown.status.ready, shown.status.counts.total),
        ("Unknown", "1/8", 8)
    );
    assert_eq!(shown.whole().omitted, 7);
    bench.list("cogs", Vec::new()).await;
    assert_eq!(ready(bench.last_shown(LONG * 3).await).as_deref(), Some("1/1"));
}

#[tokio::test(start_paused = true)]
async fn a_new_catalogue_is_heard_whatever_else_comes_with_it() {
    for _ in 0..8 {
        let mut bench = Bench::new();
        bench.list_addons(vec![addon("gears", "a", 0)]).await;
        bench.discover_nothing();
        assert_eq!(bench.published(Duration::from_secs(30)).await, ["a Unknown"]);
        let coverage = bench.board.coverage();
        let unserved = coverage.iter().filter(|kind| kind.state.as_str() == "unserved");
        assert_eq!(unserved.map(|kind| &*kind.kind.plural).collect::<Vec<_>>(), ["gears"]);
        bench.discover(&[]);
        bench.report("cogs", News::State(WatchState::Syncing)).await;
        let published = bench.published(LONG).await;
        assert_eq!(published.last().map(String::as_str), Some("a gone"), "{published:?}");
    }
}

/// An object that waits and doesn't say since when.
fn waiting(plural: &str, name: &str) -> Observation {
    let mut waiting = object(plural, name);
    waiting.timeline.first.health = Health::Progressing;
    waiting.timeline.patience = Some(SignedDuration::from_mins(10));
    waiting
}

#[tokio::test(start_paused = true)]
async fn a_restart_counts_on_from_what_was_written() {
    let since = |minutes: i64| {
        let time = Timestamp::now() - SignedDuration::from_mins(minutes);
        Time(Timestamp::from_second(time.as_second()).unwrap())
    };
    for (minutes, health, reason, message) in [
        (4, "Progressing", "Fine", ""),
        (40, "Degraded", "ProgressDeadlineExceeded", "for more than 10 minutes: Fine"),
    ] {
        let mut written = addon("gears", "a", 0);
        let components = {
            let status = written.status.as_mut().unwrap();
            let component = &mut status.components[0];
            (component.health, component.reason) = (health.to_owned(), reason.to_owned());
            component.message = message.to_owned();
            component.since = Some(since(minutes));
            status.components.clone()
        };
        for addons_come in ["first", "last", "late"] {
            let mut bench = Bench::new();
            bench.discover(&["gears"]);
            if addons_come == "first" {
                bench.list_addons(vec![written.clone()]).await;
            }
            bench.list("gears", vec![waiting("gears", "a")]).await;
            if addons_come == "late" {
                bench.addons.send(AddonNews::State(WatchState::Failing("down".into()))).await.unwrap();
                let early = bench.last_shown(LONG).await.expect("what is known so far");
                assert_eq!(early.status.health, "Progressing");
            }
            if addons_come != "first" {
                bench.list_addons(vec![written.clone()]).await;
            }
            let shown = bench.last_shown(LONG * 2).await.expect("an add-on");
            assert_eq!(shown.whole().components, components, "{addons_come}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_follows_from_an_outage_is_shown_and_not_published() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    bench.list("cogs", Vec::new()).await;
    assert_eq!(bench.published(LONG).await, ["a Healthy"]);
    let down = || WatchState::Failing("down".into());
    bench.addons.send(AddonNews::State(down())).await.unwrap();
    // That is heard before anything else is.
    assert!(bench.published(LONG + Duration::from_secs(1)).await.is_empty());
    bench.report("cogs", News::State(down())).await;
    bench.report("gears", News::State(down())).await;
    assert_eq!(bench.published(LONG * 5).await, ["hold", "a Unknown"]);
    bench.addons.send(AddonNews::State(WatchState::Synced)).await.unwrap();
    bench.report("gears", News::State(WatchState::Synced)).await;
    assert_eq!(bench.published(LONG * 5 + Duration::from_secs(10)).await, ["a Healthy"]);
    // What still fails then holds up nobody.
    assert_eq!(bench.published(LONG * 5 + Duration::from_secs(20)).await, ["release"]);
}

/// A gear that waits, and an event about it.
fn waiting_gear(path: &str) -> Option<Value> {
    let about = json!({"kind": "gear", "name": "a", "uid": "a"});
    let gear = json!({
        "metadata": {"name": "a", "uid": "a"},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "Waiting"}]},
    });
    match path {
        "/apis/lab.example/v1/gears?limit=500&fieldSelector=metadata.name%3Da" => {
            Some(json!({"kind": "gearList", "items": [gear]}))
        }
        "/api/v1/namespaces/default/events?limit=500&fieldSelector=involvedObject.uid%3Da" => Some(json!({
            "kind": "EventList",
            "items": [{"type": "Warning", "reason": "NoOil", "message": "dry", "involvedObject": about}],
        })),
        _ => None,
    }
}

fn ill(name: &str) -> Observation {
    let mut gear = object("gears", name);
    gear.timeline.first.health = Health::Progressing;
    gear
}

#[tokio::test(start_paused = true)]
async fn a_cause_is_looked_for_while_a_component_is_ill() {
    let mut bench = Bench::asking(waiting_gear);
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![ill("a"), object("gears", "b")]).await;
    let hour = Duration::from_secs(3600);
    assert_eq!(
        bench.published(hour).await,
        ["a Progressing", "b Healthy", "a Progressing"],
        "once without and once with the cause, however often it is found"
    );
    let shown = bench.board.get("a").unwrap();
    assert_eq!(shown.status.message, "1 of 1 not healthy: gear a: NoOil: dry");
    assert_eq!(shown.whole().components[0].cause.as_ref().unwrap().reason, "NoOil");
    let looks = bench.asked.lock().unwrap().iter().filter(|path| path.contains("/gears?")).count();
    // After 1, 6, 16, 36, 76, 156 and 316 seconds, and then every five minutes.
    assert!((15..=18).contains(&looks), "{looks}");

    bench.report("gears", News::Changed(Box::new(object("gears", "a")))).await;
    assert_eq!(bench.published(hour * 2).await, ["a Healthy"]);
    let after = bench.asked.lock().unwrap().iter().filter(|path| path.contains("/gears?")).count();
    assert_eq!(looks, after, "what is well isn't looked at");
}

#[tokio::test(start_paused = true)]
async fn a_cause_that_can_not_be_asked_for_stays_as_it_was_found() {
    static ASKED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let mut bench = Bench::asking(|path| {
        let first =
            !path.contains("/gears?") || ASKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        // Later the server answers something that is no list.
        if first { waiting_gear(path) } else { Some(json!({"kind": "Status"})) }
    });
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![ill("a")]).await;
    assert_eq!(bench.published(LONG).await, ["a Progressing", "a Progressing"]);
    assert!(ASKED.load(std::sync::atomic::Ordering::Relaxed) > 3);
    assert!(bench.board.get("a").unwrap().status.message.ends_with("NoOil: dry"));
}
