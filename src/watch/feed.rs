//! The requests that list and watch one kind.

use std::{sync::Arc, time::Duration};

use http::{Request, Response, header};
use kube::{Client, client::Body};

use super::{
    FeedError, Seen,
    error::refusal,
    frames::Frames,
    items::Items,
    wire::{Detail, Encoding},
};
use crate::{metrics::WatchMetrics, model::Kind};

/// How long the API server may take to begin an answer, and to go on with a list. The first list of a kind that
/// nobody watches yet makes it read the whole kind from its store.
const PATIENCE: Duration = Duration::from_secs(30);

/// Objects of a page.
pub(super) const PAGE: usize = 500;

/// The limit of a list of all objects.
pub(super) const ALL: usize = 0;

/// Lists and watches one kind.
#[derive(Clone)]
pub struct Feed {
    client: Client,
    kind: Arc<Kind>,
    path: String,
    /// Ends the queries of lists and watches of many objects; empty where all are wanted.
    selector: String,
    detail: Detail,
    choice: Choice,
    /// How long nothing may come.
    patience: Duration,
    pub(super) metrics: Arc<WatchMetrics>,
}

/// Whether it is chosen by what is seen how much of objects is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// It isn't.
    Fixed,
    /// It will be: so far a sample tells more than nothing.
    Open,
    /// It was, and may be anew.
    Made,
}

impl Feed {
    /// The feed of all objects of a kind, counted in `metrics`.
    ///
    /// A kind without a status is judged by its metadata alone, and nothing else is ever asked for: no data
    /// of a `ConfigMap` or `Secret` enters the process.
    pub fn new(client: Client, kind: Arc<Kind>, metrics: Arc<WatchMetrics>) -> Self {
        let root = if kind.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", kind.group) };
        let path = format!("{root}/{}/{}", kind.version, kind.plural);
        let detail = if kind.is_read_by_metadata() { Detail::Metadata } else { Detail::Whole };
        metrics.whole(detail == Detail::Whole);
        let selector = String::new();
        Self { client, kind, path, selector, detail, choice: Choice::Fixed, patience: PATIENCE, metrics }
    }

    /// The same without counting: for single requests, and for a kind that is counted elsewhere.
    pub fn uncounted(client: Client, kind: Arc<Kind>) -> Self {
        Self::new(client, kind, Arc::default())
    }

    /// The same feed, of the metadata alone.
    #[must_use]
    pub fn of_metadata(self) -> Self {
        Self { choice: Choice::Fixed, ..self }.showing(Detail::Metadata)
    }

    /// The same feed, of the metadata alone or of whole objects, whichever serves better for how many of
    /// them are [wanted](super::Reader::wants).
    #[must_use]
    pub fn as_needed(self) -> Self {
        let choice = if self.kind.is_read_by_metadata() { Choice::Fixed } else { Choice::Open };
        Self { choice, ..self }.showing(Detail::Metadata)
    }

    /// Whether it is to be chosen what is asked for, and nothing tells what serves better.
    pub(super) fn is_undecided(&self) -> bool {
        self.choice == Choice::Open
    }

    /// Whether what comes is whole, and needn't be.
    pub(super) fn may_be_metadata(&self) -> bool {
        self.choice != Choice::Fixed && self.detail == Detail::Whole
    }

    /// Whether what comes is metadata, and objects that are [wanted](super::Reader::wants) have to be read
    /// whole.
    pub(super) fn reads_wanted(&self) -> bool {
        self.choice != Choice::Fixed && self.detail == Detail::Metadata
    }

    fn showing(mut self, detail: Detail) -> Self {
        self.show(detail);
        self
    }

    /// Asks for so much of objects from now on, where that may be chosen.
    pub(super) fn choose(&mut self, detail: Detail) {
        if self.choice != Choice::Fixed {
            self.choice = Choice::Made;
            self.show(detail);
        }
    }

    fn show(&mut self, detail: Detail) {
        self.detail = detail;
        self.metrics.whole(detail == Detail::Whole);
    }

    /// The same feed, where nothing may come for as long as `patience`.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same feed, of the objects alone that the API server selects by `labels`. Look-ups by a name
    /// and [`select`](Self::select) are as before.
    #[must_use]
    pub fn of_labels(self, labels: &str) -> Self {
        Self { selector: format!("&labelSelector={}", escape(labels)), ..self }
    }

    /// What is listed and watched.
    pub(super) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Opens a watch of what happens after `resource_version`. The server ends it after `seconds`.
    pub(super) async fn watch(&self, resource_version: &str, seconds: u64) -> Result<Frames, FeedError> {
        let query = format!(
            "watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={}{}",
            escape(resource_version),
            self.selector
        );
        self.frames(&query).await
    }

