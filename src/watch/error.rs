//! Why a list or a watch failed.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use serde::Deserialize;
use thiserror::Error;

use crate::{metrics::WatchErrorCode, model::text};

/// The wait before one object or page is read once more where the API server asks for none, and the longest that
/// it may ask for: whoever asks for more has the kind wait.
const READ_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// The largest error message that is read.
const MAX_ERROR: usize = 64 << 10;

/// Why a list or a watch failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FeedError {
    /// The API server answered with an error.
    #[error("{message} ({code})")]
    Status {
        /// The HTTP status.
        code: u16,
        /// What the server says, cleaned.
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The connection failed.
    #[error("{0}")]
    Transport(String),
    /// A list began, and didn't come whole.
    #[error("the API server's answer broke off: {0}")]
    BrokeOff(String),
    /// Nothing came for too long.
    #[error("the API server did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// A watch told nothing for so long that it may be dead.
    #[error("the watch told nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// What came is no list and no event.
    #[error("the API server's answer can't be read: {0}")]
    Unreadable(String),
    /// What came is larger than anything that the API server stores.
    #[error("the API server's answer is too large")]
    TooLarge,
}

impl FeedError {
    /// What failed below HTTP, with its causes.
    pub(super) fn transport(error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !message.contains(&cause_text) {
                message = format!("{message}: {cause_text}");
            }
            source = cause.source();
        }
        Self::Transport(text::message(&message))
    }

    /// What it counts as.
    pub(super) fn counted(&self) -> WatchErrorCode {
        match self {
            Self::Status { code, .. } => WatchErrorCode::Status(*code),
            Self::Transport(_) | Self::BrokeOff(_) => WatchErrorCode::Connection,
            Self::Timeout(_) | Self::Silent(_) => WatchErrorCode::Timeout,
            Self::Unreadable(_) | Self::TooLarge => WatchErrorCode::Decode,
        }
    }

    /// Whether the same request may well be answered a moment later, whatever its size.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Status { code: 408 | 429 | 500 | 502 | 503, .. } | Self::Transport(_))
    }

    /// How long to wait before one object is read once more, where that may help.
    pub(super) fn wait_to_read_again(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after: Some(wait), .. } => Some(*wait).filter(|wait| *wait <= READ_AGAIN.1),
            Self::Status { code: 408 | 429 | 500.., .. } => Some(READ_AGAIN.0),
            Self::Transport(_) | Self::BrokeOff(_) | Self::Timeout(_) => Some(READ_AGAIN.0),
            _ => None,
        }
    }

    /// How long the server asks to wait, where it does.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The HTTP status, where the server answered.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// What a response that isn't a success says. Its words are waited for no longer than `patience`.
pub(super) async fn refusal(response: Response<Body>, patience: Duration) -> FeedError {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Status {
        message: String,
    }
    let status = response.status();
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .map(Duration::from_secs);
    let body = Limited::new(response.into_body(), MAX_ERROR).collect();
    let body = match tokio::time::timeout(patience, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        _ => Bytes::new(),
    };
    let said = serde_json::from_slice::<Status>(&body).map(|status| status.message).unwrap_or_default();
    let message = if said.is_empty() { reason(status) } else { text::message(&said) };
    FeedError::Status { code: status.as_u16(), message, retry_after }
}

fn reason(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or("the API server refused").to_owned()
}
