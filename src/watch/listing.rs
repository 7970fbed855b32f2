//! One list of a kind.

use futures::{StreamExt, stream};

use super::{
    Feed, FeedError, Reader, Seen,
    feed::ALL,
    items::{Item, ListMeta},
    transport::Share,
};

/// Objects of the list that tells whether metadata or whole objects serve better.
const SAMPLE: usize = 100;

/// Reads of single objects at a time.
const READS: usize = 8;

/// Where an object is.
pub(super) struct Name {
    namespace: String,
    name: String,
}

/// Lists a kind into `reader`, in pages of `limit` objects or of [`ALL`]; gives the version of the list.
///
/// The API server has all objects at hand in memory, and mostly reads each page but the first from its store, which
/// takes it several times the CPU: pages are for lists that don't come through whole.
pub(super) async fn list<R: Reader>(
    feed: &mut Feed,
    reader: &mut R,
    limit: usize,
) -> Result<String, FeedError> {
    let mut is_sample = feed.may_lack() && limit == ALL;
    loop {
        let mut listing = Listing::begin(reader);
        let meta = if is_sample {
            listing.part(feed, reader, SAMPLE, "").await?
        } else {
            listing.whole(feed, reader, limit).await?
        };
        let is_better_whole = listing.share.lists_whole();
        if feed.may_lack() && is_better_whole {
            feed.choose(true);
        } else if meta.token.is_empty() {
            feed.choose(is_better_whole);
            let version = meta.resource_version;
            Name::read_all(listing.wanted, feed, reader, &version).await?;
            return Ok(version);
        }
        is_sample = false;
    }
}

/// A list that isn't whole yet.
#[derive(Default)]
struct Listing {
    share: Share,
    /// Those of which metadata came and that have to be read whole.
    wanted: Vec<Name>,
}

impl Listing {
    fn begin<R: Reader>(reader: &mut R) -> Self {
        reader.begin();
        Self::default()
    }

    async fn whole<R: Reader>(
        &mut self,
        feed: &Feed,
        reader: &mut R,
        limit: usize,
    ) -> Result<ListMeta, FeedError> {
        let mut token = String::new();
        loop {
            let meta = self.part(feed, reader, limit, &token).await?;
            if meta.token.is_empty() {
                return Ok(meta);
            }
            token = meta.token;
        }
    }

    async fn part<R: Reader>(
        &mut self,
        feed: &Feed,
        reader: &mut R,
        limit: usize,
        token: &str,
    ) -> Result<ListMeta, FeedError> {
        let mut items = feed.list(limit, token).await?;
        while let Some(item) = items.next().await? {
            let seen = item.seen();
            let is_wanted = if feed.may_lack() { reader.wants(&seen) } else { reader.listed(&seen) };
            self.share.count(is_wanted);
            if is_wanted && feed.may_lack() {
                self.wanted.push(Name::of(&seen));
            }
        }
        items.end()
    }
}

impl Name {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        Self { namespace: seen.head.namespace.to_string(), name: seen.head.name.to_string() }
    }

    /// Reads the object whole, as it was at `version` or later.
    pub(super) fn read(
        self,
        feed: &Feed,
        version: &str,
    ) -> impl Future<Output = Result<Vec<Item>, FeedError>> + Send + use<> {
        let (feed, version) = (feed.within(&self.namespace), version.to_owned());
        async move {
            feed.metrics.read();
            feed.whole(&self.name, &version).await?.all().await
        }
    }

    /// Reads these objects of a list, some at a time. The watch tells of what is gone by then.
    async fn read_all<R: Reader>(
        names: Vec<Self>,
        feed: &Feed,
        reader: &mut R,
        version: &str,
    ) -> Result<(), FeedError> {
        let mut reads =
            stream::iter(names.into_iter().map(|name| name.read(feed, version))).buffer_unordered(READS);
        while let Some(items) = reads.next().await {
            for item in items? {
                reader.listed(&item.seen());
            }
        }
        Ok(())
    }
}
