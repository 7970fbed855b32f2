//! Follows one kind: lists it, watches it, and begins again where that breaks.

use std::time::Duration;

use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Feed, FeedError, Reader, audit,
    feed::ALL,
    frames::Frames,
    items::Item,
    listing::{Place, list},
    progress::{Lasts, Outcome, Phase, Progress, SHORT_WATCH, Wait, has_expired},
    reader::Known,
    transport::Share,
    turns::Turns,
    wire::{Change, Detail, Event, Frame},
};
use crate::summary::WatchState;

/// How long a watch may be silent before another takes its place. The API server sends a bookmark a minute, but
/// none where the version of the kind is what it was when the watch began. With the time that the next request
/// may take, that nobody answers any more is known within two minutes; who refuses at once may be restarting, and
/// is given the time for it.
const IDLE: Duration = Duration::from_secs(85);

/// How long a watch lasts that shows whether silence is that of a quiet kind, and the next ones where it is.
const PROBE: Duration = Duration::from_secs(15);
const QUIET: Duration = Duration::from_secs(75);

/// How much later than that the API server may end it.
const LATE: Duration = Duration::from_secs(10);

/// Those that are hurried together come back within this time.
const HURRIED: Duration = Duration::from_millis(500);

/// How long a watch lasts before the server ends it, in seconds. Spread, so that hundreds of
/// watches don't begin anew together.
const WATCH_SECONDS: std::ops::Range<u64> = 2700..3600;

/// Follows a kind until `cancel`, and sends what `reader` makes of it.
pub async fn follow<R: Reader>(
    feed: Feed,
    mut reader: R,
    news: mpsc::Sender<R::News>,
    turns: Turns,
    cancel: CancellationToken,
) {
    let mut follower = Follower {
        feed,
        reader: &mut reader,
        news,
        turns,
        progress: Progress::new(),
        told: WatchState::Syncing,
        listed_before: false,
        audit_at: audit::next(),
    };
    let _ = cancel.run_until_cancelled(follower.run()).await;
}

/// The receiver of the news is gone: there is nobody to follow for.
struct Unheard;

struct Follower<'a, R: Reader> {
    feed: Feed,
    reader: &'a mut R,
    news: mpsc::Sender<R::News>,
    turns: Turns,
    progress: Progress,
    /// What was told last of how the watch is.
    told: WatchState,
    listed_before: bool,
    /// When what the watch told is checked next.
    audit_at: Instant,
}

/// How a request or a watch came to its end, and how long the watch was open.
struct End {
    open: Duration,
    error: Option<FeedError>,
}

impl From<FeedError> for End {
    /// A request that failed.
    fn from(error: FeedError) -> Self {
        Self { open: Duration::ZERO, error: Some(error) }
    }
}

