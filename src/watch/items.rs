//! The objects of a list, one by one as they arrive: however long a list is, no more of it is held than one
//! object.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Instant, timeout_at};

use super::{FeedError, Seen, cut_json, cut_protobuf, json, protobuf, reader, wire::Encoding};

/// How long a list may take to arrive once it has begun. The API server takes no longer for one either, by
/// default.
const LONGEST: Duration = Duration::from_secs(60);

/// The longest object that is read: more than the API server stores for one.
pub(super) const MAX_ITEM: usize = 16 << 20;

/// What is said of a list beside its objects is no longer.
pub(super) const MAX_REST: usize = 1 << 20;

/// A list that is on its way.
pub(super) struct Items<B = Body> {
    body: B,
    cutter: Cutter,
    encoding: Encoding,
    /// When it must have arrived.
    until: Instant,
    /// How long nothing may come.
    patience: Duration,
}

enum Cutter {
    Json(cut_json::Cutter),
    Protobuf(cut_protobuf::Cutter),
}

/// An object of a list, not read yet.
pub(super) struct Item {
    bytes: Bytes,
    encoding: Encoding,
}

/// What a list says beside its objects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListMeta {
    pub(super) resource_version: String,
    /// Asks for the next page; empty where this is the last.
    pub(super) token: String,
}

impl<B> Items<B>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error,
{
    /// The list in `body`, of which something has to come within `patience` each time.
    pub(super) fn new(body: B, encoding: Encoding, patience: Duration) -> Self {
        let cutter = match encoding {
            Encoding::Json => Cutter::Json(cut_json::Cutter::default()),
            Encoding::Protobuf => Cutter::Protobuf(cut_protobuf::Cutter::default()),
        };
        Self { body, cutter, encoding, until: Instant::now() + LONGEST, patience }
    }

    /// The next object; `None` after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Item>, FeedError> {
        loop {
            let whole = match &mut self.cutter {
                Cutter::Json(cutter) => cutter.next()?,
                Cutter::Protobuf(cutter) => cutter.next()?,
            };
            if let Some(bytes) = whole {
                return Ok(Some(Item { bytes, encoding: self.encoding }));
            }
            let now = Instant::now();
            let until = self.until.min(now + self.patience);
            let frame = match timeout_at(until, self.body.frame()).await {
                Ok(Some(frame)) if now < self.until => frame,
                Ok(None) => return Ok(None),
                Ok(Some(_)) | Err(_) => return Err(FeedError::BrokeOff(self.too_slow(until))),
            };
            let frame =
                frame.map_err(|error| FeedError::BrokeOff(FeedError::transport(&error).to_string()))?;
            let chunk = frame.into_data().unwrap_or_default();
            match &mut self.cutter {
                Cutter::Json(cutter) => cutter.push(chunk),
                Cutter::Protobuf(cutter) => cutter.push(&chunk),
            }
        }
    }

    fn too_slow(&self, until: Instant) -> String {
        if until < self.until {
            format!("nothing came for {} s", self.patience.as_secs())
        } else {
            format!("it took longer than {} s", LONGEST.as_secs())
        }
    }

    /// What is said of the list, once all of it was read.
    ///
    /// # Errors
    /// Where what came is no list or wasn't whole: an empty answer doesn't mean that nothing is there.
    pub(super) fn end(self) -> Result<ListMeta, FeedError> {
        match self.cutter {
            Cutter::Json(cutter) => json::list_meta(&cutter.end()),
            Cutter::Protobuf(cutter) => cutter.end(),
        }
    }

    /// The object of that name; `None` where there is none.
    pub(super) async fn named(mut self, name: &str) -> Result<Option<Item>, FeedError> {
        let mut found = None;
        while let Some(item) = self.next().await? {
            // Whoever serves an API may not know what was asked for.
            if item.seen()?.head.name == name {
                found = Some(item);
            }
        }
        self.end().map(|_| found)
    }
}

impl Item {
    /// The object. One that isn't even named as it should be has no name.
    ///
    /// # Errors
    /// Where it isn't JSON: then the list can't be trusted.
    pub(super) fn seen(&self) -> Result<Seen<'_>, FeedError> {
        Ok(match self.encoding {
            Encoding::Json => {
                Seen { head: json::head(&self.bytes)?, body: reader::Body::Object(&self.bytes) }
            }
            Encoding::Protobuf => {
                let (head, metadata) = protobuf::object(&self.bytes).unwrap_or_default();
                Seen { head, body: reader::Body::Metadata(metadata) }
            }
        })
    }
}

#[cfg(test)]
mod tests;
