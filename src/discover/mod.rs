//! Which kinds the API server serves.
//!
//! The aggregated discovery documents are read as they are: one broken group hides no other, and
//! a group whose document is stale keeps the kinds that were known of it (a stale document may be
//! empty, kubernetes/kubernetes#116145). Servers without them are read a group and version at a time.

mod catalogue;
mod document;
mod legacy;
mod selection;

pub use catalogue::{Catalogue, ResourceName};
pub use selection::{PatternError, ResourcePattern, Selection};

use std::time::Duration;

use http::{Request, header};
use kube::{Client, client::APIGroupDiscovery, core::discovery::v2::ACCEPT_AGGREGATED_DISCOVERY_V2};
use thiserror::Error;

use crate::connect;

/// How long the API server may take to answer a controller.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why it can't be told what the API server serves. Each is one line and holds its cause.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// The request failed.
    #[error("can't read {path} of the API server: {}", connect::cause(error))]
    Request {
        /// `/api` or `/apis`.
        path: &'static str,
        /// What the client says.
        error: Box<kube::Error>,
    },
    /// The API server didn't answer in time.
    #[error("the API server didn't answer {path} within {} s", patience.as_secs())]
    Timeout {
        /// `/api` or `/apis`.
        path: &'static str,
        /// How long was waited.
        patience: Duration,
    },
    /// The API server says that it serves nothing, which can't be.
    #[error("the API server says that it serves no API at all")]
    Nothing,
}

/// Reads what the API server serves now. `previous` says what was known of groups whose document is
/// stale.
///
/// # Errors
/// Where it can't be told which groups there are: what was known before still holds.
pub async fn discover(
    client: &Client,
    selection: &Selection,
    previous: &Catalogue,
) -> Result<Catalogue, DiscoverError> {
    discover_within(TIMEOUT, client, selection, previous).await
}

/// The same as [`discover`], where each of the two answers may take as long as `patience`.
///
/// # Errors
/// Those of [`discover`].
pub async fn discover_within(
    patience: Duration,
    client: &Client,
    selection: &Selection,
    previous: &Catalogue,
) -> Result<Catalogue, DiscoverError> {
    let groups = served(patience, client).await?;
    Ok(Catalogue::resolve(groups, selection, previous))
}

/// Every group with its versions and resources as the API server tells them, in its order. Each answer
/// may take as long as `patience`.
///
/// # Errors
/// Those of [`discover`].
pub async fn served(patience: Duration, client: &Client) -> Result<Vec<APIGroupDiscovery>, DiscoverError> {
    let mut groups = read("/api", patience, aggregated(client, "/api")).await?;
    let named = read("/apis", patience, aggregated(client, "/apis")).await?;
    // The old documents have no field of the new ones, and so look empty.
    if groups.is_empty() || named.is_empty() {
        return legacy::groups(client, patience).await;
    }
    groups.extend(named);
    Ok(groups)
}

async fn aggregated(client: &Client, path: &str) -> kube::Result<Vec<APIGroupDiscovery>> {
    let request = Request::get(path).header(header::ACCEPT, ACCEPT_AGGREGATED_DISCOVERY_V2).body(Vec::new());
    let document = client.request_text(request.map_err(kube::Error::HttpError)?).await?;
    document::groups(&document).map_err(kube::Error::SerdeError)
}

async fn read<T>(
    path: &'static str,
    patience: Duration,
    request: impl Future<Output = kube::Result<T>>,
) -> Result<T, DiscoverError> {
    match tokio::time::timeout(patience, request).await {
        Ok(answer) => answer.map_err(|error| DiscoverError::Request { path, error: Box::new(error) }),
        Err(_) => Err(DiscoverError::Timeout { path, patience }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use std::error::Error;

    use super::*;

    #[test]
    fn an_error_is_one_clean_line_without_a_chain() {
        let status = serde_json::from_str(
            r#"{"code": 401, "message": "Unauthorized\u001b[31m", "reason": "Unauthorized"}"#,
        );
        let error = kube::Error::Api(Box::new(status.expect("a status")));
        let error = DiscoverError::Request { path: "/api", error: Box::new(error) };
        assert_eq!(error.to_string(), "can't read /api of the API server: Unauthorized\u{fffd}[31m");
        assert!(error.source().is_none());
    }
}
