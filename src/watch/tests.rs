//! A follower against a scripted API server, under paused time.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod audit;
mod faults;
mod progress;
mod relisting;
mod transport;

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{ComponentReader, Feed, LiveRules, News, Report, Turns, follow};
use crate::{
    api::LabelPrefix,
    metrics::{Metrics, WatchMetrics},
    model::{Kind, StatusReporting},
};

/// What the server answers to one request.
enum Answer {
    /// Lines, and then silence until the time is over that was asked for.
    Open(Vec<String>),
    /// Lines, and then silence for ever.
    Stuck(Vec<String>),
    /// After this time, that.
    Slow(Duration, Box<Answer>),
    /// Lines, and then a bookmark a minute.
    Beating(Vec<String>),
    /// Lines, and then the end.
    Closed(Vec<String>),
    /// One line after the other, for as long as somebody reads them.
    Endless(String),
    /// A status and a body.
    Whole(u16, String),
    /// A refusal that asks to wait for so many seconds.
    Later(u16, u64),
    /// Not even a beginning.
    Never,
}

/// A server that gives these answers in turn, and is silent after them.
struct Server {
    answers: Mutex<VecDeque<Answer>>,
    /// The query of each request, and whether it was for metadata.
    asked: Mutex<Vec<(String, bool)>>,
}

type Answered = Response<UnsyncBoxBody<Bytes, std::io::Error>>;

impl Server {
    /// `None` where nothing is answered.
    fn answer(&self, request: &Request<Body>) -> Option<Answered> {
        let accept =
            request.headers().get(http::header::ACCEPT).map_or("", |accept| accept.to_str().unwrap());
        let query = request.uri().query().unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push((query.clone(), accept.contains("as=PartialObjectMetadata")));
        let mut pause = Duration::ZERO;
        let mut beats = 0;
        let mut retry_after = None;
        let mut endless = None;
        let answer = match self.answers.lock().unwrap().pop_front() {
            Some(Answer::Slow(after, answer)) => {
                pause = after;
                Some(*answer)
            }
            answer => answer,
        };
        let seconds =
            query.split_once("timeoutSeconds=").and_then(|(_, rest)| rest.split('&').next()?.parse().ok());
        let mut lasts = seconds.map(Duration::from_secs);
        let (status, lines, is_open) = match answer {
            Some(Answer::Open(lines)) => (200, lines, true),
            Some(Answer::Stuck(lines)) => {
                lasts = None;
                (200, lines, true)
            }
            Some(Answer::Beating(lines)) => {
                beats = usize::MAX;
                (200, lines, true)
            }
            Some(Answer::Closed(lines)) => (200, lines, false),
            Some(Answer::Endless(line)) => {
                endless = Some(line);
                (200, Vec::new(), true)
            }
            Some(Answer::Whole(status, body)) => (status, vec![body], false),
            Some(Answer::Later(status, seconds)) => {
                retry_after = Some(seconds);
                (status, vec!["{}".to_owned()], false)
            }
            Some(Answer::Never | Answer::Slow(..)) => return None,
            None => (200, Vec::new(), true),
        };
        let lines = stream::once(tokio::time::sleep(pause)).flat_map(move |()| stream::iter(lines.clone()));
        let beats = stream::iter(0..beats).then(|_| async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            r#"{"type":"BOOKMARK","object":{"kind":"Gear","metadata":{"resourceVersion":"5"}}}"#.to_owned()
        });
        let endless = stream::iter(endless).flat_map(|line| stream::iter(std::iter::repeat(line)));
        let frames = lines
            .chain(beats)
            .chain(endless)
            .map(|line| Ok(hyper::body::Frame::data(Bytes::from(format!("{line}\n")))));
        let silence = stream::iter(is_open.then_some(())).then(move |()| async move {
            match lasts {
                Some(lasts) => tokio::time::sleep(lasts).await,
                None => std::future::pending().await,
            }
        });
        let body = StreamBody::new(frames.chain(silence.filter_map(|()| async { None }))).boxed_unsync();
        let mut response = Response::builder().status(status);
        if let Some(seconds) = retry_after {
            response = response.header(http::header::RETRY_AFTER, seconds);
        }
        Some(response.body(body).unwrap())
    }
}

