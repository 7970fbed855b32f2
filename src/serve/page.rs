use std::sync::LazyLock;

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use super::rendered::Rendered;

/// The page of all add-ons and of one: `page.js` looks at the address to know which.
pub(super) async fn html(headers: HeaderMap) -> Response {
    static FILE: LazyLock<Rendered> =
        LazyLock::new(|| file("text/html; charset=utf-8", include_str!("page/index.html")));
    answer(&FILE, &headers)
}

pub(super) async fn css(headers: HeaderMap) -> Response {
    static FILE: LazyLock<Rendered> =
        LazyLock::new(|| file("text/css; charset=utf-8", include_str!("page/page.css")));
    answer(&FILE, &headers)
}

pub(super) async fn js(headers: HeaderMap) -> Response {
    static FILE: LazyLock<Rendered> =
        LazyLock::new(|| file("text/javascript; charset=utf-8", include_str!("page/page.js")));
    answer(&FILE, &headers)
}

pub(super) async fn icon(headers: HeaderMap) -> Response {
    static FILE: LazyLock<Rendered> = LazyLock::new(|| file("image/svg+xml", include_str!("page/icon.svg")));
    answer(&FILE, &headers)
}

fn file(content_type: &'static str, content: &'static str) -> Rendered {
    Rendered::new(HeaderValue::from_static(content_type), Bytes::from_static(content.as_bytes()))
}

/// The files hold no data of a cluster: a browser may keep them, and asks whether they changed.
fn answer(file: &Rendered, headers: &HeaderMap) -> Response {
    let mut response = file.answer(headers);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
