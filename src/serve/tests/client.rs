//! The server on a real port, and a client that speaks plain HTTP/1.1 to it.

use std::{net::SocketAddr, sync::Arc};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    metrics::Metrics,
    serve::{Pulse, Readiness, State, run},
    summary::Board,
};

pub struct Server {
    pub address: SocketAddr,
    pub board: Arc<Board>,
    pub metrics: Metrics,
    pub pulse: Pulse,
    pub readiness: Readiness,
    pub state: State,
    pub shutdown: CancellationToken,
    pub running: JoinHandle<()>,
}

impl Server {
    pub async fn start() -> Self {
        Self::with_pulse(Pulse::default()).await
    }

    pub async fn with_pulse(pulse: Pulse) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let board = Arc::new(Board::default());
        let metrics = Metrics::default();
        let readiness = Readiness::waiting_for("sync", "0 of 86 kinds are listed");
        let state = State::new(Arc::clone(&board), &metrics, pulse.clone(), readiness.clone());
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(run(listener, state.clone(), shutdown.clone()));
        Self { address, board, metrics, pulse, readiness, state, shutdown, running }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[]).await
    }

    /// Sends one request with a fitting `Host` unless `headers` has one.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.raw(&format!("{request}\r\n")).await
    }

    /// Sends one request and reads the first bytes of the answer, so that the rest of a large one
    /// can't be sent.
    pub async fn begin(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("a request");
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.expect("the beginning of an answer");
        stream
    }

    pub async fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("the request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("the answer");
        Answer::parse(&String::from_utf8(answer).expect("UTF-8"))
    }
}

pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    fn parse(raw: &str) -> Self {
        let (head, body) = raw.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status line");
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            status: status.parse().expect("a status"),
            headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
            body: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json", "{}", self.body);
        serde_json::from_str(&self.body).expect(&self.body)
    }
}
