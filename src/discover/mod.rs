//! Which kinds the API server serves.
//!
//! The aggregated discovery documents are read as they are: one broken group hides no other, and
//! a group whose document is stale keeps the kinds that were known of it (a stale document may be
//! empty, kubernetes/kubernetes#116145).

mod catalogue;
mod selection;

pub use catalogue::{Catalogue, ResourceName};
pub use selection::{PatternError, ResourcePattern, Selection};

use std::time::Duration;

use kube::{Client, client::APIGroupDiscoveryList};
use thiserror::Error;

/// How long the API server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Why it can't be told what the API server serves.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// The request failed.
    #[error("can't read the API server's discovery document {path}: {source}")]
    Request {
        /// `/api` or `/apis`.
        path: &'static str,
        /// What the client says.
        source: Box<kube::Error>,
    },
    /// The API server didn't answer in time.
    #[error("the API server didn't answer {path} within {} s", TIMEOUT.as_secs())]
    Timeout {
        /// `/api` or `/apis`.
        path: &'static str,
    },
    /// The API server speaks only the old form of discovery.
    #[error("the API server has no aggregated discovery: Kubernetes 1.30 or newer is needed")]
    Unsupported,
}

/// Reads what the API server serves now. `previous` says what was known of groups whose document is
/// stale.
///
/// # Errors
/// Where a document can't be read at all: what was known before still holds.
pub async fn discover(
    client: &Client,
    selection: &Selection,
    previous: &Catalogue,
) -> Result<Catalogue, DiscoverError> {
    let core = read("/api", client.list_core_api_versions_aggregated()).await?;
    let groups = read("/apis", client.list_api_groups_aggregated()).await?;
    if core.items.is_empty() || groups.items.is_empty() {
        return Err(DiscoverError::Unsupported);
    }
    Ok(Catalogue::resolve(core.items.into_iter().chain(groups.items), selection, previous))
}

async fn read(
    path: &'static str,
    request: impl Future<Output = kube::Result<APIGroupDiscoveryList>>,
) -> Result<APIGroupDiscoveryList, DiscoverError> {
    match tokio::time::timeout(TIMEOUT, request).await {
        Ok(answer) => answer.map_err(|source| DiscoverError::Request { path, source: Box::new(source) }),
        Err(_) => Err(DiscoverError::Timeout { path }),
    }
}
