use std::borrow::Cow;

use super::conditions::Reading;
use crate::model::{Health, Later, SignedDuration, Timeline, Timestamp, Verdict, text};

/// How long an object may move towards what was asked for before that counts as failing.
pub(super) const GRACE: SignedDuration = SignedDuration::from_mins(10);

/// The reason of a verdict whose own reason is empty.
const NO_REASON: &str = "Unspecified";

/// A verdict in the making: what a rule says, before it is known under which name.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) health: Health,
    pub(super) reason: Cow<'static, str>,
    pub(super) message: String,
    pub(super) since: Option<Timestamp>,
    pub(super) superseded: bool,
    /// How long it may last was said for it, and not for its kind.
    pub(super) has_deadline: bool,
    next: Next,
}

/// What becomes of a finding when time passes.
#[derive(Clone, Debug)]
enum Next {
    /// It stays.
    Stays,
    /// From a moment on, another one holds.
    Turns(Timestamp, Box<Finding>),
    /// It is overdue when it has held for `patience` from `base` on; without a base whoever watches
    /// has to count.
    Overdue { base: Option<Timestamp>, patience: SignedDuration },
}

impl Finding {
    pub(super) fn new(health: Health, reason: &'static str) -> Self {
        Self::with(health, reason.into())
    }

    /// With a reason that comes from the object.
    pub(super) fn told(health: Health, reason: &str) -> Self {
        Self::with(health, camel_case(reason))
    }

    fn with(health: Health, reason: Cow<'static, str>) -> Self {
        Self {
            health,
            reason,
            message: String::new(),
            since: None,
            superseded: false,
            has_deadline: false,
            next: Next::Stays,
        }
    }

    pub(super) fn healthy(reason: &'static str) -> Self {
        Self::new(Health::Healthy, reason)
    }

    pub(super) fn progressing(reason: &'static str) -> Self {
        Self::new(Health::Progressing, reason)
    }

    pub(super) fn degraded(reason: &'static str) -> Self {
        Self::new(Health::Degraded, reason)
    }

    pub(super) fn suspended(reason: &'static str) -> Self {
        Self::new(Health::Suspended, reason)
    }

    /// What `condition` says, with its type for a reason where it gives none.
    pub(super) fn of(health: Health, condition: &Reading) -> Self {
        let reason = if condition.reason.is_empty() { &condition.kind } else { &condition.reason };
        let finding = Self::told(health, reason).since(condition.last_transition());
        if condition.message.is_empty() { finding } else { finding.message(&*condition.message) }
    }

