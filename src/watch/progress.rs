//! What a follower does next: the state machine, without requests and without a clock of its own.

use std::time::Duration;

use tokio::time::Instant;

use super::FeedError;
use crate::{metrics::WatchErrorCode, summary::WatchState};

/// How long a kind that was synced may be refused or fail before it is called so.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same where the API server can't be reached at all: longer than a single one takes to restart.
const PATIENCE_UNREACHABLE: Duration = Duration::from_secs(60);

/// A watch that is open for so long works, whether or not anything happens. One that ends sooner
/// without an event is a failure: reopening it at once would be a busy loop.
pub(super) const SHORT_WATCH: Duration = Duration::from_secs(5);

/// The first and the longest wait after failures.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(800), Duration::from_secs(30));

/// The first and the longest wait after the server refused: at first it may only not be up yet,
/// later rights change seldom.
const FORBIDDEN_BACKOFF: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(600));

/// The longest wait that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

/// So many lists at once are tried before a kind is listed in pages for good.
const TRIES: u32 = 2;

/// What the API server says where it is asked for a version that it hasn't reached, as after a
/// restore of its store. Gateways answer 504 too.
const TOO_LARGE_VERSION: &str = "Too large resource version";

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A list of all objects at once.
    List,
    /// A list in pages, where that didn't come through.
    Pages,
    /// A watch of what happens after this resource version.
    Follow(String),
}

