use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A finished body with its strong entity tag.
#[derive(Clone, Debug)]
pub(super) struct Rendered {
    content_type: HeaderValue,
    body: Bytes,
    etag: HeaderValue,
}

impl Rendered {
    /// The tag is of the content, so that replicas agree on it and a restart doesn't change it.
    pub(super) fn new(content_type: HeaderValue, body: Bytes) -> Self {
        let digest = Sha256::digest(&body);
        let mut etag = String::with_capacity(34);
        etag.push('"');
        for byte in digest.iter().take(16) {
            etag.extend(
                [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')),
            );
        }
        etag.push('"');
        let etag = HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("\"\""));
        Self { content_type, body, etag }
    }

    /// 304 without a body for a client that has it already, all of it otherwise.
    pub(super) fn answer(&self, request: &HeaderMap) -> Response {
        let etag = (header::ETAG, self.etag.clone());
        if self.is_known(request) {
            return (StatusCode::NOT_MODIFIED, [etag]).into_response();
        }
        let content_type = (header::CONTENT_TYPE, self.content_type.clone());
        ([etag, content_type], Body::from(self.body.clone())).into_response()
    }

    fn is_known(&self, request: &HeaderMap) -> bool {
        let etag = self.etag.as_bytes();
        request
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .flat_map(|tags| tags.as_bytes().split(|b| *b == b','))
            .map(<[u8]>::trim_ascii)
            .any(|tag| tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == etag)
    }
}
