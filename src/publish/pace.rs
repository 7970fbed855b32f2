use std::time::{Duration, Instant};

/// How much is written, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The shortest time between two writes of one `Addon`.
    pub gap: Duration,
    /// Writes a second, where many `Addon` objects change for long.
    pub per_second: u32,
    /// Writes that may be made at once before that counts.
    pub burst: u32,
    /// Requests at a time.
    pub in_flight: usize,
    /// How long one request may take.
    pub timeout: Duration,
}

impl Default for Limits {
    /// A first start with a thousand add-ons is limited by what the API server answers, a storm that
    /// lasts by 50 writes a second. A write of a custom resource takes an API server several times what one of
    /// a built-in kind takes (docs/performance.md), so few are under way at a time.
    fn default() -> Self {
        Self {
            gap: Duration::from_secs(1),
            per_second: 50,
            burst: 1000,
            in_flight: 4,
            timeout: Duration::from_secs(30),
        }
    }
}

/// How long to wait after `failures` failures in a row: one second after the first, twice as long after
/// each further one, half a minute at most.
pub(super) fn backoff(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.saturating_sub(1).min(5)).min(Duration::from_secs(30))
}

/// How long to wait after every form of a status was refused `refusals` times in a row: ten seconds after
/// the first, twice as long after each further one, ten minutes at most. Nothing tells that a policy or a
/// webhook that refused it is gone.
pub(super) fn refused_again(refusals: u32) -> Duration {
    Duration::from_secs(10 << refusals.saturating_sub(1).min(6)).min(Duration::from_secs(600))
}

/// A bucket of tokens that fills with time.
#[derive(Debug)]
pub(super) struct Bucket {
    /// The time that one token takes to come back, and all of them.
    period: Duration,
    span: Duration,
    /// When the bucket is full again.
    full: Option<Instant>,
}

impl Bucket {
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let period = Duration::from_secs(1) / per_second.max(1);
        Self { period, span: period * burst.max(1), full: None }
    }

    /// When the next token can be taken; `None` where one can be taken now.
    pub(super) fn wait(&self, now: Instant) -> Option<Instant> {
        let missing = self.full?.saturating_duration_since(now) + self.period;
        missing.checked_sub(self.span).filter(|wait| !wait.is_zero()).map(|wait| now + wait)
    }

    pub(super) fn take(&mut self, now: Instant) {
        self.full = Some(self.full.map_or(now, |full| full.max(now)) + self.period);
    }
}

/// How long everything is held back because the API server can't take it.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Option<Instant>,
    failures: u32,
}

impl Pause {
    /// Until when nothing may start.
    pub(super) fn until(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }

    /// Begins a pause, of at least the time that the API server asks for. What was started before an
    /// earlier one and fails during it tells nothing new: it only makes that one last as long as it
    /// asks for. True where the first pause of a row began.
    pub(super) fn begin(&mut self, asked: Option<Duration>, now: Instant) -> bool {
        let began = self.until(now).is_none();
        if began {
            self.failures += 1;
            self.until = Some(now + backoff(self.failures));
        }
        let asked = asked.map(|asked| now + asked.min(Duration::from_secs(300)));
        self.until = self.until.max(asked);
        began && self.failures == 1
    }

    /// Ends the pause; that the next failure is one more in a row stays.
    pub(super) fn lift(&mut self) {
        self.until = None;
    }

    /// Notes that the API server answers. True where it didn't before.
    pub(super) fn end(&mut self) -> bool {
        std::mem::take(&mut self.failures) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn waits_double_up_to_half_a_minute() {
        let seconds: Vec<u64> = [1, 2, 3, 4, 5, 6, 60].map(|n| backoff(n).as_secs()).into();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn a_burst_then_a_steady_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(50, 100);
        let mut now = start;
        let mut taken = 0;
        while now <= start + Duration::from_secs(10) {
            match bucket.wait(now) {
                None => {
                    bucket.take(now);
                    taken += 1;
                    if taken == 100 {
                        assert_eq!(now, start, "the burst goes at once");
                    }
                }
                Some(at) => {
                    assert!(at > now);
                    now = at;
                }
            }
        }
        assert_eq!(taken, 100 + 10 * 50);
        assert_eq!(bucket.wait(now + Duration::from_secs(60)), None);
    }

    #[test]
    fn failures_of_one_moment_are_one_pause() {
        let now = Instant::now();
        let mut pause = Pause::default();
        assert!(pause.begin(None, now));
        for _ in 0..7 {
            assert!(!pause.begin(None, now + MILLISECOND));
        }
        assert_eq!(pause.until(now), Some(now + Duration::from_secs(1)));
        let later = now + Duration::from_secs(1);
        assert_eq!(pause.until(later), None);
        assert!(!pause.begin(None, later), "that it lasts is no news");
        assert_eq!(pause.until(later), Some(later + Duration::from_secs(2)));
    }

    #[test]
    fn a_pause_lasts_as_long_as_the_server_asks() {
        let now = Instant::now();
        let mut pause = Pause::default();
        pause.begin(Some(Duration::from_secs(7)), now);
        assert_eq!(pause.until(now), Some(now + Duration::from_secs(7)));
        pause.begin(Some(Duration::from_secs(9)), now);
        assert_eq!(pause.until(now), Some(now + Duration::from_secs(9)));
    }

    #[test]
    fn an_answer_starts_the_count_anew() {
        let now = Instant::now();
        let mut pause = Pause::default();
        for _ in 0..5 {
            let at = pause.until(now).unwrap_or(now);
            pause.begin(None, at);
        }
        pause.end();
        let at = now + Duration::from_secs(3600);
        pause.begin(None, at);
        assert_eq!(pause.until(at), Some(at + Duration::from_secs(1)));
    }
}
