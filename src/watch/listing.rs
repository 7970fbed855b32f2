//! One list of a kind as it comes in.

use futures::{StreamExt, stream};

use super::{
    Feed, FeedError, Reader, Seen,
    transport::lists_whole,
    wire::{Detail, Page},
};

/// Reads of single objects at a time.
const READS: usize = 8;

/// A list that isn't whole yet.
#[derive(Default)]
pub(super) struct Listing {
    objects: usize,
    /// Those of which metadata came and that have to be read whole.
    wanted: Vec<Name>,
}

/// Where an object is.
pub(super) struct Name {
    namespace: String,
    name: String,
}

impl Listing {
    /// A list begins.
    pub(super) fn of<R: Reader>(reader: &mut R) -> Self {
        reader.begin();
        Self::default()
    }

    /// Takes in an object of the list.
    pub(super) fn take<R: Reader>(&mut self, feed: &Feed, reader: &mut R, seen: &Seen<'_>) {
        self.objects += 1;
        if feed.may_lack() && reader.wants(seen) {
            self.wanted.push(Name::of(seen));
        } else {
            reader.listed(seen);
        }
    }

    /// An object of the list went meanwhile.
    pub(super) fn remove<R: Reader>(&mut self, reader: &mut R, seen: &Seen<'_>) {
        self.wanted.retain(|wanted| !wanted.is_of(seen));
        reader.unlisted(seen);
    }

    /// Whether it is better made anew, of whole objects.
    pub(super) fn is_better_whole(&self, is_complete: bool) -> bool {
        lists_whole(self.objects, self.wanted.len(), is_complete)
    }

    /// Reads what has to be read whole, as it was at `version` or later. The watch tells of what is gone
    /// by then.
    pub(super) async fn complete<R: Reader>(
        self,
        feed: &Feed,
        reader: &mut R,
        version: &str,
    ) -> Result<(), FeedError> {
        let wanted = self.wanted.into_iter().map(|wanted| wanted.read(feed, version));
        let mut reads = stream::iter(wanted).buffer_unordered(READS);
        while let Some(page) = reads.next().await {
            for seen in page?.parse()?.seen() {
                reader.listed(&seen);
            }
        }
        Ok(())
    }
}

impl Name {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        Self { namespace: seen.head.namespace.to_string(), name: seen.head.name.to_string() }
    }

    fn is_of(&self, seen: &Seen<'_>) -> bool {
        self.namespace == seen.head.namespace && self.name == seen.head.name
    }

    /// Reads the object whole, as it was at `version` or later.
    pub(super) fn read(
        self,
        feed: &Feed,
        version: &str,
    ) -> impl Future<Output = Result<Page, FeedError>> + Send + use<> {
        let (feed, version) = (feed.within(&self.namespace), version.to_owned());
        async move {
            feed.metrics.read();
            feed.whole(&self.name, &version).await
        }
    }
}

/// Lists a kind in pages into `reader`; gives the version of the list.
pub(super) async fn read_pages<R: Reader>(feed: &mut Feed, reader: &mut R) -> Result<String, FeedError> {
    loop {
        let mut listing = Listing::of(reader);
        let mut token = String::new();
        let version = loop {
            let page = feed.page(&token).await?;
            let listed = page.parse()?;
            for seen in listed.seen() {
                listing.take(feed, reader, &seen);
            }
            let is_complete = listed.token.is_empty();
            if listing.is_better_whole(is_complete) {
                break None;
            }
            if is_complete {
                break Some(listed.resource_version);
            }
            token = listed.token;
        };
        match version {
            Some(version) => {
                listing.complete(feed, reader, &version).await?;
                return Ok(version);
            }
            None => feed.show(Detail::Whole),
        }
    }
}
