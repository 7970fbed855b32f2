//! What a follower does next: the state machine, without requests and without a clock of its own.

use std::time::Duration;

use tokio::time::Instant;

use super::{FeedError, feed::PAGE};
use crate::{metrics::WatchErrorCode, summary::WatchState};

/// How long a kind that was synced may be refused or fail before it is called so.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The same where the API server can't be reached at all: longer than a single one takes to restart.
pub(super) const PATIENCE_UNREACHABLE: Duration = Duration::from_secs(60);

/// Once a watch fell silent, nobody answers for so long before that is taken for what made it silent: a server that
/// restarts right then is given its time.
const UNANSWERED: Duration = Duration::from_secs(20);

/// Who takes longer than this to fail gives no answer; who refuses is quicker.
const SLOW: Duration = Duration::from_secs(4);

/// A watch that is open for so long works, whether or not anything happens. One that ends sooner
/// without an event is a failure: reopening it at once would be a busy loop.
pub(super) const SHORT_WATCH: Duration = Duration::from_secs(5);

/// The first and the longest wait after failures.
pub(super) const BACKOFF: (Duration, Duration) = (Duration::from_millis(800), Duration::from_secs(30));

/// The first and the longest wait after the server refused: at first it may only not be up yet,
/// later rights change seldom.
const FORBIDDEN_BACKOFF: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(600));

/// The longest wait that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

/// So many unpaged lists are tried in a row before a kind is listed in pages for good.
const TRIES: u32 = 2;

/// The fewest objects of a page, where larger ones don't come through.
const SMALLEST_PAGE: usize = 50;

/// What the API server says where it is asked for a version that it hasn't reached, as after a
/// restore of its store. Gateways answer 504 too.
pub(super) const TOO_LARGE_VERSION: &str = "Too large resource version";

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// A list of all objects in one answer.
    Unpaged,
    /// A list in pages of so many objects, where that didn't come through.
    Pages(usize),
    /// A watch of what happens after this resource version.
    Follow(String),
}

/// How long the next watch is to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    /// As long as it goes.
    Long,
    /// Only until it has shown that its end comes through, as the last watch told nothing.
    Probe,
    /// Not so long that its silence would be taken for more than that of a quiet kind.
    Quiet,
}

