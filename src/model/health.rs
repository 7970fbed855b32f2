use std::{borrow::Cow, fmt};

use super::Timestamp;

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
    pub reason: String,
    /// For people; may be empty. Cleaned and at most [`super::text::MESSAGE_BYTES`] long.
    pub message: String,
    /// Since when the object says so, where it says when.
    pub since: Option<Timestamp>,
    /// The rule that decided, for example `builtin/apps.Deployment`.
    pub rule: Cow<'static, str>,
}

/// A verdict, and what becomes of it when time passes and the object doesn't change.
///
/// Judging needs no clock: patience that ends (a rollout that takes too long) is written down here
/// as the moment at which the verdict changes by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// What holds until [`Later::at`], or for good.
    pub first: Verdict,
    /// What holds from then on.
    pub later: Option<Box<Later>>,
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

    /// The next moment after `now` at which the verdict changes by itself.
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        self.later.as_ref().map(|later| later.at).filter(|at| *at > now)
    }
}

impl From<Verdict> for Timeline {
    fn from(first: Verdict) -> Self {
        Self { first, later: None }
    }
}
