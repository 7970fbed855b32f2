//! Follows one kind: lists it, watches it, and begins again where that breaks.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde::{Deserialize, de::DeserializeOwned};
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Feed, FeedError,
    feed::Page,
    lines::Lines,
    progress::{Phase, Progress},
};
use crate::summary::WatchState;

/// How long a watch may be silent. The API server sends a bookmark a minute.
const IDLE: Duration = Duration::from_secs(110);

/// How long a list may stall. A server that doesn't know streaming lists never says that one is whole.
const LIST_IDLE: Duration = Duration::from_secs(30);

/// How long a watch lasts before the server ends it, in seconds. Spread, so that hundreds of
/// watches don't begin anew together.
const WATCH_SECONDS: std::ops::Range<u64> = 2700..3600;

/// The annotation of the bookmark that ends the list of a streaming list.
const LIST_END: &str = "k8s.io/initial-events-end";

/// Makes news of what a follower sees.
pub trait Reader: Send {
    /// What it makes.
    type News: Send;

    /// A new list begins. What was known stays until it is whole.
    fn begin(&mut self);

    /// An object of the list.
    fn listed(&mut self, seen: &Seen<'_>);

    /// An object of the list went before the list was whole.
    fn unlisted(&mut self, seen: &Seen<'_>);

    /// The list is whole: what wasn't in it is gone.
    fn complete(&mut self) -> Option<Self::News>;

    /// An object is new or changed.
    fn changed(&mut self, seen: &Seen<'_>) -> Option<Self::News>;

    /// An object is gone.
    fn deleted(&mut self, seen: &Seen<'_>) -> Option<Self::News>;

    /// How the watch is has changed.
    fn state(&mut self, state: &WatchState) -> Option<Self::News>;
}

/// An object as it came.
pub struct Seen<'a> {
    /// What names it.
    pub head: Head<'a>,
    /// The JSON that it stands in.
    pub json: &'a [u8],
    /// Whether that is the object, or an event around it.
    pub in_event: bool,
}

/// What names an object.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Head<'a> {
    /// `metadata.uid`, empty where there is none.
    #[serde(borrow)]
    pub uid: Cow<'a, str>,
    /// `metadata.namespace`, empty where there is none.
    #[serde(borrow)]
    pub namespace: Cow<'a, str>,
    /// `metadata.name`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
}

impl Seen<'_> {
    /// Reads the object.
    ///
    /// # Errors
    /// Where the JSON doesn't fit.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        #[derive(Deserialize)]
        struct Event<T> {
            object: T,
        }
        if self.in_event {
            serde_json::from_slice::<Event<T>>(self.json).map(|event| event.object)
        } else {
            serde_json::from_slice(self.json)
        }
    }
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: Whole<'a>,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow, default)]
    metadata: Head<'a>,
}

/// Follows a kind until `cancel`, and sends what `reader` makes of it.
pub async fn follow<R: Reader>(
    feed: Feed,
    mut reader: R,
    news: mpsc::Sender<R::News>,
    first_lists: Arc<Semaphore>,
    cancel: CancellationToken,
) {
    let mut follower = Follower {
        feed,
        reader: &mut reader,
        news,
        lists: first_lists,
        progress: Progress::new(),
        listed_before: false,
    };
    let _ = cancel.run_until_cancelled(follower.run()).await;
}

/// The receiver of the news is gone: there is nobody to follow for.
struct Unheard;

struct Follower<'a, R: Reader> {
    feed: Feed,
    reader: &'a mut R,
    news: mpsc::Sender<R::News>,
    lists: Arc<Semaphore>,
    progress: Progress,
    listed_before: bool,
}

/// How a watch came to its end.
enum End {
    Ended { lasted: Duration },
    Failed(FeedError),
}

