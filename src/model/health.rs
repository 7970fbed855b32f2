use std::{borrow::Cow, fmt};

use super::{SignedDuration, Timestamp, text};

/// How the message of [`Verdict::overdue`] begins.
const OVERDUE_WORDS: &str = "for more than ";

/// The reason of a verdict on what moved for longer than it may.
pub const OVERDUE: &str = "ProgressDeadlineExceeded";

/// How an object or a whole add-on is. An open enumeration: readers of the API treat a word that
/// they don't know as `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Health {
    /// Does its job at the generation that was asked for.
    Healthy,
    /// Stopped by its user on purpose.
    Suspended,
    /// Being deleted.
    Terminating,
    /// Moving towards what was asked for; nothing is reported as failing.
    Progressing,
    /// Can't be told.
    Unknown,
    /// Failing, or reported as failing.
    Degraded,
}

impl Health {
    /// Every word, best first.
    pub const ALL: [Self; 6] =
        [Self::Healthy, Self::Suspended, Self::Terminating, Self::Progressing, Self::Unknown, Self::Degraded];

    /// Rank for worst-first order: 0 is the worst (`Degraded`), then `Unknown`, `Progressing`,
    /// `Terminating`, `Suspended` and `Healthy`.
    pub fn rank(self) -> u8 {
        match self {
            Self::Degraded => 0,
            Self::Unknown => 1,
            Self::Progressing => 2,
            Self::Terminating => 3,
            Self::Suspended => 4,
            Self::Healthy => 5,
        }
    }

    /// Whether something is wrong or not as it should be yet. What was stopped on purpose is not ill.
    pub fn is_ill(self) -> bool {
        !matches!(self, Self::Healthy | Self::Suspended)
    }

    /// Whether a cause is looked for: what is stopped or goes away says itself why.
    pub fn wants_cause(self) -> bool {
        matches!(self, Self::Degraded | Self::Unknown | Self::Progressing)
    }

    /// The worse of two in the order of [`Health::rank`].
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.rank() < self.rank() { other } else { self }
    }

    /// The word as it stands in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "Healthy",
            Self::Suspended => "Suspended",
            Self::Terminating => "Terminating",
            Self::Progressing => "Progressing",
            Self::Unknown => "Unknown",
            Self::Degraded => "Degraded",
        }
    }

    /// Reads the word as it stands in the API, `Unknown` for any other.
    pub fn parse(word: &str) -> Self {
        Self::ALL.into_iter().find(|health| health.as_str() == word).unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A judgement of one object: the word, and what led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The word.
    pub health: Health,
    /// CamelCase, for one-line output. Never empty.
    pub reason: Cow<'static, str>,
    /// For people; may be empty. Cleaned and at most [`super::text::MESSAGE_BYTES`] long.
    pub message: String,
    /// Since when the object says so, where it says when.
    pub since: Option<Timestamp>,
    /// The rule that decided, for example `builtin/apps.Deployment`.
    pub rule: Cow<'static, str>,
}

impl Verdict {
    /// What this verdict becomes when it has held for longer than `patience`: Degraded, with the
    /// reason [`OVERDUE`] and a message that tells how long and keeps what was said.
    #[must_use]
    pub fn overdue(&self, patience: SignedDuration) -> Self {
        let mut message = format!("{OVERDUE_WORDS}{}: {}", spoken(patience), self.reason);
        if !self.message.is_empty() {
            message.push_str(": ");
            message.push_str(&self.message);
        }
        Self {
            health: Health::Degraded,
            reason: OVERDUE.into(),
            message: text::message_of(message).into_owned(),
            since: self.since,
            rule: self.rule.clone(),
        }
    }

    /// Whether it is one of [`Verdict::overdue`], and not what an object says itself in that word.
    pub fn is_overdue(&self) -> bool {
        self.health == Health::Degraded && self.reason == OVERDUE && self.message.starts_with(OVERDUE_WORDS)
    }
}

/// `10 minutes`, `2 hours`, `90 seconds`: in the largest unit that measures it whole.
fn spoken(time: SignedDuration) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let seconds = time.as_secs().max(0);
    let whole = |(length, _): &&(i64, &str)| seconds >= *length && seconds % length == 0;
    let (length, unit) = UNITS.iter().find(whole).copied().unwrap_or((1, "second"));
    match seconds / length {
        1 => format!("1 {unit}"),
        count => format!("{count} {unit}s"),
    }
}