/// Where a follower stands.
#[derive(Debug)]
pub(super) struct Progress {
    phase: Phase,
    /// Failures in a row, and among them those to be refused.
    failures: u32,
    refusals: u32,
    /// Lists at once in a row that didn't come through.
    cut_off: u32,
    /// Lists in a row whose version had expired when it was to be followed.
    expired: u32,
    failing_since: Option<Instant>,
    /// Since when the server has answered with errors alone: one that was down isn't fit for use at
    /// once.
    refused_since: Option<Instant>,
    cause: Option<WatchErrorCode>,
    state: WatchState,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::List,
            failures: 0,
            refusals: 0,
            cut_off: 0,
            expired: 0,
            failing_since: None,
            refused_since: None,
            cause: None,
            state: WatchState::Syncing,
        }
    }

    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    pub(super) fn state(&self) -> &WatchState {
        &self.state
    }

    /// Whether the last attempt failed and nothing has shown yet that the next one works.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.failures > 0
    }

    /// A list is whole.
    pub(super) fn listed(&mut self, resource_version: &str) {
        if self.phase == Phase::List {
            self.cut_off = 0;
        }
        self.phase = Phase::Follow(resource_version.to_owned());
        self.recovered();
    }

    /// A new list is wanted. What is known holds until it is whole.
    pub(super) fn anew(&mut self) {
        self.phase = self.relist();
    }

    /// An event or a bookmark came.
    pub(super) fn advanced(&mut self, resource_version: &str) {
        if let Phase::Follow(version) = &mut self.phase {
            version.clear();
            version.push_str(resource_version);
        }
        self.expired = 0;
        self.recovered();
    }

    /// A watch is open for as long as one that works.
    pub(super) fn recovered(&mut self) {
        self.failures = 0;
        self.refusals = 0;
        self.failing_since = None;
        self.refused_since = None;
        self.cause = None;
        self.state = WatchState::Synced;
    }

    /// The server ended a watch after `open`, as it does from time to time. How long to wait.
    pub(super) fn ended(&mut self, open: Duration, now: Instant) -> Duration {
        if open >= SHORT_WATCH {
            self.recovered();
            return Duration::ZERO;
        }
        self.fail(&FeedError::Transport("the API server ends watches at once".to_owned()), now)
    }

    /// A request failed, or a watch that was `open` for some time. How long to wait before the next.
    pub(super) fn failed(&mut self, error: &FeedError, open: Duration, now: Instant) -> Duration {
        if matches!(self.phase, Phase::Follow(_)) {
            if self.has_expired(error) {
                self.phase = self.relist();
                self.expired += 1;
                return if self.expired == 1 { Duration::ZERO } else { backoff(BACKOFF, self.expired) };
            }
            if open >= SHORT_WATCH {
                // What is between us and the server cuts long connections: nothing is wrong.
                self.recovered();
                if let FeedError::Timeout(silent) = error {
                    // Unless the next request fails too: then it has been wrong all the time.
                    self.failing_since = now.checked_sub(*silent);
                    self.failures = 1;
                }
                return backoff((Duration::ZERO, BACKOFF.0), 0);
            }
            if matches!(error.code(), Some(400 | 404 | 405 | 422)) {
                self.phase = self.relist();
            }
        }
        if self.phase == Phase::List && self.is_too_much(error) {
            self.cut_off += 1;
            self.phase = Phase::Pages;
        } else if self.phase == Phase::Pages && error.code() == Some(410) {
            self.phase = self.relist();
        }
        self.fail(error, now)
    }

    /// Whether a list at once may fail so every time, as where the connection is slow and each request has only
    /// so much time.
    fn is_too_much(&self, error: &FeedError) -> bool {
        match error {
            FeedError::BrokeOff(_) | FeedError::Timeout(_) | FeedError::Status { code: 413 | 504, .. } => {
                true
            }
            FeedError::Status { code: 500 | 502 | 503, retry_after: None, .. } => self.failures > 0,
            _ => false,
        }
    }

    fn relist(&self) -> Phase {
        if self.cut_off < TRIES { Phase::List } else { Phase::Pages }
    }

    fn has_expired(&self, error: &FeedError) -> bool {
        match error {
            FeedError::Status { code: 410, .. } => true,
            FeedError::Status { code: 504, message, .. } => message.contains(TOO_LARGE_VERSION),
            _ => false,
        }
    }

    fn fail(&mut self, error: &FeedError, now: Instant) -> Duration {
        let failing = *self.failing_since.get_or_insert(now);
        let since = match error.code() {
            Some(_) => *self.refused_since.get_or_insert(now),
            None => {
                self.refused_since = None;
                failing
            }
        };
        self.note(error, now.duration_since(since));
        let wait = match error {
            // What the server asks for, a little spread; longer where it keeps asking.
            FeedError::Status { retry_after: Some(wait), .. } => {
                let asked = (*wait).min(MAX_RETRY_AFTER);
                let more = if self.failures == 0 { asked / 10 } else { BACKOFF.0 * self.failures.min(16) };
                asked + more.mul_f64(fastrand::f64())
            }
            FeedError::Status { code: 403, .. } => {
                self.refusals += 1;
                backoff(FORBIDDEN_BACKOFF, self.refusals - 1)
            }
            _ => backoff(BACKOFF, self.failures),
        };
        self.failures = self.failures.saturating_add(1);
        wait
    }

    /// Calls the kind forbidden or failing once that is sure. What it says then stands until
    /// something else is wrong: the words of one failure may differ each time.
    fn note(&mut self, error: &FeedError, lasted: Duration) {
        let excused = match (&self.state, error.code()) {
            (WatchState::Synced, Some(_)) => lasted < PATIENCE,
            (WatchState::Synced, None) => lasted < PATIENCE_UNREACHABLE,
            // A kind that was made just now, for which the server asks to wait.
            (WatchState::Syncing, code) => code == Some(429) && lasted < PATIENCE,
            (_, _) => self.cause == Some(error.counted()),
        };
        if excused {
            return;
        }
        self.cause = Some(error.counted());
        self.state = match error.code() {
            Some(403) => WatchState::Forbidden(error.to_string()),
            _ => WatchState::Failing(error.to_string()),
        };
    }
}

