//! Clients that are slow, silent or large. The clock is tokio's: time passes when nothing else does.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

use super::{
    LIST,
    client::Server,
    fixture::{component, summary},
};
use crate::{model::Health, serve::LARGE_ANSWERS};

#[tokio::test(start_paused = true)]
async fn a_head_that_never_ends_is_cut_off_and_delays_nobody() {
    let server = Server::start().await;
    let mut dribbling = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        stream.write_all(b"GET / HTTP/1.1\r\nHost: local").await.expect("half a head");
        dribbling.push(stream);
    }
    assert_eq!(server.get(LIST).await.status, 200);
    for mut stream in dribbling {
        let mut rest = Vec::new();
        // The end may come as an end of file or as a reset.
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&rest));
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = Server::start().await;
    let large = "x".repeat(20_000);
    assert_eq!(server.send("GET", LIST, &[("X-Large", &large)]).await.status, 431);
    let many: Vec<_> = (0..100).map(|i| (format!("X-{i}"), "1")).collect();
    let many: Vec<_> = many.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(server.send("GET", LIST, &many).await.status, 431);
    assert_eq!(server.get(LIST).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn shutting_down_waits_five_seconds_at_most() {
    let server = Server::start().await;
    let many = (0..20_000).map(|i| component("Deployment", &format!("c{i}"), Health::Healthy)).collect();
    server.board.put(summary("large", "", many));
    let _stuck = server.begin(&format!("{LIST}/large")).await;

    let asked = Instant::now();
    server.shutdown.cancel();
    server.running.await.expect("an end without panic");
    assert!(asked.elapsed() <= Duration::from_secs(6), "{:?}", asked.elapsed());
    assert!(TcpStream::connect(server.address).await.is_err(), "still listening");
}

#[tokio::test]
async fn an_answer_that_nobody_reads_keeps_its_place() {
    let server = Server::start().await;
    let many = (0..20_000).map(|i| component("Deployment", &format!("c{i}"), Health::Healthy)).collect();
    server.board.put(summary("large", "", many));
    let path = format!("{LIST}/large");
    let stuck = server.begin(&path).await;
    let places: Vec<_> = std::iter::from_fn(|| server.state.large_answer(1).ok()).collect();
    // It takes ten of them.
    assert_eq!(places.len(), LARGE_ANSWERS as usize - 10);

    let refused = server.get(&path).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    assert_eq!(server.get("/metrics").await.status, 503);
    assert_eq!(server.get(LIST).await.status, 200, "the list is shared and always answered");

    drop((places, stuck));
    assert_eq!(server.get(&path).await.status, 200);
}