/// What came of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome<'a> {
    /// A list is whole, and is of this version.
    Listed(&'a str),
    /// An event or a bookmark of this version came.
    Advanced(&'a str),
    /// The watch is open for as long as one that works.
    Open,
    /// A new list is wanted. What is known holds until it is whole.
    Anew,
    /// The server ended a watch that was open for this time, as it does now and then.
    Ended(Duration),
    /// A request failed, or a watch that was open for this time.
    Failed(&'a FeedError, Duration),
}

/// How long to wait before the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wait {
    /// Whatever happens: the server asks for it.
    pub(super) asked: Duration,
    /// And then, unless there is a sign that asking is worth it.
    pub(super) more: Duration,
}

impl Wait {
    const NONE: Self = Self { asked: Duration::ZERO, more: Duration::ZERO };

    fn of(more: Duration) -> Self {
        Self { more, ..Self::NONE }
    }
}

#[derive(Clone, Copy, Debug)]
struct Silence {
    since: Instant,
    found: Instant,
}

/// Where a follower stands.
#[derive(Debug)]
pub(super) struct Progress {
    phase: Phase,
    lasts: Lasts,
    /// Failures in a row, and among them those to be refused.
    failures: u32,
    refusals: u32,
    /// Unpaged lists in a row that didn't come through.
    unpaged_failures: u32,
    /// Objects of a page.
    page: usize,
    /// Lists in a row whose version had expired when it was to be followed.
    expired: u32,
    /// Lists in a row that were whole and could not be followed: a list alone doesn't mean that the kind is
    /// watched.
    unfollowed: u32,
    /// Events in a row that could not be read.
    unreadable: u32,
    /// The watch took the place of one that failed, and has told nothing so far.
    reopened: bool,
    /// Since when the last watch told nothing, and when that was found, until something works again.
    silent: Option<Silence>,
    /// When the request that is under way began, at the latest.
    due: Option<Instant>,
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
            phase: Phase::Unpaged,
            lasts: Lasts::Long,
            failures: 0,
            refusals: 0,
            unpaged_failures: 0,
            page: PAGE,
            expired: 0,
            unfollowed: 0,
            unreadable: 0,
            reopened: false,
            silent: None,
            due: None,
            failing_since: None,
            refused_since: None,
            cause: None,
            state: WatchState::Syncing,
        }
    }

    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// How long the next watch is to last, or the one that is under way.
    pub(super) fn lasts(&self) -> Lasts {
        self.lasts
    }

    pub(super) fn state(&self) -> &WatchState {
        &self.state
    }

    /// Whether the last attempt failed and nothing has shown yet that the next one works.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.failures > 0
    }

    /// Takes in what came of a request. Gives how long to wait before the next.
    pub(super) fn step(&mut self, outcome: Outcome<'_>, now: Instant) -> Wait {
        let mut wait = Wait::NONE;
        match outcome {
            Outcome::Listed(version) => self.listed(version),
            Outcome::Advanced(version) => self.advanced(version),
            Outcome::Open => self.works(),
            Outcome::Anew => self.phase = self.relist(),
            Outcome::Ended(open) => wait = self.ended(open, now),
            Outcome::Failed(error, open) => wait = self.failed(error, open, now),
        }
        self.due = Some(now + wait.asked + wait.more);
        wait
    }

    fn listed(&mut self, version: &str) {
        match self.phase {
            Phase::Unpaged => self.unpaged_failures = 0,
            // The next list begins with larger ones again.
            _ => self.page = PAGE,
        }
        self.phase = Phase::Follow(version.to_owned());
        self.lasts = Lasts::Long;
        self.reopened = false;
        if self.unfollowed == 0 {
            self.recovered();
        }
    }

    fn advanced(&mut self, to: &str) {
        if let Phase::Follow(version) = &mut self.phase {
            if version != to {
                self.lasts = Lasts::Long;
            }
            version.clear();
            version.push_str(to);
        }
        self.reopened = false;
        self.works();
    }

    /// A watch told something or was open for long enough: its version is one that can be followed.
    fn works(&mut self) {
        self.expired = 0;
        self.unreadable = 0;
        self.recovered();
    }

    fn recovered(&mut self) {
        self.failures = 0;
        self.refusals = 0;
        self.unfollowed = 0;
        self.silent = None;
        self.failing_since = None;
        self.refused_since = None;
        self.cause = None;
        self.state = WatchState::Synced;
    }

    fn ended(&mut self, open: Duration, now: Instant) -> Wait {
        self.leave_unversioned(open);
        if open >= SHORT_WATCH {
            self.works();
            if self.lasts == Lasts::Probe {
                self.lasts = Lasts::Quiet;
            }
            return Wait::NONE;
        }
        self.fail(&FeedError::Transport("the API server ends watches at once".to_owned()), now)
    }

    fn failed(&mut self, error: &FeedError, open: Duration, now: Instant) -> Wait {
        match self.phase {
            Phase::Follow(_) => self.follow_failed(error, open, now),
            Phase::Unpaged => {
                self.unpaged_failed(error);
                self.fail(error, now)
            }
            Phase::Pages(_) => {
                self.page_failed(error);
                self.fail(error, now)
            }
        }
    }

    fn follow_failed(&mut self, error: &FeedError, open: Duration, now: Instant) -> Wait {
        self.leave_unversioned(open);
        if has_expired(error) {
            self.phase = self.relist();
            self.expired += 1;
            return if self.expired == 1 { Wait::NONE } else { Wait::of(backoff(BACKOFF, self.expired)) };
        }
        // Once it may have been cut off. Twice it is what the version leads to.
        let is_unreadable = matches!(error, FeedError::Unreadable(_) | FeedError::TooLarge);
        self.unreadable += u32::from(is_unreadable);
        let is_refused = open < SHORT_WATCH && matches!(error.code(), Some(400 | 404 | 405 | 422));
        if is_refused || (is_unreadable && self.unreadable > 1) {
            self.phase = self.relist();
            self.unfollowed += 1;
        } else if open >= SHORT_WATCH {
            // What is between us and the server cuts long connections: nothing is wrong.
            if is_unreadable {
                self.recovered();
            } else {
                self.works();
            }
            if let FeedError::Silent(silent) = error {
                // Unless the next request isn't answered either: then it has been wrong all the time.
                self.silent = now.checked_sub(*silent).map(|since| Silence { since, found: now });
                self.failures = 1;
                let was = std::mem::replace(&mut self.lasts, Lasts::Probe);
                // Who answers now may be somebody else, who has never heard of that version (kubernetes#107457).
                // Who doesn't pass on that a watch is over passes on nothing else either. A list tells.
                if std::mem::take(&mut self.reopened) || was != Lasts::Long {
                    self.phase = self.relist();
                }
            }
            return Wait::of(backoff((Duration::ZERO, BACKOFF.0), 0));
        }
        self.fail(error, now)
    }

    /// A watch from no version at all doesn't tell what went before it began.
    fn leave_unversioned(&mut self, open: Duration) {
        if matches!(&self.phase, Phase::Follow(version) if version.is_empty()) {
            self.phase = self.relist();
            self.unfollowed += u32::from(open < SHORT_WATCH);
        }
    }

    fn unpaged_failed(&mut self, error: &FeedError) {
        if self.is_too_much(error) {
            self.unpaged_failures += 1;
            self.phase = Phase::Pages(self.page);
        } else if matches!(error, FeedError::Timeout(_)) {
            // Nothing came of it, which it may have in common with anything else.
            self.phase = Phase::Pages(self.page);
        }
    }

    fn page_failed(&mut self, error: &FeedError) {
        if has_expired(error) {
            // Pages that are too small take too long together.
            self.page = (self.page * 5).min(PAGE);
            self.phase = self.relist();
        } else if self.is_too_much(error) {
            self.page = (self.page / 5).max(SMALLEST_PAGE);
            self.phase = Phase::Pages(self.page);
        }
    }

    /// Whether an answer of that size may fail so every time, as where the connection is slow and each request has
    /// only so much time.
    fn is_too_much(&self, error: &FeedError) -> bool {
        match error {
            _ if has_expired(error) => false,
            FeedError::BrokeOff(_) | FeedError::Status { code: 413 | 504, .. } => true,
            FeedError::Status { code: 500 | 502 | 503, retry_after: None, .. } => self.failures > 0,
            _ => false,
        }
    }

    fn relist(&self) -> Phase {
        if self.unpaged_failures < TRIES { Phase::Unpaged } else { Phase::Pages(self.page) }
    }

    fn fail(&mut self, error: &FeedError, now: Instant) -> Wait {
        self.reopened = true;
        let failing = *self.failing_since.get_or_insert(now);
        let since = match error.code() {
            Some(_) => *self.refused_since.get_or_insert(now),
            None => {
                self.refused_since = None;
                failing
            }
        };
        self.note(error, now.duration_since(self.unanswered_since(error, now).unwrap_or(since)));
        let wait = match error {
            // What the server asks for, a little spread; longer where it keeps asking.
            FeedError::Status { retry_after: Some(wait), .. } => {
                let asked = (*wait).min(MAX_RETRY_AFTER);
                let more = if self.failures == 0 { asked / 10 } else { BACKOFF.0 * self.failures.min(16) };
                Wait { asked, more: more.mul_f64(fastrand::f64()) }
            }
            FeedError::Status { code: 403, .. } => {
                self.refusals += 1;
                Wait::of(backoff(FORBIDDEN_BACKOFF, self.refusals - 1))
            }
            _ => Wait::of(backoff(BACKOFF, self.failures)),
        };
        self.failures = self.failures.saturating_add(1);
        wait
    }

    /// Since when nothing is heard, where the last watch fell silent and nobody has answered anything since.
    fn unanswered_since(&self, error: &FeedError, now: Instant) -> Option<Instant> {
        let Silence { since, found } = self.silent?;
        let took = self.due.map(|due| now.saturating_duration_since(due));
        let is_answered = !matches!(error, FeedError::Timeout(_)) && took < Some(SLOW);
        (!is_answered && now.duration_since(found) >= UNANSWERED).then_some(since)
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
            Some(404) => WatchState::Absent(error.to_string()),
            _ => WatchState::Failing(error.to_string()),
        };
    }
}

/// Whether the version that was asked for isn't there any more, or not yet.
pub(super) fn has_expired(error: &FeedError) -> bool {
    match error {
        FeedError::Status { code: 410, .. } => true,
        FeedError::Status { code: 504, message, .. } => message.contains(TOO_LARGE_VERSION),
        _ => false,
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
