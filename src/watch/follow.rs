//! Follows one kind: lists it, watches it, and begins again where that breaks.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Feed, FeedError, Reader, audit,
    feed::{ALL, PAGE},
    frames::Frames,
    items::Item,
    listing::{Name, list},
    live_rules::{Asked, LiveRules},
    progress::{Phase, Progress, SHORT_WATCH},
    reader::Known,
    transport::Share,
    wire::{Change, Event, Frame},
};
use crate::{model::Kind, summary::WatchState};

/// How long a watch may be silent. The API server sends a bookmark a minute. With the time that the next
/// request may take, that a kind isn't seen any more is known within two minutes.
const IDLE: Duration = Duration::from_secs(85);

/// How long a list that goes on keeps its turn.
const TURN: Duration = Duration::from_secs(3);

/// How long a watch lasts before the server ends it, in seconds. Spread, so that hundreds of
/// watches don't begin anew together.
const WATCH_SECONDS: std::ops::Range<u64> = 2700..3600;

/// Who may list at the same time: the API server gives one client a bounded share. Kinds that failed
/// have turns of their own, so that they hold up nobody else.
#[derive(Clone, Debug)]
pub struct Turns {
    first: Arc<Semaphore>,
    again: Arc<Semaphore>,
    hurry: Arc<Notify>,
    asked: Option<Asked>,
}

impl Turns {
    /// So many kinds at the same time, and a quarter of that of those that failed.
    pub fn new(kinds: usize) -> Self {
        Self {
            first: Arc::new(Semaphore::new(kinds)),
            again: Arc::new(Semaphore::new(kinds.div_ceil(4))),
            hurry: Arc::default(),
            asked: None,
        }
    }

    /// The same turns for the follower of `kind`, which lists anew whenever its `rules` change.
    #[must_use]
    pub fn under(&self, rules: &LiveRules, kind: &Arc<Kind>) -> Self {
        Self { asked: Some(rules.followed(kind)), ..self.clone() }
    }

    /// Ends the wait of every follower that waits after a failure: there is a sign that asking again
    /// is worth it.
    pub fn hurry(&self) {
        self.hurry.notify_waiters();
    }