    /// Lists the objects, at most `limit` of them, or [`ALL`]; `token` is empty for the first, and asks for the
    /// next ones otherwise.
    pub(super) async fn list(&self, limit: usize, token: &str) -> Result<Items, FeedError> {
        self.read(&format!("limit={limit}&continue={}{}", escape(token), self.selector)).await
    }

    /// Lists the next page of the metadata of all objects as they were at `resource_version`; `token`
    /// is empty for the first.
    pub(super) async fn exact(&self, resource_version: &str, token: &str) -> Result<Items, FeedError> {
        let from = if token.is_empty() {
            format!("resourceVersion={}&resourceVersionMatch=Exact", escape(resource_version))
        } else {
            format!("continue={}", escape(token))
        };
        self.read_as(&format!("limit={PAGE}&{from}{}", self.selector), Detail::Metadata).await
    }

    /// Lists one object by its name; the list is empty where there is none. Listing needs no right to
    /// `get`.
    pub(super) async fn named(&self, name: &str) -> Result<Items, FeedError> {
        self.read(&by_name(name)).await
    }

    /// Lists one object whole, by its name, as it was at `resource_version` or later; the list is empty
    /// where there is none.
    pub(super) async fn whole(&self, name: &str, resource_version: &str) -> Result<Items, FeedError> {
        let from = match resource_version {
            // Whoever serves the API counts no versions.
            "" => String::new(),
            version => format!("&resourceVersion={}&resourceVersionMatch=NotOlderThan", escape(version)),
        };
        self.read_as(&format!("{}{from}", by_name(name)), Detail::Whole).await
    }

    /// Reads the first `limit` objects whose labels and fields the selectors take, and whether there are
    /// more. What `read` can't read is left out.
    ///
    /// # Errors
    /// Where the API server refuses or doesn't answer.
    pub async fn select<T>(
        &self,
        labels: &str,
        fields: &str,
        limit: usize,
        read: impl Fn(&Seen<'_>) -> Option<T>,
    ) -> Result<(Vec<T>, bool), FeedError> {
        let mut query = format!("limit={limit}");
        for (name, selector) in [("labelSelector", labels), ("fieldSelector", fields)] {
            if !selector.is_empty() {
                query.push_str(&format!("&{name}={}", escape(selector)));
            }
        }
        let mut items = self.read(&query).await?;
        let mut objects = Vec::new();
        for _ in 0..limit {
            let Some(item) = items.next().await? else {
                return Ok((objects, !items.end()?.token.is_empty()));
            };
            objects.extend(read(&item.seen()?));
        }
        // Whoever serves an API may not know of limits.
        let is_more = items.next().await?.is_some() || !items.end()?.token.is_empty();
        Ok((objects, is_more))
    }

    /// The same feed for one namespace; for all where it has no name.
    #[must_use]
    pub fn within(&self, namespace: &str) -> Self {
        let mut feed = self.clone();
        if self.kind.namespaced
            && !namespace.is_empty()
            && let Some(root) = self.path.strip_suffix(self.kind.plural.as_str())
        {
            feed.path = format!("{root}namespaces/{}/{}", escape(namespace), self.kind.plural);
        }
        feed
    }

    async fn read(&self, query: &str) -> Result<Items, FeedError> {
        self.read_as(query, self.detail).await
    }

    async fn read_as(&self, query: &str, detail: Detail) -> Result<Items, FeedError> {
        let response = self.get(query, detail.accept(true)).await?;
        let encoding = Encoding::of(response.headers());
        Ok(Items::new(response.into_body(), encoding, self.patience))
    }

    async fn frames(&self, query: &str) -> Result<Frames, FeedError> {
        let response = self.get(query, self.detail.accept(false)).await?;
        let encoding = Encoding::of(response.headers());
        Ok(Frames::new(response.into_body(), encoding))
    }

    async fn get(&self, query: &str, accept: &'static str) -> Result<Response<Body>, FeedError> {
        let request = Request::get(format!("{}?{query}", self.path))
            .header(header::ACCEPT, accept)
            .body(Body::empty())
            .map_err(|error| FeedError::transport(&error))?;
        let response = tokio::time::timeout(self.patience, self.client.send(request))
            .await
            .map_err(|_| FeedError::Timeout(self.patience))?
            .map_err(|error| FeedError::transport(&error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(refusal(response, self.patience).await)
        }
    }
}

fn by_name(name: &str) -> String {
    format!("fieldSelector=metadata.name%3D{}", escape(name))
}

/// Escapes a value of a query or a segment of a path.
fn escape(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    for byte in raw.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            escaped.push(byte.into());
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_safe_in_a_query_is_escaped() {
        assert_eq!(escape("a/b?c=d&e%"), "a%2Fb%3Fc%3Dd%26e%25");
        assert_eq!(escape("name-1.x_y~"), "name-1.x_y~");
    }
}
