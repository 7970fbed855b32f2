//! Ways to ask for a kind. The controller's own client asks for what it thinks best; here the request
//! is changed on its way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use addons_testbed::Cluster;
use anyhow::{Result, ensure};
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes};
use kube::{Client, client::Body};

/// How a kind is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) encoding: Encoding,
    in_pages: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    MetadataJson,
    MetadataProtobuf,
    WholeJson,
    /// Only received: nothing here reads it.
    WholeProtobuf,
}

/// Bytes of the bodies of answers.
#[derive(Clone, Default)]
pub(crate) struct Received(Arc<AtomicU64>);

impl Received {
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The same body, counted as it comes.
    fn count(self, body: Body) -> impl HttpBody<Data = Bytes, Error = kube::Error> + Send + 'static {
        body.map_frame(move |frame| {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.0.fetch_add(bytes as u64, Ordering::Relaxed);
            frame
        })
    }
}

impl Way {
    pub(crate) const METADATA_JSON: Self = Self { encoding: Encoding::MetadataJson, in_pages: false };
    pub(crate) const METADATA_PROTOBUF: Self = Self { encoding: Encoding::MetadataProtobuf, in_pages: false };
    pub(crate) const WHOLE_JSON: Self = Self { encoding: Encoding::WholeJson, in_pages: false };
    pub(crate) const ALL: [Self; 8] = [
        Self { in_pages: true, ..Self::METADATA_JSON },
        Self::METADATA_JSON,
        Self { in_pages: true, ..Self::METADATA_PROTOBUF },
        Self::METADATA_PROTOBUF,
        Self { in_pages: true, ..Self::WHOLE_JSON },
        Self::WHOLE_JSON,
        Self { encoding: Encoding::WholeProtobuf, in_pages: true },
        Self { encoding: Encoding::WholeProtobuf, in_pages: false },
    ];

    pub(crate) fn name(self) -> String {
        format!("{}, {}", self.encoding_name(), if self.in_pages { "pages" } else { "stream" })
    }

    pub(crate) fn encoding_name(self) -> &'static str {
        match self.encoding {
            Encoding::MetadataJson => "metadata, JSON",
            Encoding::MetadataProtobuf => "metadata, protobuf",
            Encoding::WholeJson => "whole, JSON",
            Encoding::WholeProtobuf => "whole, protobuf, unread",
        }
    }

    /// A client whose requests become of this way, and what it receives.
    pub(crate) async fn client(self, cluster: &Cluster) -> Result<(Client, Received)> {
        let inner = addons::connect::client(Some(cluster.kubeconfig()), None).await?;
        let received = Received::default();
        let counter = received.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let (inner, counter) = (inner.clone(), counter.clone());
            async move {
                if self.in_pages && request.uri().query().is_some_and(|q| q.contains("sendInitialEvents")) {
                    let unknown = Response::builder().status(422).body(Body::from(b"{}".to_vec()))?;
                    return Ok::<_, tower::BoxError>(unknown.map(|body| counter.count(body)));
                }
                self.rewrite(&mut request)?;
                Ok(inner.send(request).await?.map(|body| counter.count(body)))
            }
        });
        Ok((Client::new(service, "default"), received))
    }

    fn rewrite(self, request: &mut Request<Body>) -> Result<()> {
        let accept = request.headers().get(header::ACCEPT).map(HeaderValue::to_str).transpose()?;
        let json = accept.and_then(|accept| accept.split_once("v1,"));
        if let Some((_, json)) = json.filter(|_| self.encoding == Encoding::MetadataJson) {
            let json = HeaderValue::from_str(json)?;
            request.headers_mut().insert(header::ACCEPT, json);
        }
        Ok(())
    }
}

/// Receives a whole list and throws it away.
pub(crate) async fn drain(client: &Client, path: &str, way: Way, objects: usize) -> Result<()> {
    let mut token = String::new();
    loop {
        let query = if way.in_pages {
            format!("limit=500&continue={token}")
        } else {
            "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
                .to_owned()
        };
        let request = Request::get(format!("{path}?{query}"))
            .header(header::ACCEPT, "application/vnd.kubernetes.protobuf,application/json")
            .body(Body::empty())?;
        let response = client.send(request).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        if !way.in_pages {
            return until_listed(response.into_body(), objects).await;
        }
        let body = response.into_body().collect().await?.to_bytes();
        match continued(&body) {
            Some(next) => token = next,
            None => return Ok(()),
        }
    }
}

/// Receives until the bookmark that ends the list.
async fn until_listed(mut body: Body, objects: usize) -> Result<()> {
    let end = memchr::memmem::Finder::new(b"k8s.io/initial-events-end");
    let mut tail = Vec::new();
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().unwrap_or_default();
        tail.extend_from_slice(&data);
        if end.find(&tail).is_some() {
            return Ok(());
        }
        let keep = tail.len().min(64);
        tail.drain(..tail.len() - keep);
    }
    anyhow::bail!("the list of {objects} objects ended early")
}

/// The token for the next page, in the metadata with which a list begins.
fn continued(body: &[u8]) -> Option<String> {
    // Tokens are base64 of JSON that begins with a version.
    let at = memchr::memmem::find(&body[..body.len().min(2048)], b"eyJ2Ijo")?;
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'_' | b'=');
    Some(body[at..].iter().take_while(is_token).map(|byte| char::from(*byte)).collect())
}
