//! Takes requests, and passes them on or doesn't.

use std::{
    convert::Infallible,
    io,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use kube::{Client, client::Body};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinSet, time::sleep};

use super::{
    body::pipe,
    fault::Fault,
    request::Asked,
    rules::Rules,
    socket::{Reset, Socket},
};

type Answer = Response<BoxBody<Bytes, io::Error>>;

const PAGE: &str =
    "<!DOCTYPE html>\n<html><head><title>Sorry</title></head>\n<body>Come back later.</body></html>\n";

/// From the client to the API server.
#[derive(Clone)]
pub(super) struct Passage {
    pub(super) client: Client,
    pub(super) rules: Arc<Rules>,
}

impl Passage {
    pub(super) async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Ok((stream, _)) = listener.accept() => {
                    let passage = self.clone();
                    let _ = stream.set_nodelay(true);
                    connections.spawn(async move {
                        let reset = Reset::default();
                        let socket = Socket::new(stream, reset.clone(), Arc::clone(&passage.rules));
                        let service = service_fn(|request| passage.answer(request, reset.clone()));
                        // How a connection ends is the client's concern.
                        let _ = http1::Builder::new()
                            .timer(TokioTimer::new())
                            .serve_connection(TokioIo::new(socket), service)
                            .await;
                    });
                }
                Some(_) = connections.join_next() => {}
            }
        }
    }

    /// Answers a request, or resets the connection.
    async fn answer(&self, mut request: Request<Incoming>, reset: Reset) -> io::Result<Answer> {
        let asked = Asked::of(request.method(), request.uri());
        self.rules.counted(&asked);
        let mut edit = None;
        match self.early(&asked).await {
            None => {}
            Some(Fault::Status(code, retry_after)) => return status(code, retry_after),
            Some(Fault::Html(code)) => return whole(code, "text/html", PAGE.to_owned()),
            Some(Fault::Json(json)) => return whole(200, "application/json", json),
            Some(Fault::Expired) => return whole(200, "application/json", expired()),
            Some(Fault::Delay(delay)) => sleep(delay).await,
            Some(Fault::Accept(form)) => {
                request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static(form));
            }
            Some(Fault::Edit(change)) => edit = Some(change),
            Some(_) => return Err(broken(&reset)),
        }
        let response = self.forward(request).await.map_err(|()| broken(&reset))?;
        let (mut head, body) = response.into_parts();
        for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
            head.headers.remove(name);
        }
        if let Some(change) = edit {
            let body = body.collect().await.map_err(|_| broken(&reset))?.to_bytes();
            let changed = change(String::from_utf8_lossy(&body).into_owned());
            head.headers.remove(header::CONTENT_LENGTH);
            return Ok(Response::from_parts(head, full(changed)));
        }
        if self.rules.late(&asked).is_some() {
            // What is cut off must not be too short.
            head.headers.remove(header::CONTENT_LENGTH);
        }
        let body = pipe(body, asked, Arc::clone(&self.rules), reset);
        Ok(Response::from_parts(head, BodyExt::boxed(body)))
    }

    /// The fault that happens to a request, once it isn't stalled any more.
    async fn early(&self, asked: &Asked) -> Option<Fault> {
        let mut changed = self.rules.changes();
        loop {
            changed.mark_unchanged();
            match self.rules.early(asked) {
                Some(Fault::Stall) => {
                    let _ = changed.changed().await;
                }
                other => return other,
            }
        }
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Body>, ()> {
        let (mut head, body) = request.into_parts();
        let body = body.collect().await.map_err(drop)?.to_bytes();
        for name in [header::HOST, header::CONNECTION] {
            head.headers.remove(name);
        }
        if let Some(uri) = self.resized(&head.uri) {
            head.uri = uri;
        }
        self.client.send(Request::from_parts(head, Body::from(body))).await.map_err(drop)
    }

    /// The same request for pages of another size.
    fn resized(&self, uri: &Uri) -> Option<Uri> {
        let size = self.rules.page_size.load(Ordering::Relaxed);
        let query = uri.query().filter(|_| size > 0)?;
        let limit = format!("limit={size}");
        let query: Vec<&str> =
            query.split('&').map(|pair| if pair.starts_with("limit=") { &*limit } else { pair }).collect();
        format!("{}?{}", uri.path(), query.join("&")).parse().ok()
    }
}

fn broken(reset: &Reset) -> io::Error {
    reset.ask();
    io::ErrorKind::ConnectionReset.into()
}

fn status(code: u16, retry_after: Option<u64>) -> io::Result<Answer> {
    let reason = StatusCode::from_u16(code).ok().and_then(|status| status.canonical_reason());
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
        "reason": reason.unwrap_or_default().replace(' ', ""),
        "message": format!("the proxy says {}", reason.unwrap_or("nothing")),
    });
    let mut answer = whole(code, "application/json", status.to_string())?;
    if let Some(seconds) = retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(answer)
}

/// What the API server says in a watch whose version is too old.
fn expired() -> String {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410,
        "reason": "Expired", "message": "too old resource version: 1 (2)",
    });
    format!("{}\n", json!({"type": "ERROR", "object": status}))
}

fn whole(code: u16, content_type: &'static str, text: String) -> io::Result<Answer> {
    let answer = Response::builder().status(code).header(header::CONTENT_TYPE, content_type);
    answer.body(full(text)).map_err(io::Error::other)
}

fn full(text: String) -> BoxBody<Bytes, io::Error> {
    Full::from(text).map_err(|never: Infallible| match never {}).boxed()
}