impl<R: Reader> Follower<'_, R> {
    async fn run(&mut self) -> Result<(), Unheard> {
        loop {
            let end = match self.progress.phase().clone() {
                Phase::Unpaged => self.list(ALL).await?.map(End::from),
                Phase::Pages(size) => self.list(size).await?.map(End::from),
                Phase::Follow(version) => self.watch(&version).await?,
            };
            // Nothing ended: what comes next comes at once.
            let Some(end) = end else { continue };
            let outcome = match &end.error {
                None => Outcome::Ended(end.open),
                Some(error) => {
                    // That a quiet kind is silent is no error yet.
                    if !matches!(error, FeedError::Silent(_)) || self.progress.lasts() != Lasts::Long {
                        self.feed.metrics.error(error.counted());
                    }
                    Outcome::Failed(error, end.open)
                }
            };
            let wait = self.step(outcome).await?;
            self.pause(wait).await;
        }
    }

    /// Takes a step, and tells how the watch is then.
    async fn step(&mut self, outcome: Outcome<'_>) -> Result<Wait, Unheard> {
        let wait = self.progress.step(outcome, Instant::now());
        if self.told != *self.progress.state() {
            self.told.clone_from(self.progress.state());
            let news = self.reader.state(&self.told);
            self.send(news).await?;
        }
        Ok(wait)
    }

    /// Waits, less long where others are hurried.
    async fn pause(&self, Wait { asked, more }: Wait) {
        sleep(asked).await;
        if !more.is_zero() && timeout(more, self.turns.hurried()).await.is_ok() {
            sleep(HURRIED.min(more).mul_f64(fastrand::f64())).await;
        }
    }

    /// Lists the kind; gives the error where it fails.
    async fn list(&mut self, limit: usize) -> Result<Option<FeedError>, Unheard> {
        let turn = self.turns.take(self.progress.is_in_doubt()).await.ok_or(Unheard)?;
        self.turns.begin();
        match turn.during(list(&mut self.feed, self.reader, limit)).await {
            Ok(version) => self.listed(&version).await.map(|()| None),
            Err(error) => {
                // What came of it would only take room until the next.
                self.reader.begin();
                Ok(Some(error))
            }
        }
    }

    async fn listed(&mut self, version: &str) -> Result<(), Unheard> {
        self.feed.metrics.heard();
        let news = self.reader.complete();
        self.send(news).await?;
        if std::mem::replace(&mut self.listed_before, true) {
            self.feed.metrics.relist();
        }
        self.step(Outcome::Listed(version)).await.map(drop)
    }

    async fn watch(&mut self, version: &str) -> Result<Option<End>, Unheard> {
        let (seconds, idle) = match self.progress.lasts() {
            Lasts::Long => (fastrand::u64(WATCH_SECONDS), IDLE),
            Lasts::Probe => (PROBE.as_secs(), PROBE + LATE),
            Lasts::Quiet => (QUIET.as_secs(), QUIET + LATE),
        };
        match self.feed.watch(version, seconds).await {
            Ok(frames) => {
                // That all up to this version was told is sure again.
                self.feed.metrics.heard();
                self.consume(frames, idle).await
            }
            Err(error) => Ok(Some(error.into())),
        }
    }

    /// Reads events until the watch ends, is silent for `idle`, a new list is asked for, or another watch serves
    /// better.
    async fn consume(&mut self, mut frames: Frames, idle: Duration) -> Result<Option<End>, Unheard> {
        let started = Instant::now();
        let end = |error| Ok(Some(End { open: started.elapsed(), error }));
        let mut share = Share::default();
        let mut silent = Duration::ZERO;
        // Set once, and not for each event.
        let mut audit_due = std::pin::pin!(tokio::time::sleep_until(self.audit_at));
        loop {
            // A watch that is reopened after a failure works once it has stayed open for a while.
            let in_doubt = self.progress.is_in_doubt();
            let patience = if in_doubt { SHORT_WATCH } else { idle - silent };
            let next = tokio::select! {
                next = next_frame(&mut frames, patience) => next,
                () = self.turns.asked() => {
                    self.step(Outcome::Anew).await?;
                    return Ok(None);
                }
                () = &mut audit_due => {
                    if self.audit().await {
                        audit_due.as_mut().reset(self.audit_at);
                        continue;
                    }
                    self.step(Outcome::Anew).await?;
                    return Ok(None);
                }
            };
            let frame = match next {
                Ok(Some(frame)) => frame,
                Err(FeedError::Silent(_)) if in_doubt => {
                    silent = SHORT_WATCH;
                    self.step(Outcome::Open).await?;
                    continue;
                }
                Err(FeedError::Silent(_)) => return end(Some(FeedError::Silent(idle))),
                Ok(None) => return end(None),
                Err(error) => return end(Some(error)),
            };
            let Event { change, seen } = match frame.event() {
                Ok(event) => event,
                Err(error) => return end(Some(error)),
            };
            self.feed.metrics.heard();
            silent = Duration::ZERO;
            let version = &*seen.head.resource_version;
            let news = match change {
                Change::Bookmark => None,
                Change::Deleted => self.reader.deleted(&seen),
                Change::Set if self.feed.reads_wanted() && self.reader.wants(&seen) => {
                    share.count(true);
                    if share.is_better_whole() {
                        // The next watch begins with this event.
                        self.feed.choose(Detail::Whole);
                        return Ok(None);
                    }
                    match self.read(&Place::of(&seen), version).await {
                        Ok(news) => news,
                        // However long the watch was open, it gets no further.
                        Err(error) => return Ok(Some(error.into())),
                    }
                }
                Change::Set => {
                    let news = self.reader.changed(&seen);
                    share.count(news.is_some());
                    news
                }
            };
            if !version.is_empty() {
                self.step(Outcome::Advanced(version)).await?;
            }
            if change == Change::Bookmark {
                let share = std::mem::take(&mut share);
                if self.feed.may_be_metadata() && (share.is_better_metadata() || self.knows_nothing()) {
                    self.feed.choose(Detail::Metadata);
                    return Ok(None);
                }
                continue;
            }
            self.feed.metrics.events(1);
            self.send(news).await?;
        }
    }

    fn knows_nothing(&self) -> bool {
        self.reader.known() == Some(Known(0))
    }

    /// Reads an object whole of which metadata came. One that is gone by then is told of by the watch.
    async fn read(&mut self, place: &Place, version: &str) -> Result<Option<R::News>, FeedError> {
        let item = place.read(&self.feed, version).await?;
        let seen = item.as_ref().map(Item::seen).transpose()?;
        Ok(seen.and_then(|seen| self.reader.changed(&seen)))
    }

    /// Compares what the watch told with a list; false where a new list is wanted. The watch waits
    /// meanwhile, so it is put off while others list.
    async fn audit(&mut self) -> bool {
        let Phase::Follow(version) = self.progress.phase() else { return true };
        let Some(turn) = self.turns.try_take() else {
            self.audit_at = audit::soon();
            return true;
        };
        self.audit_at = audit::next();
        let Some(known) = self.reader.known() else { return true };
        if version.is_empty() {
            // There is nothing to compare at.
            return false;
        }
        match turn.during(audit::drift(&self.feed, self.reader, version, known)).await {
            Ok(0) => true,
            Ok(count) => {
                let kind = self.feed.kind().resource_name();
                tracing::warn!(%kind, count, "the watch told otherwise than a list does: listing anew");
                self.feed.metrics.drift(count);
                false
            }
            // Nothing is there any more to compare with, as of a kind in which nothing has changed for long: a
            // new list tells as much, but not what was wrong.
            Err(error) if has_expired(&error) => false,
            // It may not be there exactly: what the watch told stands.
            Err(error) => {
                tracing::debug!(kind = %self.feed.kind().resource_name(), %error, "not compared");
                true
            }
        }
    }

    async fn send(&self, news: Option<R::News>) -> Result<(), Unheard> {
        match news {
            Some(news) => self.news.send(news).await.map_err(|_| Unheard),
            None => Ok(()),
        }
    }
}

async fn next_frame(frames: &mut Frames, idle: Duration) -> Result<Option<Frame>, FeedError> {
    match timeout(idle, frames.next()).await {
        Ok(frame) => frame,
        Err(_) => Err(FeedError::Silent(idle)),
    }
}
