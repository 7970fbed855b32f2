use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::json;

use crate::model::text;

/// An answer that isn't what was asked for.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    reason: &'static str,
    message: String,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Failure {
    pub(super) fn no_such_addon(asked: &str) -> Self {
        let message = format!(
            "there is no add-on '{}': no object carries its label, or none was seen yet. \
             GET /api/v1alpha1/addons lists all",
            text::word(asked)
        );
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    pub(super) fn no_such_path(path: &str) -> Self {
        let message =
            format!("nothing is served at '{}'. / is a page, /api/v1alpha1/addons is JSON", text::word(path));
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    pub(super) fn not_text() -> Self {
        let message = "the path of the request isn't valid UTF-8".to_owned();
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(super) fn method(method: &str) -> Self {
        let message =
            format!("'{}' isn't answered: everything here is read with GET or HEAD", text::word(method));
        let allow = (header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).with(allow)
    }

    pub(super) fn host(asked: &str) -> Self {
        let message = format!(
            "'{}' isn't a name of this machine's loopback address, which is all that is listened on. \
             Use localhost, 127.0.0.1 or [::1]",
            text::word(asked)
        );
        Self::new(StatusCode::MISDIRECTED_REQUEST, "WrongHost", message)
    }

    pub(super) fn busy() -> Self {
        let message = "too many large answers are on their way. Try again in a second".to_owned();
        let retry = (header::RETRY_AFTER, HeaderValue::from_static("1"));
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Busy", message).with(retry)
    }

    pub(super) fn render(what: &str, error: &impl std::fmt::Display) -> Self {
        tracing::error!(%error, "can't render {what}");
        let message = format!("{what} can't be rendered: {error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    fn new(status: StatusCode, reason: &'static str, message: String) -> Self {
        Self { status, reason, message, header: None }
    }

    fn with(self, header: (HeaderName, HeaderValue)) -> Self {
        Self { header: Some(header), ..self }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = json!({
            "error": {"code": self.status.as_u16(), "reason": self.reason, "message": self.message}
        });
        let content_type = [(header::CONTENT_TYPE, super::rendered::JSON)];
        let mut response = (self.status, content_type, format!("{body}\n")).into_response();
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
