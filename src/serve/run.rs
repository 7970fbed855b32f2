use std::{io, pin::pin, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    select,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{State, guard::Hosts, router};

/// The most connections at a time. More wait in the system's queue.
const MAX_CONNECTIONS: usize = 256;

/// How long a client may take to send the head of a request, and be idle between two.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of the head of a request.
const MAX_HEAD: usize = 16 * 1024;

/// The most header lines of a request.
const MAX_HEADERS: usize = 64;

/// How long a connection is kept, whatever is sent over it: it ends clients that read slowly.
const MAX_LIFETIME: Duration = Duration::from_secs(120);

/// How long answers on their way may take once their connection is to end.
const DRAIN: Duration = Duration::from_secs(5);

/// How long to wait when the system gives no connection, for want of file handles for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Answers on `listener` until `shutdown` is cancelled, and then ends within 5 seconds: answers on
/// their way are finished in that time, what isn't is cut off.
///
/// On a loopback address only requests that name that address are answered.
pub async fn run(listener: TcpListener, state: State, shutdown: CancellationToken) {
    let address = listener.local_addr().ok();
    let service = TowerToHyperService::new(router(state, Hosts::of(address)));
    let mut connections = JoinSet::new();
    loop {
        select! {
            () = shutdown.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, service.clone(), shutdown.clone()));
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "can't accept a connection to the HTTP endpoint");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
    drop(listener);
    let drained = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
    if drained.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "cutting off HTTP clients that don't read their answers"
        );
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn converse(stream: TcpStream, service: TowerToHyperService<Router>, shutdown: CancellationToken) {
    // Without it small answers may wait for a packet to fill; it is a wish only.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = select! {
        ended = connection.as_mut() => ended,
        () = async { select! { () = shutdown.cancelled() => {}, () = sleep(MAX_LIFETIME) => {} } } => {
            connection.as_mut().graceful_shutdown();
            timeout(DRAIN, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "an HTTP connection broke");
    }
}