impl<R: Reader> Follower<'_, R> {
    async fn run(&mut self) -> Result<(), Unheard> {
        loop {
            let before = self.progress.state().clone();
            let end = match self.progress.phase().clone() {
                Phase::Stream => self.stream().await?,
                Phase::List => match self.list().await? {
                    Ok(()) => continue,
                    Err(error) => End::Failed(error),
                },
                Phase::Follow(version) => self.watch(&version).await?,
            };
            let now = Instant::now();
            let wait = match end {
                End::Ended { lasted } => self.progress.ended(lasted, now),
                End::Failed(error) => {
                    self.feed.metrics.error(error.counted());
                    self.progress.failed(&error, now)
                }
            };
            self.tell_state(&before).await?;
            tokio::time::sleep(wait).await;
        }
    }

    /// A streaming list and the watch that it goes over into.
    async fn stream(&mut self) -> Result<End, Unheard> {
        let Ok(permit) = Arc::clone(&self.lists).acquire_owned().await else { return Err(Unheard) };
        let mut lines = match self.feed.stream(fastrand::u64(WATCH_SECONDS)).await {
            Ok(lines) => lines,
            Err(error) => return Ok(End::Failed(error)),
        };
        let started = Instant::now();
        self.reader.begin();
        loop {
            let line = match next_line(&mut lines, LIST_IDLE).await {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(End::Ended { lasted: started.elapsed() }),
                Err(error) => return Ok(End::Failed(error)),
            };
            let event = match parse(&line) {
                Ok(event) => event,
                Err(error) => return Ok(End::Failed(error)),
            };
            match &*event.kind {
                "BOOKMARK" if ends_list(&line) => {
                    let version = event.object.metadata.resource_version.into_owned();
                    drop(permit);
                    self.listed(&version).await?;
                    return self.consume(lines, started).await;
                }
                "BOOKMARK" => {}
                // An object may change or go while the list is on its way.
                "DELETED" => self.reader.unlisted(&seen(event, &line)),
                _ => self.reader.listed(&seen(event, &line)),
            }
        }
    }

    /// A list in pages.
    async fn list(&mut self) -> Result<Result<(), FeedError>, Unheard> {
        let Ok(_permit) = Arc::clone(&self.lists).acquire_owned().await else { return Err(Unheard) };
        match read_pages(&self.feed, self.reader).await {
            Ok(version) => self.listed(&version).await.map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn listed(&mut self, version: &str) -> Result<(), Unheard> {
        let before = self.progress.state().clone();
        let news = self.reader.complete();
        self.send(news).await?;
        if std::mem::replace(&mut self.listed_before, true) {
            self.feed.metrics.relist();
        }
        self.progress.advanced(version);
        self.tell_state(&before).await
    }

    async fn watch(&mut self, version: &str) -> Result<End, Unheard> {
        let lines = match self.feed.watch(version, fastrand::u64(WATCH_SECONDS)).await {
            Ok(lines) => lines,
            Err(error) => return Ok(End::Failed(error)),
        };
        let before = self.progress.state().clone();
        self.progress.reopened();
        self.tell_state(&before).await?;
        self.consume(lines, Instant::now()).await
    }

    /// Reads events until the watch ends.
    async fn consume(&mut self, mut lines: Lines, started: Instant) -> Result<End, Unheard> {
        loop {
            let line = match next_line(&mut lines, IDLE).await {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(End::Ended { lasted: started.elapsed() }),
                Err(error) => return Ok(End::Failed(error)),
            };
            let event = match parse(&line) {
                Ok(event) => event,
                Err(error) => return Ok(End::Failed(error)),
            };
            if !event.object.metadata.resource_version.is_empty() {
                self.progress.advanced(&event.object.metadata.resource_version);
            }
            if event.kind != "BOOKMARK" {
                self.feed.metrics.events(1);
            }
            let news = match &*event.kind {
                "BOOKMARK" => None,
                "DELETED" => self.reader.deleted(&seen(event, &line)),
                _ => self.reader.changed(&seen(event, &line)),
            };
            self.send(news).await?;
        }
    }

    async fn tell_state(&mut self, before: &WatchState) -> Result<(), Unheard> {
        let state = self.progress.state();
        if state == before {
            return Ok(());
        }
        let news = self.reader.state(state);
        self.send(news).await
    }

    async fn send(&self, news: Option<R::News>) -> Result<(), Unheard> {
        match news {
            Some(news) => self.news.send(news).await.map_err(|_| Unheard),
            None => Ok(()),
        }
    }
}

/// Lists a kind in pages into `reader`; gives the version of the list.
pub(super) async fn read_pages<R: Reader>(feed: &Feed, reader: &mut R) -> Result<String, FeedError> {
    reader.begin();
    let mut token = String::new();
    loop {
        let page = feed.page(&token).await?;
        let meta = read_page(&page, reader)?;
        if meta.r#continue.is_empty() {
            return Ok(meta.resource_version);
        }
        token = meta.r#continue;
    }
}

fn read_page<R: Reader>(page: &Page, reader: &mut R) -> Result<super::feed::ListMeta, FeedError> {
    let listed = page.parse()?;
    for item in listed.items() {
        let whole: Whole<'_> = serde_json::from_slice(item).unwrap_or(Whole { metadata: Head::default() });
        reader.listed(&Seen { head: whole.metadata, json: item, in_event: false });
    }
    Ok(listed.metadata)
}

async fn next_line(lines: &mut Lines, idle: Duration) -> Result<Option<bytes::Bytes>, FeedError> {
    match timeout(idle, lines.next()).await {
        Ok(line) => line,
        Err(_) => Err(FeedError::Timeout(idle)),
    }
}

fn seen<'a>(event: Event<'a>, line: &'a [u8]) -> Seen<'a> {
    Seen { head: event.object.metadata, json: line, in_event: true }
}

/// Reads an event; an ERROR event is the error that it carries.
fn parse(line: &[u8]) -> Result<Event<'_>, FeedError> {
    #[derive(Deserialize)]
    struct Error {
        object: Status,
    }
    #[derive(Deserialize)]
    struct Status {
        #[serde(default)]
        code: u16,
        #[serde(default)]
        message: String,
    }
    let unreadable = |error: serde_json::Error| FeedError::Unreadable(error.to_string());
    let event: Event<'_> = serde_json::from_slice(line).map_err(unreadable)?;
    if event.kind != "ERROR" {
        return Ok(event);
    }
    let Error { object } = serde_json::from_slice(line).map_err(unreadable)?;
    let message = crate::model::text::message(&object.message);
    Err(FeedError::Status { code: object.code, message, retry_after: None })
}

fn ends_list(line: &[u8]) -> bool {
    memchr::memmem::find(line, LIST_END.as_bytes()).is_some()
}