struct Bench {
    server: Arc<Server>,
    turns: Turns,
    news: mpsc::Receiver<Report>,
    rules: LiveRules,
    metrics: Arc<WatchMetrics>,
}

fn start(answers: Vec<Answer>) -> Bench {
    start_with(answers, |feed| feed)
}

fn start_with(answers: Vec<Answer>, with: impl Fn(Feed) -> Feed) -> Bench {
    let server = Arc::new(Server { answers: Mutex::new(answers.into()), asked: Mutex::default() });
    let serving = Arc::clone(&server);
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = serving.answer(&request);
        async move {
            match answer {
                Some(answer) => Ok::<_, Infallible>(answer),
                None => std::future::pending().await,
            }
        }
    });
    let kind = Arc::new(Kind {
        group: "lab.example".into(),
        version: "v1".into(),
        kind: "Gear".into(),
        plural: "gears".into(),
        namespaced: false,
        status: StatusReporting::Yes,
    });
    let metrics = Metrics::default().watch(&kind);
    let feed = with(Feed::new(Client::new(service, "default"), Arc::clone(&kind), Arc::clone(&metrics)));
    let rules = LiveRules::default();
    let reader = ComponentReader::new(Arc::clone(&kind), LabelPrefix::default(), rules.shared());
    let (sender, news) = mpsc::channel(64);
    let turns = Turns::new(4).under(&rules, &kind);
    tokio::spawn(follow(feed, reader, sender, turns.clone(), CancellationToken::new()));
    Bench { server, turns, news, rules, metrics }
}

impl Bench {
    /// What is reported until nothing was for `quiet`.
    async fn reported(&mut self, quiet: Duration) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(Some(report)) = timeout(quiet, self.news.recv()).await {
            all.push(match report.news {
                News::Listed(mut observations, _) => {
                    observations.sort_by(|a, b| a.object.name.cmp(&b.object.name));
                    let names: Vec<_> = observations.iter().map(|o| o.object.name.to_string()).collect();
                    format!("listed {}", names.join(","))
                }
                News::Changed(observation) => format!("changed {}", observation.object.name),
                News::Gone(key) => format!("gone {key}"),
                News::State(state) => format!("{} {}", state.as_str(), state.message().unwrap_or_default()),
                News::Left => "left".to_owned(),
            });
        }
        all
    }

    fn queries(&self) -> Vec<String> {
        self.server.asked.lock().unwrap().iter().map(|(query, _)| query.clone()).collect()
    }

    /// How many failures were counted.
    fn errors(&self) -> u64 {
        self.metrics.counts().errors.values().sum()
    }

    /// How many objects were counted as known otherwise than a list shows them.
    fn drift(&self) -> u64 {
        self.metrics.drifted()
    }

    fn asked(&self) -> Vec<&'static str> {
        let sort = |(query, _): &(String, bool)| match query.as_str() {
            query if query.contains("fieldSelector=metadata.name") => "read",
            query if query.contains("limit=") => "page",
            _ => "watch",
        };
        self.server.asked.lock().unwrap().iter().map(sort).collect()
    }
}

const QUIET: Duration = Duration::from_secs(1);

