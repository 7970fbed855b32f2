//! Ways to ask for a kind. The controller's own client asks for what it thinks best; here the request
//! is changed on its way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use addons_testbed::Cluster;
use anyhow::{Result, ensure};
use http::{HeaderValue, Request, header};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes};
use kube::{Client, client::Body};

/// How a kind is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) encoding: Encoding,
    form: Form,
}

/// In how many answers a list comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    AtOnce,
    /// 500 objects each.
    Pages,
    /// A streaming list (KEP-3157). The controller never asks for one: what comes is only received.
    Stream,
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
    pub(crate) const METADATA_JSON: Self = Self::of(Encoding::MetadataJson, Form::AtOnce);
    pub(crate) const METADATA_PROTOBUF: Self = Self::of(Encoding::MetadataProtobuf, Form::AtOnce);
    pub(crate) const WHOLE_JSON: Self = Self::of(Encoding::WholeJson, Form::AtOnce);

    const fn of(encoding: Encoding, form: Form) -> Self {
        Self { encoding, form }
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let encodings = [
            Encoding::MetadataJson,
            Encoding::MetadataProtobuf,
            Encoding::WholeJson,
            Encoding::WholeProtobuf,
        ];
        let forms = [Form::AtOnce, Form::Pages, Form::Stream];
        encodings.into_iter().flat_map(move |encoding| forms.map(|form| Self::of(encoding, form)))
    }

    pub(crate) fn name(self) -> String {
        let form = match self.form {
            Form::AtOnce => "at once",
            Form::Pages => "pages",
            Form::Stream => "stream",
        };
        format!("{}, {form}{}", self.encoding_name(), if self.is_read() { "" } else { ", unread" })
    }

    /// Whether the controller can read what comes.
    pub(crate) fn is_read(self) -> bool {
        self.encoding != Encoding::WholeProtobuf && self.form != Form::Stream
    }

    pub(crate) fn encoding_name(self) -> &'static str {
        match self.encoding {
            Encoding::MetadataJson => "metadata, JSON",
            Encoding::MetadataProtobuf => "metadata, protobuf",
            Encoding::WholeJson => "whole, JSON",
            Encoding::WholeProtobuf => "whole, protobuf",
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
                self.rewrite(&mut request)?;
                Ok::<_, tower::BoxError>(inner.send(request).await?.map(|body| counter.count(body)))
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
        let address = request.uri().to_string();
        if self.form == Form::Pages && address.contains("?limit=0&") {
            *request.uri_mut() = address.replace("?limit=0&", "?limit=500&").parse()?;
        }
        Ok(())
    }

    /// The media type, the best first, of a list that is only received.
    fn accept(self) -> &'static str {
        match (self.encoding, self.form) {
            (Encoding::MetadataJson, Form::Stream) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            }
            (Encoding::MetadataProtobuf, Form::Stream) => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            }
            (Encoding::WholeProtobuf, _) => "application/vnd.kubernetes.protobuf",
            _ => "application/json",
        }
    }
}

/// Receives a whole list and throws it away.
pub(crate) async fn drain(client: &Client, path: &str, way: Way, objects: usize) -> Result<()> {
    let mut token = String::new();
    loop {
        let query = match way.form {
            Form::AtOnce => String::new(),
            Form::Pages => format!("limit=500&continue={token}"),
            Form::Stream => {
                "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
                    .to_owned()
            }
        };
        let request = Request::get(format!("{path}?{query}"))
            .header(header::ACCEPT, way.accept())
            .body(Body::empty())?;
        let response = client.send(request).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        if way.form == Form::Stream {
            return until_listed(response.into_body(), objects).await;
        }
        let body = response.into_body().collect().await?.to_bytes();
        match continued(&body).filter(|_| way.form == Form::Pages) {
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