    /// A list begins.
    fn begin(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.answered();
        }
    }

    /// Waits until another list is asked for.
    async fn asked(&mut self) {
        match &mut self.asked {
            Some(asked) => asked.heard().await,
            None => std::future::pending().await,
        }
    }
}

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
                Phase::List => self.list(ALL).await?.map(End::from),
                Phase::Pages => self.list(PAGE).await?.map(End::from),
                Phase::Follow(version) => self.watch(&version).await?,
            };
            // Nothing ended: what comes next comes at once.
            let Some(end) = end else { continue };
            let now = Instant::now();
            let wait = match end.error {
                None => self.progress.ended(end.open, now),
                Some(error) => {
                    self.feed.metrics.error(error.counted());
                    self.progress.failed(&error, end.open, now)
                }
            };
            self.tell_state().await?;
            // Signs are no more frequent than what the API server serves changes.
            let _ = timeout(wait, self.turns.hurry.notified()).await;
        }
    }

    /// Lists the kind; gives the error where it fails.
    async fn list(&mut self, limit: usize) -> Result<Option<FeedError>, Unheard> {
        let turn = self.turn().await?;
        self.turns.begin();
        match within_turn(turn, list(&mut self.feed, self.reader, limit)).await {
            Ok(version) => self.listed(&version).await.map(|()| None),
            Err(error) => {
                // What came of it would only take room until the next.
                self.reader.begin();
                Ok(Some(error))
            }
        }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Unheard> {
        let turns = if self.progress.is_in_doubt() { &self.turns.again } else { &self.turns.first };
        Arc::clone(turns).acquire_owned().await.map_err(|_| Unheard)
    }

    async fn listed(&mut self, version: &str) -> Result<(), Unheard> {
        self.feed.metrics.heard();
        let news = self.reader.complete();
        self.send(news).await?;
        if std::mem::replace(&mut self.listed_before, true) {
            self.feed.metrics.relist();
        }
        self.progress.listed(version);
        self.tell_state().await
    }

    async fn watch(&mut self, version: &str) -> Result<Option<End>, Unheard> {
        match self.feed.watch(version, fastrand::u64(WATCH_SECONDS)).await {
            Ok(frames) => self.consume(frames).await,
            Err(error) => Ok(Some(error.into())),
        }
    }

    /// Reads events until the watch ends, a new list is asked for, or another watch serves better.
    async fn consume(&mut self, mut frames: Frames) -> Result<Option<End>, Unheard> {
        let started = Instant::now();
        let end = |error| Ok(Some(End { open: started.elapsed(), error }));
        let mut share = Share::default();
        // Set once, and not for each event.
        let mut audit_due = std::pin::pin!(tokio::time::sleep_until(self.audit_at));
        loop {
            // A watch that is reopened after a failure works once it has stayed open for a while.
            let patience = if self.progress.is_in_doubt() { SHORT_WATCH } else { IDLE };
            let next = tokio::select! {
                next = next_frame(&mut frames, patience) => next,
                () = self.turns.asked() => {
                    self.progress.anew();
                    return Ok(None);
                }
                () = &mut audit_due => {
                    if self.audit().await? {
                        audit_due.as_mut().reset(self.audit_at);
                        continue;
                    }
                    self.progress.anew();
                    return Ok(None);
                }
            };
            let frame = match next {
                Ok(Some(frame)) => frame,
                Err(FeedError::Timeout(_)) if patience == SHORT_WATCH => {
                    self.progress.recovered();
                    self.tell_state().await?;
                    continue;
                }
                Ok(None) => return end(None),
                Err(error) => return end(Some(error)),
            };
            let Event { change, seen } = match frame.event() {
                Ok(event) => event,
                Err(error) => return end(Some(error)),
            };
            self.feed.metrics.heard();
            let version = &*seen.head.resource_version;
            let news = match change {
                Change::Bookmark => None,
                Change::Deleted => self.reader.deleted(&seen),
                Change::Set if self.feed.may_lack() && self.reader.wants(&seen) => {
                    share.count(true);
                    if share.is_better_whole() {
                        // The next watch begins with this event.
                        self.feed.choose(true);
                        return Ok(None);
                    }
                    match self.read(Name::of(&seen), version).await {
                        Ok(news) => news,
                        Err(error) => return end(Some(error)),
                    }
                }
                Change::Set => {
                    let news = self.reader.changed(&seen);
                    share.count(news.is_some());
                    news
                }
            };
            if !version.is_empty() {
                self.progress.advanced(version);
                self.tell_state().await?;
            }
            if change == Change::Bookmark {
                let share = std::mem::take(&mut share);
                if self.feed.may_be_metadata() && (share.is_better_metadata() || self.knows_nothing()) {
                    self.feed.choose(false);
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
    async fn read(&mut self, name: Name, version: &str) -> Result<Option<R::News>, FeedError> {
        let item = name.read(&self.feed, version).await?;
        let seen = item.as_ref().map(Item::seen).transpose()?;
        Ok(seen.and_then(|seen| self.reader.changed(&seen)))
    }

    /// Compares what the watch told with a list; false where they differ. The watch waits meanwhile.
    async fn audit(&mut self) -> Result<bool, Unheard> {
        self.audit_at = audit::next();
        let Phase::Follow(version) = self.progress.phase() else { return Ok(true) };
        let Some(known) = self.reader.known() else { return Ok(true) };
        let _turn = self.turn().await?;
        match audit::drift(&self.feed, self.reader, version, known).await {
            Ok(0) => Ok(true),
            Ok(count) => {
                let kind = self.feed.kind().resource_name();
                tracing::warn!(%kind, count, "the watch told otherwise than a list does: listing anew");
                self.feed.metrics.drift(count);
                Ok(false)
            }
            // It may have been forgotten, or not be there exactly: what the watch told stands.
            Err(error) => {
                tracing::debug!(kind = %self.feed.kind().resource_name(), %error, "not compared");
                Ok(true)
            }
        }
    }

    /// Tells how the watch is, where that was not told yet.
    async fn tell_state(&mut self) -> Result<(), Unheard> {
        if self.told == *self.progress.state() {
            return Ok(());
        }
        self.told.clone_from(self.progress.state());
        let news = self.reader.state(&self.told);
        self.send(news).await
    }

    async fn send(&self, news: Option<R::News>) -> Result<(), Unheard> {
        match news {
            Some(news) => self.news.send(news).await.map_err(|_| Unheard),
            None => Ok(()),
        }
    }
}

/// Waits for a request, and gives the turn back early where it takes long.
async fn within_turn<T>(turn: OwnedSemaphorePermit, request: impl Future<Output = T>) -> T {
    let mut request = std::pin::pin!(request);
    match timeout(TURN, &mut request).await {
        Ok(answer) => answer,
        Err(_) => {
            drop(turn);
            request.await
        }
    }
}

async fn next_frame(frames: &mut Frames, idle: Duration) -> Result<Option<Frame>, FeedError> {
    match timeout(idle, frames.next()).await {
        Ok(frame) => frame,
        Err(_) => Err(FeedError::Timeout(idle)),
    }
}
