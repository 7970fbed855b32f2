#![allow(clippy::expect_used)]

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kube::{Client, Config, client::Body};
use tokio::{
    net::TcpListener,
    time::{Instant, sleep, timeout},
};

use super::{body::Piped, *};
use crate::eventually;

const WATCH: &str = "/api/v1/pods?watch=true";
const LIST: &str = "/api/v1/pods?limit=500";
const SOON: Duration = Duration::from_secs(10);

/// A server whose lists say what was asked for, and whose watches say a line of ten bytes every 20 ms.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(|request: Request<hyper::body::Incoming>| async move {
                let (to, from) = tokio::sync::mpsc::channel(1);
                let uri = request.uri().clone();
                let auth = request.headers().get("authorization").cloned();
                tokio::spawn(async move {
                    if uri.query().is_some_and(|query| query.contains("watch")) {
                        while to.send(Ok(Bytes::from("123456789\n"))).await.is_ok() {
                            sleep(Duration::from_millis(20)).await;
                        }
                    } else {
                        let _ = to.send(Ok(format!("{uri} {auth:?}").into())).await;
                    }
                });
                Ok::<_, std::io::Error>(http::Response::new(Piped::of(from)))
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

struct Stage {
    proxy: Proxy,
    client: Client,
}

struct Got {
    status: u16,
    headers: HeaderMap,
    body: Body,
}

impl Got {
    async fn chunk(&mut self) -> Option<Result<Bytes, kube::Error>> {
        let frame = timeout(SOON, self.body.frame()).await.expect("something comes")?;
        Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
    }

    /// All that comes, and whether the answer came to its end.
    async fn rest(mut self) -> (String, bool) {
        let mut text = String::new();
        loop {
            match self.chunk().await {
                Some(Ok(chunk)) => text.push_str(&String::from_utf8_lossy(&chunk)),
                Some(Err(_)) => return (text, false),
                None => return (text, true),
            }
        }
    }
}

impl Stage {
    async fn set() -> Self {
        let url = |address| format!("http://{address}").parse().expect("a URL");
        let proxy = Proxy::before(Config::new(url(server().await))).expect("a proxy");
        let mut config = Config::new(url(proxy.address));
        config.default_retry = false;
        config.auth_info.token = Some("secret".to_owned().into());
        Self { proxy, client: Client::try_from(config).expect("a client") }
    }

    async fn get(&self, path: &str) -> Result<Got, kube::Error> {
        let request = Request::get(path).body(Body::from(Vec::new())).expect("a request");
        let (head, body) = self.client.send(request).await?.into_parts();
        Ok(Got { status: head.status.as_u16(), headers: head.headers, body })
    }

    async fn text(&self, path: &str) -> (u16, String) {
        let got = self.get(path).await.expect("an answer");
        (got.status, got.rest().await.0)
    }
}

#[tokio::test]
async fn what_comes_is_passed_on_and_counted() {
    let stage = Stage::set().await;
    assert_eq!(stage.text(LIST).await, (200, format!("{LIST} Some(\"Bearer secret\")")));
    stage.proxy.page_size(2);
    assert!(stage.text(LIST).await.1.starts_with("/api/v1/pods?limit=2 "));
    let mut watch = stage.get(WATCH).await.expect("a watch");
    for _ in 0..2 {
        let chunk = watch.chunk().await.expect("a chunk").expect("no error");
        assert_eq!(&chunk[..], b"123456789\n", "each as it comes");
    }
    assert_eq!(stage.proxy.count(&When::under("/api/v1/pods").lists()), 2);
    assert_eq!(stage.proxy.count(&When::any().watches()), 1);
    assert_eq!(stage.proxy.busiest()[0], (2, Ask::List, "/api/v1/pods".to_owned()));
    assert!(stage.proxy.connections() > 0);
}