/// A verdict, and what becomes of it when time passes and the object doesn't change.
///
/// Judging needs no clock: patience that ends (a rollout that takes too long) is written down here
/// as the moment at which the verdict changes by itself, or as its length where the object doesn't
/// tell when that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// What holds until [`Later::at`], or for good.
    pub first: Verdict,
    /// What holds from then on.
    pub later: Option<Box<Later>>,
    /// The first verdict becomes [`Verdict::overdue`] when it has been so for this long, counted by
    /// whoever watches: the object tells no time. `None` where it may stay for good, and where
    /// `later` is known.
    pub patience: Option<SignedDuration>,
}

/// The second part of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// The moment from which this verdict holds.
    pub at: Timestamp,
    /// The verdict from then on.
    pub verdict: Verdict,
}

impl Timeline {
    /// The verdict that holds at `now`.
    pub fn at(&self, now: Timestamp) -> &Verdict {
        match &self.later {
            Some(later) if later.at <= now => &later.verdict,
            _ => &self.first,
        }
    }

    /// The same where the first verdict has held since `start`: with its patience, where it has one,
    /// turned into the moment at which that ends.
    #[must_use]
    pub fn overdue_from(&self, start: Timestamp) -> Self {
        let Some(patience) = self.patience.filter(|_| self.later.is_none()) else { return self.clone() };
        let later = start
            .checked_add(patience)
            .ok()
            .map(|at| Box::new(Later { at, verdict: self.first.overdue(patience) }));
        Self { first: self.first.clone(), later, patience: None }
    }

    /// The next moment after `now` at which the verdict changes by itself.
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        self.later.as_ref().map(|later| later.at).filter(|at| *at > now)
    }
}

impl From<Verdict> for Timeline {
    fn from(first: Verdict) -> Self {
        Self { first, later: None, patience: None }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    fn waiting(message: &str) -> Verdict {
        Verdict {
            health: Health::Progressing,
            reason: "Waiting".into(),
            message: message.into(),
            since: None,
            rule: "rule".into(),
        }
    }

    #[test]
    fn overdue_says_how_long_and_keeps_what_was_said() {
        for (seconds, message, expected) in [
            (600, "for b", "for more than 10 minutes: Waiting: for b"),
            (60, "", "for more than 1 minute: Waiting"),
            (90, "", "for more than 90 seconds: Waiting"),
            (7_200, "", "for more than 2 hours: Waiting"),
            (86_400, "", "for more than 1 day: Waiting"),
            (0, "", "for more than 0 seconds: Waiting"),
            (-5, "", "for more than 0 seconds: Waiting"),
        ] {
            let verdict = waiting(message).overdue(SignedDuration::from_secs(seconds));
            assert_eq!((verdict.health, &*verdict.reason), (Health::Degraded, OVERDUE));
            assert_eq!(verdict.message, expected);
            assert!(verdict.is_overdue());
        }
        let long = waiting(&"x".repeat(text::MESSAGE_BYTES)).overdue(SignedDuration::from_mins(10));
        assert_eq!(long.message.len(), text::MESSAGE_BYTES);
    }

    #[test]
    fn patience_ends_at_a_moment_once_it_is_known_since_when() {
        let start: Timestamp = "2025-03-01T10:00:00Z".parse().expect("a time");
        let end: Timestamp = "2025-03-01T10:30:00Z".parse().expect("a time");
        let patient =
            Timeline { patience: Some(SignedDuration::from_mins(30)), ..Timeline::from(waiting("")) };
        let aged = patient.overdue_from(start);
        assert_eq!((aged.next_change(start), aged.patience), (Some(end), None));
        assert_eq!(aged.at(end).reason, OVERDUE);
        assert_eq!(aged.overdue_from(end), aged);
        assert_eq!(patient.overdue_from(Timestamp::MAX).later, None);
        let settled = Timeline::from(waiting(""));
        assert_eq!(settled.overdue_from(start), settled);
    }
}
