//! When it is read what the API server serves.

use std::time::Duration;

use tokio::time::Instant;

/// How often it is read without a sign of change.
const REFRESH: Duration = Duration::from_secs(120);

/// When it is read after a sign of change: soon, and again, since the discovery document lags behind.
const AFTER_SIGN: [Duration; 4] = [
    Duration::from_millis(80),
    Duration::from_millis(500),
    Duration::from_millis(1500),
    Duration::from_secs(5),
];

/// How long after a failure it is read again.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The shortest time between two readings, at first and at the longest: it doubles with each that finds nothing
/// new. Who writes to a CustomResourceDefinition all the time doesn't have it read all the time.
const GAP: (Duration, Duration) = (Duration::from_millis(80), Duration::from_secs(2));

/// When the next readings are due.
#[derive(Debug)]
pub(super) struct Schedule {
    due: Vec<Instant>,
    gap: Duration,
    /// When it was read last.
    last: Option<Instant>,
}

impl Schedule {
    /// At once, and soon again: the first document may be that of a server that isn't up whole yet.
    pub(super) fn new(now: Instant) -> Self {
        let mut due = vec![now];
        due.extend(AFTER_SIGN.map(|after| now + after));
        Self { due, gap: GAP.0, last: None }
    }

    /// When it is read next.
    pub(super) fn next(&self) -> Instant {
        let due = self.due.iter().min().copied();
        match (due, self.last) {
            (Some(due), Some(last)) => due.max(last + self.gap),
            (Some(due), None) => due,
            (None, last) => last.unwrap_or_else(Instant::now) + REFRESH,
        }
    }

    /// There is a sign of change. Signs that keep coming don't put the first reading off.
    pub(super) fn sign(&mut self, now: Instant) {
        let first = self.due.iter().min().copied();
        self.due = AFTER_SIGN.map(|after| now + after).into();
        self.due.extend(first.filter(|first| *first < now + AFTER_SIGN[0]));
    }

    /// It couldn't be read.
    pub(super) fn failed(&mut self, now: Instant) {
        self.gap = GAP.1;
        self.again(now + AFTER_FAILURE);
    }

    /// It is to be read once more, then.
    pub(super) fn again(&mut self, at: Instant) {
        self.due.push(at);
    }

    /// A reading begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.due.retain(|at| *at > now);
        self.last = Some(now);
    }

    /// What was read is new, or isn't.
    pub(super) fn read(&mut self, is_new: bool) {
        // The last reading after a sign comes when all is quiet again.
        let is_quiet = self.due.is_empty();
        self.gap = if is_new || is_quiet { GAP.0 } else { (self.gap * 2).min(GAP.1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The milliseconds at which it is read within `span`, with a sign `every` so often from 20 s on.
    fn readings(span: u64, every: Option<u64>, is_new: impl Fn(u64) -> bool) -> Vec<u64> {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut schedule = Schedule::new(start);
        let mut sign = every.map(|_| 20_000);
        let mut all = Vec::new();
        loop {
            let next = schedule.next();
            match sign.filter(|sign| at(*sign) <= next) {
                Some(ms) => {
                    schedule.sign(at(ms));
                    sign = every.map(|every| ms + every).filter(|ms| *ms < span);
                }
                None if next >= at(span) => return all,
                None => {
                    let ms = u64::try_from((next - start).as_millis()).unwrap_or_default();
                    all.push(ms);
                    schedule.begin(next);
                    schedule.read(is_new(ms));
                }
            }
        }
    }

    #[test]
    fn it_is_read_at_the_start_and_then_seldom() {
        assert_eq!(readings(260_000, None, |_| false), [0, 160, 500, 1500, 5000, 125_000, 245_000]);
    }

    #[test]
    fn after_a_sign_it_is_read_soon_and_a_few_times() {
        assert_eq!(readings(60_000, Some(100_000), |_| false)[5..], [20_080, 20_500, 21_500, 25_000]);
    }

    #[test]
    fn signs_without_end_have_it_read_every_two_seconds() {
        let all = readings(80_000, Some(100), |_| false).split_off(5);
        assert!((30..45).contains(&all.len()), "{all:?}");
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] <= 2100), "{all:?}");
    }

    #[test]
    fn failures_are_not_hurried_by_signs() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start);
        let mut now = start;
        for _ in 0..10 {
            schedule.begin(now);
            schedule.failed(now);
            schedule.sign(now);
            assert!(schedule.next() - now >= GAP.1, "{:?}", schedule.next() - now);
            now = schedule.next();
        }
    }

    #[test]
    fn what_is_new_has_it_read_soon_again() {
        // Kinds come all the time, each with signs of its own.
        let all = readings(40_000, Some(100), |_| true).split_off(5);
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] <= 500), "{all:?}");
        assert!(all.len() < 300, "{}", all.len());
    }
}