#[tokio::test]
async fn answers_of_its_own_last_as_long_as_they_are_wanted() {
    let stage = Stage::set().await;
    let busy = stage.proxy.inject(When::any().lists(), Fault::Status(429, Some(7)));
    let got = stage.get(LIST).await.expect("an answer");
    assert_eq!((got.status, got.headers["retry-after"].to_str().ok()), (429, Some("7")));
    assert!(got.rest().await.0.contains("TooManyRequests"));
    assert_eq!(busy.happened(), 1);
    drop(busy);
    assert_eq!(stage.text(LIST).await.0, 200);

    let _html = stage.proxy.inject_times(1, When::under("/api/v1/pods"), Fault::Html(200));
    assert!(stage.text(LIST).await.1.contains("<html>"));
    assert_eq!(stage.text("/api/v1/nodes").await.0, 200);
    assert!(stage.text(LIST).await.1.starts_with("/api"), "only once");

    let _edit = stage.proxy.inject(When::any().asks(&[Ask::Discovery]), Fault::Edit(|it| it.to_uppercase()));
    assert!(stage.text("/apis").await.1.starts_with("/APIS"));
    let _expired = stage.proxy.inject(When::any().watches(), Fault::Expired);
    assert!(stage.text(WATCH).await.1.contains("\"code\":410"));
}

#[tokio::test]
async fn watches_end_and_are_cut() {
    let stage = Stage::set().await;
    let watches = || When::any().watches();
    let ends = stage.proxy.inject(watches(), Fault::End(Duration::from_millis(100)));
    let (text, whole) = stage.get(WATCH).await.expect("a watch").rest().await;
    assert!(whole && text.ends_with('\n'), "{text}");
    drop(ends);
    for (how, is_whole) in [(How::Clean, true), (How::Closed, false), (How::Reset, false)] {
        let _cut = stage.proxy.inject(watches(), Fault::Cut(After::Lines(2), how));
        let (text, whole) = stage.get(WATCH).await.expect("a watch").rest().await;
        assert_eq!((&*text, whole), ("123456789\n123456789\n1234", is_whole), "{how:?}");
    }
    let _cut = stage.proxy.inject(watches(), Fault::Cut(After::Bytes(13), How::Closed));
    assert_eq!(stage.get(WATCH).await.expect("a watch").rest().await.0, "123456789\n123");
}

#[tokio::test]
async fn what_is_open_stalls_goes_on_and_breaks() {
    let stage = Stage::set().await;
    let mut watch = stage.get(WATCH).await.expect("a watch");
    watch.chunk().await.expect("a chunk").expect("no error");
    let stall = stage.proxy.inject(When::any(), Fault::Stall);
    eventually(Duration::from_secs(10), "it stalls", || async {
        if stall.happened() > 0 { Ok(()) } else { Err("not yet") }
    })
    .await;
    // What was on its way may still come, and no more of it than the watch has.
    let mut late = 0;
    while let Ok(frame) = timeout(Duration::from_millis(200), watch.body.frame()).await {
        frame.expect("it goes on").expect("no error");
        late += 1;
        assert!(late < 10, "it doesn't stall");
    }
    assert!(timeout(Duration::from_millis(200), stage.get(LIST)).await.is_err());
    drop(stall);
    watch.chunk().await.expect("a chunk").expect("it goes on");

    let reset = stage.proxy.inject(When::any(), Fault::Reset);
    assert!(!watch.rest().await.1, "it is cut");
    assert!(stage.get(LIST).await.is_err());
    drop(reset);
    assert_eq!(stage.text(LIST).await.0, 200);
}

#[tokio::test]
async fn what_is_slow_is_slow() {
    let stage = Stage::set().await;
    let delay = stage.proxy.inject(When::any(), Fault::Delay(Duration::from_millis(300)));
    let started = Instant::now();
    stage.text(LIST).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    drop(delay);
    let _slow = stage.proxy.inject(When::any(), Fault::Slow(100));
    let started = Instant::now();
    let (_, text) = stage.text(LIST).await;
    assert!(started.elapsed() >= Duration::from_millis(10) * u32::try_from(text.len() / 2).expect("short"));
}