    #[must_use]
    pub(super) fn message<'a>(mut self, message: impl Into<Cow<'a, str>>) -> Self {
        self.message = text::message_of(message).into_owned();
        self
    }

    /// Puts `prefix` and a colon before what the message says.
    #[must_use]
    pub(super) fn prefixed(self, prefix: impl AsRef<str>) -> Self {
        if prefix.as_ref().is_empty() {
            return self;
        }
        let message = joined(prefix.as_ref(), &self.message).into_owned();
        self.message(message)
    }

    #[must_use]
    pub(super) fn since(mut self, since: Option<Timestamp>) -> Self {
        self.since = since;
        self
    }

    #[must_use]
    pub(super) fn superseded(mut self) -> Self {
        self.superseded = true;
        self
    }

    /// After [`GRACE`] from `base` on, `later` holds. Without a time this stays for good.
    #[must_use]
    pub(super) fn then(mut self, base: Option<Timestamp>, later: Self) -> Self {
        if let Some(at) = base.and_then(|base| base.checked_add(GRACE).ok()) {
            self.next = Next::Turns(at, Box::new(later));
        }
        self
    }

    /// What is well is so until `end`, where that is told, and Degraded from then on.
    #[must_use]
    pub(super) fn until(mut self, end: Option<Timestamp>) -> Self {
        if let (Health::Healthy, Some(end), Next::Stays) = (self.health, end, &self.next) {
            let expired = Self::degraded("Expired").message(format!("since {end}")).since(Some(end));
            self.next = Next::Turns(end, Box::new(expired));
        }
        self
    }

    /// Becomes Degraded after [`GRACE`] from `base` on, with the same words: a young object is
    /// given that long, an old one isn't.
    #[must_use]
    pub(super) fn then_degraded(self, base: Option<Timestamp>) -> Self {
        let later = Self { health: Health::Degraded, ..self.clone() };
        self.then(base, later)
    }

    /// Becomes Unknown after [`GRACE`] from `base` on.
    #[must_use]
    pub(super) fn then_unknown(self, base: Option<Timestamp>) -> Self {
        let later = Self { health: Health::Unknown, ..self.clone() };
        self.then(base, later)
    }

    /// Becomes Degraded when it has held for [`GRACE`], and says so.
    #[must_use]
    pub(super) fn overdue(self) -> Self {
        self.overdue_after(GRACE)
    }

    /// Becomes Degraded when it has held for `patience`, and says so. Counted from its `since`, by
    /// whoever watches where it has none.
    #[must_use]
    pub(super) fn overdue_after(mut self, patience: SignedDuration) -> Self {
        self.next = Next::Overdue { base: self.since, patience };
        self
    }

    /// The same where what counts began at `base`.
    #[must_use]
    pub(super) fn overdue_from(mut self, base: Timestamp, patience: SignedDuration) -> Self {
        self.next = Next::Overdue { base: Some(base), patience };
        self
    }

    /// Becomes Degraded when it has held for [`GRACE`], which only whoever watches can tell.
    #[must_use]
    pub(super) fn ages(mut self) -> Self {
        self.next = Next::Overdue { base: None, patience: GRACE };
        self
    }

    /// What moves may do so for `patience` rather than [`GRACE`].
    #[must_use]
    pub(super) fn within(mut self, patience: SignedDuration) -> Self {
        self.has_deadline = true;
        self.next = match self.next {
            Next::Stays => Next::Stays,
            Next::Turns(at, later) => match at.checked_sub(GRACE).and_then(|base| base.checked_add(patience))
            {
                Ok(at) => Next::Turns(at, later),
                Err(_) => Next::Stays,
            },
            Next::Overdue { base, .. } => Next::Overdue { base, patience },
        };
        self
    }

    /// What moves may do so for ever.
    #[must_use]
    pub(super) fn for_ever(mut self) -> Self {
        self.has_deadline = true;
        self.next = Next::Stays;
        self
    }

    #[must_use]
    pub(super) fn reason(mut self, reason: &str) -> Self {
        self.reason = camel_case(reason);
        self
    }

    pub(super) fn into_timeline(self, rule: Cow<'static, str>) -> Timeline {
        let Self { health, reason, message, since, next, .. } = self;
        let timeline = Timeline::from(Verdict { health, reason, message, since, rule });
        match next {
            Next::Stays => timeline,
            Next::Turns(at, later) => {
                let verdict = later.into_timeline(timeline.first.rule.clone()).first;
                Timeline { later: Some(Box::new(Later { at, verdict })), ..timeline }
            }
            Next::Overdue { base, patience } => {
                let timeline = Timeline { patience: Some(patience), ..timeline };
                match base {
                    Some(base) => timeline.overdue_from(base),
                    None => timeline,
                }
            }
        }
    }
}

/// `head: tail`, or the one that isn't empty.
pub(super) fn joined<'a>(head: &'a str, tail: &'a str) -> Cow<'a, str> {
    match (head.is_empty(), tail.is_empty()) {
        (true, _) => tail.into(),
        (_, true) => head.into(),
        _ => format!("{head}: {tail}").into(),
    }
}

/// A reason for one-line output: words that are set apart by blanks or dashes are put together,
/// each with a capital. Never empty.
fn camel_case(raw: &str) -> Cow<'static, str> {
    let apart = |c: char| c.is_whitespace() || c == '-';
    if raw.starts_with(|c: char| c.is_ascii_uppercase()) && !raw.contains(apart) {
        return text::word(raw).into();
    }
    let mut word = String::with_capacity(raw.len().min(text::WORD_BYTES));
    for part in raw.split(apart) {
        if word.len() > text::WORD_BYTES {
            break;
        }
        let mut letters = part.chars();
        word.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        word.push_str(letters.as_str());
    }
    if word.is_empty() { NO_REASON.into() } else { text::word(&word).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_one_word_and_never_empty() {
        for (raw, word) in [
            ("ErrImagePull", "ErrImagePull"),
            ("HEALTH_ERR", "HEALTH_ERR"),
            ("Cluster in healthy state", "ClusterInHealthyState"),
            ("in-progress", "InProgress"),
            ("running", "Running"),
            ("", "Unspecified"),
            (" - ", "Unspecified"),
            ("A\u{1b}[2J", "A\u{fffd}[2J"),
        ] {
            assert_eq!(Finding::told(Health::Degraded, raw).reason, word, "{raw:?}");
        }
        assert!(
            Finding::told(Health::Degraded, &"so long ".repeat(100_000)).reason.len() <= text::WORD_BYTES
        );
    }

    #[test]
    fn a_moment_beyond_the_end_of_time_never_comes() {
        let finding = Finding::progressing("Waiting").since(Some(Timestamp::MAX)).overdue();
        assert!(finding.into_timeline("rule".into()).later.is_none());
    }
}