fn event(kind: &str, name: &str, version: u32, label: bool) -> String {
    let labels = if label { r#"{"addons.x-k8s.io/a":""}"# } else { "{}" };
    format!(
        r#"{{"type":"{kind}","object":{{"kind":"Gear","metadata":{{"name":"{name}","uid":"{name}","resourceVersion":"{version}","labels":{labels}}}}}}}"#
    )
}

fn error(code: u16, message: &str) -> String {
    format!(r#"{{"type":"ERROR","object":{{"kind":"Status","code":{code},"message":"{message}"}}}}"#)
}

/// A list of labelled objects with these names, as of that version.
fn list(names: &[&str], version: u32) -> Answer {
    page(names, version, "")
}

/// A page of such a list; `token` asks for the next.
fn page(names: &[&str], version: u32, token: &str) -> Answer {
    let items: Vec<String> = names.iter().map(|name| item(name, true)).collect();
    list_of(&items, version, token)
}

fn item(name: &str, label: bool) -> String {
    let labels = if label { r#"{"addons.x-k8s.io/a":""}"# } else { "{}" };
    format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}","labels":{labels}}}}}"#)
}

fn list_of(items: &[String], version: u32, token: &str) -> Answer {
    Answer::Whole(
        200,
        format!(
            r#"{{"kind":"GearList","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[{}]}}"#,
            items.join(",")
        ),
    )
}

#[tokio::test(start_paused = true)]
async fn with_a_marker_every_list_and_watch_is_of_what_carries_it() {
    // Two pages, then a watch that has expired.
    let answers = vec![
        page(&["a"], 9, "t"),
        page(&["b"], 9, ""),
        Answer::Whole(410, "{}".into()),
        list(&["a"], 10),
        Answer::Open(vec![event("DELETED", "a", 11, true)]),
    ];
    let mut bench = start_with(answers, |feed| feed.of_labels("x/marked"));
    let reported = bench.reported(QUIET).await;
    assert_eq!(reported, ["listed a,b", "synced ", "listed a", "gone a"]);
    let queries = bench.queries();
    assert_eq!(bench.asked(), ["page", "page", "watch", "page", "watch"]);
    assert!(queries.iter().all(|query| query.ends_with("&labelSelector=x%2Fmarked")), "{queries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_is_followed_by_what_changes_after_it() {
    let items = [item("a", true), item("plain", false)];
    let mut bench = start(vec![
        list_of(&items, 5, ""),
        Answer::Open(vec![
            event("MODIFIED", "plain", 6, false),
            event("MODIFIED", "plain", 7, true),
            event("MODIFIED", "a", 8, false),
            event("DELETED", "plain", 9, true),
            event("DELETED", "never-labelled", 10, false),
        ]),
    ]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced ", "changed plain", "gone a", "gone plain"]);
    assert_eq!(bench.asked(), ["page", "watch"]);
    assert!(bench.queries()[1].ends_with("resourceVersion=5"));
}

#[tokio::test(start_paused = true)]
async fn a_half_list_takes_nothing_away() {
    let mut bench = start(vec![
        list(&["a"], 2),
        Answer::Closed(vec![error(410, "too old")]),
        page(&["b"], 3, "next"),
        Answer::Whole(500, "{}".into()),
        list(&["a", "b"], 4),
    ]);
    let reported = bench.reported(Duration::from_secs(20)).await;
    assert_eq!(reported, ["listed a", "synced ", "listed a,b"]);
    assert_eq!(bench.asked(), ["page", "watch", "page", "page", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_list_removes_nothing() {
    let mut bench = start(vec![Answer::Whole(200, "{}".into()), list(&["a"], 9)]);
    let reported = bench.reported(Duration::from_secs(10)).await;
    assert_eq!(
        reported[0],
        "failing the API server's answer can't be read: a list was asked for, and '' came"
    );
    assert_eq!(reported[1..], ["listed a", "synced "]);
}

#[tokio::test(start_paused = true)]
async fn what_is_told_is_what_holds() {
    // Every watch opens and fails at once, with the same words.
    let mut answers = vec![list(&["a"], 2)];
    answers.extend((0..7).map(|_| Answer::Closed(vec![error(500, "webhook")])));
    let mut bench = start(answers);
    let reported = bench.reported(Duration::from_secs(100)).await;
    // Then the server is silent: a watch that stays open works.
    assert_eq!(reported, ["listed a", "synced ", "failing webhook (500)", "synced "]);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_cut_off_and_garbage_are_failures_of_this_watch_only() {
    let mut bench = start(vec![
        list(&[], 2),
        Answer::Open(vec![event("ADDED", "a", 3, true), "<html>".into()]),
        Answer::Open(vec![event("ADDED", "b", 4, true)]),
    ]);
    assert_eq!(
        bench.reported(Duration::from_secs(5)).await,
        ["listed ", "synced ", "changed a", "changed b"]
    );
    assert_eq!(bench.asked(), ["page", "watch", "watch"]);
}
