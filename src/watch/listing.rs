//! One list of a kind.

use futures::{StreamExt, stream};
use tokio::time::sleep;

use super::{
    Feed, FeedError, Reader, Seen,
    feed::ALL,
    items::{Item, ListMeta},
    pages::Pages,
    transport::Share,
    wire::Detail,
};

/// Objects of the first list of a kind, which tells whether metadata or whole objects serve better.
const SAMPLE: usize = 100;

/// Reads of single objects at a time. Several kinds may be listed at once, and the API server gives one client
/// a bounded share.
const READS: usize = 3;

/// So often one object or one page is tried to be read before its list is taken for failed.
const ATTEMPTS: u32 = 3;

/// Where an object is.
pub(super) struct Place {
    namespace: String,
    name: String,
}

/// Lists a kind into `reader`, in pages of `limit` objects or in one answer ([`ALL`]); gives the
/// version of the list.
///
/// An API server since 1.31 has all objects at hand in memory, and reads each page but the first from its store
/// where nothing has changed lately, which takes it several times the CPU: pages are for lists that don't come
/// through in one answer.
pub(super) async fn list<R: Reader>(
    feed: &mut Feed,
    reader: &mut R,
    limit: usize,
) -> Result<String, FeedError> {
    let mut is_sample = feed.is_undecided();
    loop {
        let mut listing = Listing::begin(reader);
        let part = if is_sample {
            let size = if limit == ALL { SAMPLE } else { SAMPLE.min(limit) };
            listing.part(feed, reader, size, "").await?
        } else {
            listing.whole(feed, reader, limit).await?
        };
        let better = if listing.share.lists_whole() { Detail::Whole } else { Detail::Metadata };
        let is_in_vain = feed.reads_wanted() && better == Detail::Whole;
        feed.choose(better);
        if let Some(ListMeta { resource_version, token }) = part
            && token.is_empty()
            && !is_in_vain
        {
            Place::read_all(listing.wanted, feed, reader, &resource_version).await?;
            return Ok(resource_version);
        }
        is_sample = false;
    }
}

/// A list that isn't whole yet.
#[derive(Default)]
struct Listing {
    share: Share,
    /// Those of which metadata came and that have to be read whole.
    wanted: Vec<Place>,
}

impl Listing {
    fn begin<R: Reader>(reader: &mut R) -> Self {
        reader.begin();
        Self::default()
    }

    /// All parts; gives what the last says, and `None` where it was given up for a list of whole objects.
    async fn whole<R: Reader>(
        &mut self,
        feed: &Feed,
        reader: &mut R,
        limit: usize,
    ) -> Result<Option<ListMeta>, FeedError> {
        let mut pages = Pages::default();
        loop {
            let part = self.page(feed, reader, limit, pages.token()).await?;
            let goes_on = part.as_ref().map(|meta| pages.turn(meta)).transpose()?;
            if goes_on != Some(true) {
                return Ok(part);
            }
        }
    }

    /// A part, once more where others came before it, which would be lost, and that may help.
    async fn page<R: Reader>(
        &mut self,
        feed: &Feed,
        reader: &mut R,
        limit: usize,
        token: &str,
    ) -> Result<Option<ListMeta>, FeedError> {
        let wanted = self.wanted.len();
        let mut attempts = 1;
        loop {
            match self.part(feed, reader, limit, token).await {
                Err(error) if !token.is_empty() && attempts < ATTEMPTS && error.is_passing() => {
                    let Some(wait) = error.wait_to_read_again() else { return Err(error) };
                    self.wanted.truncate(wanted);
                    sleep(wait * attempts).await;
                }
                part => return part,
            }
            attempts += 1;
        }
    }

    async fn part<R: Reader>(
        &mut self,
        feed: &Feed,
        reader: &mut R,
        limit: usize,
        token: &str,
    ) -> Result<Option<ListMeta>, FeedError> {
        let mut items = feed.list(limit, token).await?;
        while let Some(item) = items.next().await? {
            let seen = item.seen()?;
            if !feed.reads_wanted() {
                self.share.count(reader.listed(&seen));
            } else if reader.wants(&seen) {
                self.share.count(true);
                self.wanted.push(Place::of(&seen));
                if self.share.lists_surely_whole() {
                    return Ok(None);
                }
            } else {
                self.share.count(false);
            }
        }
        items.end().map(Some)
    }
}

impl Place {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        Self { namespace: seen.head.namespace.to_string(), name: seen.head.name.to_string() }
    }

    /// Reads the object whole, as it was at `version` or later; `None` where it is gone.
    pub(super) async fn read(&self, feed: &Feed, version: &str) -> Result<Option<Item>, FeedError> {
        feed.metrics.read();
        feed.within(&self.namespace).whole(&self.name, version).await?.named(&self.name).await
    }

    /// The same, once more where that may help.
    async fn read_in_the_end(self, feed: &Feed, version: &str) -> Result<Option<Item>, FeedError> {
        let mut attempts = 1;
        loop {
            match self.read(feed, version).await {
                Err(error) if attempts < ATTEMPTS => match error.wait_to_read_again() {
                    Some(wait) => sleep(wait * attempts).await,
                    None => return Err(error),
                },
                read => return read,
            }
            attempts += 1;
        }
    }

    /// Reads these objects of a list, some at a time. The watch tells of what is gone by then.
    async fn read_all<R: Reader>(
        places: Vec<Self>,
        feed: &Feed,
        reader: &mut R,
        version: &str,
    ) -> Result<(), FeedError> {
        let reads = places.into_iter().map(|place| place.read_in_the_end(feed, version));
        let mut reads = stream::iter(reads).buffer_unordered(READS);
        while let Some(item) = reads.next().await {
            if let Some(item) = item? {
                reader.listed(&item.seen()?);
            }
        }
        Ok(())
    }
}