/// Doubles with each failure, and is spread over its upper half so that many kinds don't come back
/// at once.
fn backoff((first, longest): (Duration, Duration), failures: u32) -> Duration {
    if first.is_zero() {
        return longest.mul_f64(fastrand::f64());
    }
    let full = first.saturating_mul(1 << failures.min(16)).min(longest);
    full.mul_f64(0.5 + 0.5 * fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER_OPEN: Duration = Duration::ZERO;
    const LONG_OPEN: Duration = Duration::from_secs(20);

    fn status(code: u16) -> FeedError {
        FeedError::Status { code, message: "no".to_owned(), retry_after: None }
    }

    fn cut() -> FeedError {
        FeedError::Transport("cut".to_owned())
    }

    fn synced() -> Progress {
        let mut progress = Progress::new();
        progress.listed("5");
        progress
    }

    #[test]
    fn a_list_leads_to_a_watch_from_its_version() {
        let mut progress = Progress::new();
        assert_eq!((progress.phase(), progress.state()), (&Phase::List, &WatchState::Syncing));
        progress.listed("5");
        assert_eq!((progress.phase(), progress.state()), (&Phase::Follow("5".into()), &WatchState::Synced));
        progress.advanced("7");
        assert_eq!(progress.ended(LONG_OPEN, Instant::now()), Duration::ZERO);
        assert_eq!(progress.phase(), &Phase::Follow("7".into()));
    }

    #[test]
    fn an_expired_version_relists_at_once() {
        let too_large =
            FeedError::Status { code: 504, message: format!("{TOO_LARGE_VERSION}: 9"), retry_after: None };
        for error in [status(410), too_large] {
            let mut progress = synced();
            assert_eq!(progress.failed(&error, NEVER_OPEN, Instant::now()), Duration::ZERO);
            assert_eq!((progress.phase(), progress.state()), (&Phase::List, &WatchState::Synced));
        }
        let mut progress = synced();
        assert!(progress.failed(&status(504), NEVER_OPEN, Instant::now()) > Duration::ZERO, "a gateway's");
        assert_eq!(progress.phase(), &Phase::Follow("5".into()));
    }

    #[test]
    fn a_version_that_expires_at_once_every_time_backs_off() {
        let mut progress = synced();
        let waits: Vec<Duration> = (0..8)
            .map(|_| {
                let wait = progress.failed(&status(410), NEVER_OPEN, Instant::now());
                progress.listed("6");
                wait
            })
            .collect();
        assert!(waits[1] > Duration::ZERO && waits[7] >= Duration::from_secs(15), "{waits:?}");
        progress.advanced("7");
        assert_eq!(progress.failed(&status(410), NEVER_OPEN, Instant::now()), Duration::ZERO);
    }

    #[test]
    fn failures_without_progress_wait_longer_and_longer() {
        let mut progress = Progress::new();
        let now = Instant::now();
        let waits: Vec<Duration> = (0..10).map(|_| progress.failed(&status(500), NEVER_OPEN, now)).collect();
        assert!(
            waits[0] >= Duration::from_millis(400) && waits[0] <= Duration::from_millis(800),
            "{waits:?}"
        );
        assert!(waits[9] >= Duration::from_secs(15) && waits[9] <= Duration::from_secs(30), "{waits:?}");
        progress.listed("1");
        assert!(progress.failed(&status(500), NEVER_OPEN, now) <= Duration::from_millis(800));
    }

    #[test]
    fn a_kind_that_was_synced_is_given_time() {
        let start = Instant::now();
        for (error, patience) in
            [(status(503), PATIENCE), (status(403), PATIENCE), (cut(), PATIENCE_UNREACHABLE)]
        {
            let mut progress = synced();
            progress.failed(&error, NEVER_OPEN, start);
            assert_eq!(progress.state(), &WatchState::Synced, "{error}");
            progress.failed(&error, NEVER_OPEN, start + patience);
            assert_eq!(progress.state().message(), Some(error.to_string().as_str()));
            progress.recovered();
            assert_eq!(progress.state(), &WatchState::Synced);
        }
    }

    #[test]
    fn a_server_that_was_down_is_given_time_to_come_up() {
        let start = Instant::now();
        let mut progress = synced();
        progress.failed(&cut(), NEVER_OPEN, start);
        let up = start + Duration::from_secs(50);
        for (error, after) in [(status(403), 0), (status(429), 4), (cut(), 5), (status(503), 9)] {
            progress.failed(&error, NEVER_OPEN, up + Duration::from_secs(after));
            assert_eq!(progress.state(), &WatchState::Synced, "{error} after {after} s");
        }
        progress.failed(&status(503), NEVER_OPEN, up + Duration::from_secs(9) + PATIENCE);
        assert_eq!(progress.state(), &WatchState::Failing(status(503).to_string()));
    }

    #[test]
    fn a_kind_that_never_was_is_failing_at_once() {
        let mut progress = Progress::new();
        progress.failed(&status(500), NEVER_OPEN, Instant::now());
        assert_eq!(progress.state(), &WatchState::Failing("no (500)".into()));
    }

    #[test]
    fn a_watch_that_is_cut_after_a_while_is_no_failure_in_a_row() {
        let mut progress = synced();
        let mut now = Instant::now();
        for _ in 0..20 {
            now += LONG_OPEN;
            assert!(progress.failed(&cut(), LONG_OPEN, now) <= BACKOFF.0);
            assert_eq!(progress.state(), &WatchState::Synced);
        }
    }

    #[test]
    fn a_watch_that_fell_silent_was_failing_meanwhile_if_the_next_fails_too() {
        let silent = FeedError::Timeout(Duration::from_secs(85));
        let unanswered = FeedError::Timeout(Duration::from_secs(30));
        let start = Instant::now() + Duration::from_secs(100);
        let mut progress = synced();
        assert!(progress.failed(&silent, LONG_OPEN, start) <= BACKOFF.0);
        assert_eq!(progress.state(), &WatchState::Synced, "the next may work");
        assert!(progress.is_in_doubt());
        progress.failed(&unanswered, NEVER_OPEN, start + Duration::from_secs(30));
        assert_eq!(progress.state(), &WatchState::Failing(unanswered.to_string()));

        let mut progress = synced();
        progress.failed(&silent, LONG_OPEN, start);
        progress.recovered();
        progress.failed(&unanswered, NEVER_OPEN, start + Duration::from_secs(30));
        assert_eq!(progress.state(), &WatchState::Synced, "it worked in between");
    }

    #[test]
    fn the_reason_of_a_failure_stands_while_it_lasts() {
        let mut progress = Progress::new();
        let now = Instant::now();
        progress.failed(&FeedError::Transport("port 1".into()), NEVER_OPEN, now);
        progress.failed(&FeedError::Transport("port 2".into()), NEVER_OPEN, now);
        assert_eq!(progress.state(), &WatchState::Failing("port 1".into()));
        progress.failed(&status(403), NEVER_OPEN, now);
        assert_eq!(progress.state(), &WatchState::Forbidden("no (403)".into()));
    }

    #[test]
    fn what_is_forbidden_is_asked_for_seldom_in_the_end() {
        let mut progress = Progress::new();
        let now = Instant::now();
        for _ in 0..6 {
            progress.failed(&cut(), NEVER_OPEN, now);
        }
        // What failed otherwise before doesn't make the first refusals wait.
        let waits: Vec<Duration> = (0..12).map(|_| progress.failed(&status(403), NEVER_OPEN, now)).collect();
        assert!(waits[0] <= Duration::from_secs(2), "{waits:?}");
        assert!(waits[11] >= Duration::from_secs(300), "{waits:?}");
    }

    #[test]
    fn what_does_not_come_through_at_once_comes_in_pages() {
        let broke_off = FeedError::BrokeOff("cut".into());
        let mut progress = Progress::new();
        let fail = |progress: &mut Progress, error: &FeedError| {
            progress.failed(error, NEVER_OPEN, Instant::now());
            progress.phase().clone()
        };
        // A server that isn't there, or that fails once, says nothing of the list.
        assert_eq!(fail(&mut progress, &cut()), Phase::List);
        assert_eq!(fail(&mut Progress::new(), &status(500)), Phase::List);
        assert_eq!(fail(&mut progress, &status(403)), Phase::List);
        assert_eq!(fail(&mut progress, &status(500)), Phase::Pages, "again");
        assert_eq!(fail(&mut progress, &status(500)), Phase::Pages);
        assert_eq!(fail(&mut progress, &status(410)), Phase::List, "a page has expired");
        progress.listed("5");

        for code in [413, 504] {
            assert_eq!(fail(&mut Progress::new(), &status(code)), Phase::Pages);
        }
        let slow = FeedError::Timeout(Duration::from_secs(30));
        assert_eq!(fail(&mut Progress::new(), &slow), Phase::Pages);

        assert_eq!(fail(&mut progress, &status(410)), Phase::List, "its version has expired");
        assert_eq!(fail(&mut progress, &broke_off), Phase::Pages);
        progress.listed("6");
        assert_eq!(fail(&mut progress, &status(410)), Phase::List, "it is tried once more");
        assert_eq!(fail(&mut progress, &broke_off), Phase::Pages);
        progress.listed("7");
        assert_eq!(fail(&mut progress, &status(410)), Phase::Pages, "and not every time");
    }

    #[test]
    fn watches_that_end_at_once_are_a_failure() {
        let mut progress = synced();
        assert!(progress.ended(Duration::from_millis(2), Instant::now()) > Duration::ZERO);
        assert!(progress.is_in_doubt());
    }

    #[test]
    fn the_server_may_ask_for_more_time() {
        let mut progress = synced();
        let busy = FeedError::Status {
            code: 429,
            message: "busy".into(),
            retry_after: Some(Duration::from_secs(7)),
        };
        let wait = progress.failed(&busy, NEVER_OPEN, Instant::now());
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8), "{wait:?}");
        let mut new = Progress::new();
        new.failed(&busy, NEVER_OPEN, Instant::now());
        assert_eq!(new.state(), &WatchState::Syncing, "a kind that was made just now");
    }
}
