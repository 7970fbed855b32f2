//! The slow check of what a watch told: even a right watcher may miss an event (etcd's own list of
//! found faults has lost and doubled ones), and nothing else would ever notice.
//!
//! The list that is compared with is of exactly the version that the watch has reached, so that what
//! changes meanwhile is no difference. Metadata is enough for it.

use std::{ops::Range, time::Duration};

use tokio::time::Instant;

use super::{
    Feed, FeedError, Reader,
    pages::Pages,
    reader::{Compared, Known},
};

/// Seconds between two checks of a kind. Spread, so that all kinds don't come together.
const EVERY: Range<u64> = 1800..3600;

/// The same where a check was put off.
const SOON: Range<u64> = 30..90;

/// When a kind is checked next.
pub(super) fn next() -> Instant {
    Instant::now() + Duration::from_secs(fastrand::u64(EVERY))
}

/// When a kind is checked that couldn't be now.
pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(fastrand::u64(SOON))
}

/// Lists a kind as it was at `version`, which `reader` has reached, and gives how many objects are
/// otherwise than it knows them.
///
/// # Errors
/// Where the list can't be read whole, as when the server has forgotten the version.
pub(super) async fn drift<R: Reader>(
    feed: &Feed,
    reader: &R,
    version: &str,
    known: Known,
) -> Result<usize, FeedError> {
    let mut confirmed = 0;
    let mut otherwise = 0;
    let mut pages = Pages::default();
    loop {
        let mut items = feed.exact(version, pages.token()).await?;
        while let Some(item) = items.next().await? {
            match reader.compare(&item.seen()?) {
                Compared::Alien => {}
                Compared::Same => confirmed += 1,
                Compared::Changed => {
                    confirmed += 1;
                    otherwise += 1;
                }
                Compared::New => otherwise += 1,
            }
        }
        if !pages.turn(&items.end()?)? {
            let lost = known.0.saturating_sub(confirmed);
            return Ok(otherwise + lost);
        }
    }
}
