//! What a follower does next: the state machine, without requests and without a clock of its own.

use std::time::Duration;

use tokio::time::Instant;

use super::FeedError;
use crate::summary::WatchState;

/// How long a kind that was synced may fail before it is called failing: longer than an API server
/// takes to restart.
const PATIENCE: Duration = Duration::from_secs(10);

/// A watch that ends sooner without an event is a failure: reopening it at once would be a busy
/// loop.
const SHORT_WATCH: Duration = Duration::from_secs(5);

/// The first and the longest wait after failures.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(800), Duration::from_secs(60));

/// The first and the longest wait after the server refused: rights change seldom.
const FORBIDDEN_BACKOFF: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(600));

/// The longest wait that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A watch that begins with a list.
    Stream,
    /// A list in pages.
    List,
    /// A watch of what happens after this resource version.
    Follow(String),
}

/// Where a follower stands.
#[derive(Debug)]
pub(super) struct Progress {
    phase: Phase,
    /// Whether streaming lists are still believed to work.
    streams: bool,
    failures: u32,
    failing_since: Option<Instant>,
    state: WatchState,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Stream,
            streams: true,
            failures: 0,
            failing_since: None,
            state: WatchState::Syncing,
        }
    }

    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    pub(super) fn state(&self) -> &WatchState {
        &self.state
    }

    /// A list is whole, or an event came: what was known is known again.
    pub(super) fn advanced(&mut self, resource_version: &str) {
        match &mut self.phase {
            Phase::Follow(version) => {
                version.clear();
                version.push_str(resource_version);
            }
            phase => *phase = Phase::Follow(resource_version.to_owned()),
        }
        self.recovered();
    }

    /// A watch was opened after the list.
    pub(super) fn reopened(&mut self) {
        self.state = WatchState::Synced;
    }

    fn recovered(&mut self) {
        self.failures = 0;
        self.failing_since = None;
        self.state = WatchState::Synced;
    }

    /// The server ended a watch after `lasted`, as it does from time to time. How long to wait.
    pub(super) fn ended(&mut self, lasted: Duration, now: Instant) -> Duration {
        match self.phase {
            Phase::Follow(_) if lasted >= SHORT_WATCH => {
                self.recovered();
                Duration::ZERO
            }
            Phase::Follow(_) => {
                let error = FeedError::Transport("the API server ends watches at once".to_owned());
                self.fail(&error, now)
            }
            // The stream ended before its list was whole: it is asked for in pages.
            Phase::Stream | Phase::List => self.without_stream(),
        }
    }

    /// A request or a watch failed. How long to wait before the next.
    pub(super) fn failed(&mut self, error: &FeedError, now: Instant) -> Duration {
        match (&self.phase, error.code()) {
            // The version is too old (410), or newer than the server's after it was restored (504).
            (Phase::Follow(_), Some(410 | 504)) => {
                self.phase = self.relist();
                let wait = if self.failures == 0 { Duration::ZERO } else { self.backoff(BACKOFF) };
                self.failures += 1;
                return wait;
            }
            (Phase::Follow(_), Some(400 | 404 | 405 | 422)) => self.phase = self.relist(),
            (Phase::Stream, Some(400 | 405 | 422)) => return self.without_stream(),
            // A list that stalls in the middle may be one that never says that it is whole.
            (Phase::Stream, None) if matches!(error, FeedError::Timeout(_)) => self.streams = false,
            _ => {}
        }
        if self.phase == Phase::Stream && !self.streams {
            self.phase = Phase::List;
        }
        self.fail(error, now)
    }

    fn fail(&mut self, error: &FeedError, now: Instant) -> Duration {
        let since = *self.failing_since.get_or_insert(now);
        let forbidden = error.code() == Some(403);
        if forbidden {
            self.state = WatchState::Forbidden(error.to_string());
        } else if !self.is_excused(error) || now.duration_since(since) >= PATIENCE {
            self.state = WatchState::Failing(error.to_string());
        }
        let wait = match error {
            // What the server asks for, a little spread; longer where it keeps asking.
            FeedError::Status { retry_after: Some(wait), .. } => {
                let asked = (*wait).min(MAX_RETRY_AFTER);
                let more = if self.failures == 0 {
                    asked.mul_f64(0.1 * fastrand::f64())
                } else {
                    self.backoff(BACKOFF)
                };
                asked + more
            }
            _ if forbidden => self.backoff(FORBIDDEN_BACKOFF),
            _ => self.backoff(BACKOFF),
        };
        self.failures = self.failures.saturating_add(1);
        wait
    }

    /// Whether a failure may pass by itself soon: of a kind that was synced, or of one that was made
    /// just now, for which the server asks to wait (429).
    fn is_excused(&self, error: &FeedError) -> bool {
        match self.state {
            WatchState::Synced => true,
            WatchState::Syncing => error.code() == Some(429),
            WatchState::Forbidden(_) | WatchState::Failing(_) => false,
        }
    }

    fn without_stream(&mut self) -> Duration {
        self.streams = false;
        self.phase = Phase::List;
        Duration::ZERO
    }

    fn relist(&self) -> Phase {
        if self.streams { Phase::Stream } else { Phase::List }
    }

    /// Doubles with each failure, and is spread over its upper half so that many kinds don't come
    /// back at once.
    fn backoff(&self, (first, longest): (Duration, Duration)) -> Duration {
        let full = first.saturating_mul(1 << self.failures.min(16)).min(longest);
        full.mul_f64(0.5 + 0.5 * fastrand::f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16) -> FeedError {
        FeedError::Status { code, message: "no".to_owned(), retry_after: None }
    }

    fn synced() -> Progress {
        let mut progress = Progress::new();
        progress.advanced("5");
        progress
    }

    #[test]
    fn a_list_leads_to_a_watch_from_its_version() {
        let mut progress = Progress::new();
        assert_eq!((progress.phase(), progress.state()), (&Phase::Stream, &WatchState::Syncing));
        progress.advanced("5");
        assert_eq!((progress.phase(), progress.state()), (&Phase::Follow("5".into()), &WatchState::Synced));
        progress.advanced("7");
        assert_eq!(progress.ended(Duration::from_secs(300), Instant::now()), Duration::ZERO);
        assert_eq!(progress.phase(), &Phase::Follow("7".into()));
    }

    #[test]
    fn an_expired_version_relists_at_once_and_then_backs_off() {
        for code in [410, 504] {
            let mut progress = synced();
            assert_eq!(progress.failed(&status(code), Instant::now()), Duration::ZERO);
            assert_eq!((progress.phase(), progress.state()), (&Phase::Stream, &WatchState::Synced));
            progress.phase = Phase::Follow("6".into());
            assert!(progress.failed(&status(code), Instant::now()) > Duration::ZERO);
        }
    }

    #[test]
    fn failures_without_progress_wait_longer_and_longer() {
        let mut progress = Progress::new();
        let now = Instant::now();
        let waits: Vec<Duration> = (0..10).map(|_| progress.failed(&status(500), now)).collect();
        assert!(
            waits[0] >= Duration::from_millis(400) && waits[0] <= Duration::from_millis(800),
            "{waits:?}"
        );
        assert!(waits[9] >= Duration::from_secs(30) && waits[9] <= Duration::from_secs(60), "{waits:?}");
        progress.advanced("1");
        assert!(progress.failed(&status(500), now) <= Duration::from_millis(800));
    }

    #[test]
    fn a_kind_that_was_synced_is_given_time() {
        let mut progress = synced();
        let start = Instant::now();
        progress.failed(&status(503), start);
        assert_eq!(progress.state(), &WatchState::Synced);
        progress.failed(&status(503), start + PATIENCE);
        assert_eq!(progress.state(), &WatchState::Failing("no (503)".into()));
        progress.reopened();
        assert_eq!(progress.state(), &WatchState::Synced);
    }

    #[test]
    fn a_kind_that_never_was_is_failing_at_once() {
        let mut progress = Progress::new();
        progress.failed(&status(500), Instant::now());
        assert_eq!(progress.state(), &WatchState::Failing("no (500)".into()));
    }

    #[test]
    fn what_is_forbidden_is_asked_for_seldom() {
        let mut progress = synced();
        let wait = progress.failed(&status(403), Instant::now());
        assert!(wait >= FORBIDDEN_BACKOFF.0 / 2, "{wait:?}");
        assert_eq!(progress.state(), &WatchState::Forbidden("no (403)".into()));
    }

    #[test]
    fn a_server_without_streaming_lists_is_asked_for_pages() {
        for code in [400, 405, 422] {
            let mut progress = Progress::new();
            assert_eq!(progress.failed(&status(code), Instant::now()), Duration::ZERO);
            assert_eq!(progress.phase(), &Phase::List);
            progress.advanced("5");
            progress.failed(&status(410), Instant::now());
            assert_eq!(progress.phase(), &Phase::List, "and stays so");
        }
        let mut progress = Progress::new();
        progress.failed(&FeedError::Timeout(Duration::from_secs(1)), Instant::now());
        assert_eq!(progress.phase(), &Phase::List);
    }

    #[test]
    fn watches_that_end_at_once_are_a_failure() {
        let mut progress = synced();
        assert!(progress.ended(Duration::from_millis(2), Instant::now()) > Duration::ZERO);
    }

    #[test]
    fn the_server_may_ask_for_more_time() {
        let mut progress = synced();
        let busy = FeedError::Status {
            code: 429,
            message: "busy".into(),
            retry_after: Some(Duration::from_secs(7)),
        };
        let wait = progress.failed(&busy, Instant::now());
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8), "{wait:?}");
        let mut new = Progress::new();
        new.failed(&busy, Instant::now());
        assert_eq!(new.state(), &WatchState::Syncing, "a kind that was made just now");
    }
}
