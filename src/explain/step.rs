use std::borrow::Cow;

use thiserror::Error;

use super::{Refusal, built_in::is_guess};
use crate::model::{Cause, Event, Explanation, Health, ObjectRef, Verdict, text};

/// An object on the way down to the cause, and what was found below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The object.
    pub object: ObjectRef,
    /// What it is to the one above, such as `its pod` or `spec.sourceRef`. Empty for the topmost.
    pub via: Cow<'static, str>,
    /// What is known of it.
    pub says: Says,
    /// What lies below, the best explanation first.
    pub below: Vec<Step>,
    /// What could not be looked at from here.
    pub gaps: Vec<Gap>,
}

/// Something that was not looked at, and may have hidden a cause.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Gap {
    /// It can't be looked at.
    #[error("{0}")]
    Refused(Refusal),
    /// There were more than one list gives.
    #[error("of the {0} only the first were looked at")]
    Part(String),
    /// It lies too many steps down.
    #[error("what lies more than {0} steps down isn't looked at")]
    TooDeep(usize),
    /// So many objects were looked at before.
    #[error("no more than {0} objects are looked at")]
    TooMany(usize),
}

/// What is known of an object on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// It was judged.
    Verdict(Verdict),
    /// A controller reported this about it.
    Event(Event),
    /// It isn't there, or has nothing of what it needs.
    Lacks {
        /// CamelCase.
        reason: &'static str,
        /// For people.
        message: String,
    },
    /// It can't be looked at, and this is what the object above says of it.
    Told {
        /// How it is, in one word.
        reason: String,
        /// For people. May be empty.
        message: String,
    },
}

impl Says {
    /// Why, in one word.
    pub fn reason(&self) -> &str {
        match self {
            Self::Verdict(verdict) => &verdict.reason,
            Self::Event(event) if event.reason.is_empty() => "Event",
            Self::Event(event) => &event.reason,
            Self::Lacks { reason, .. } => reason,
            Self::Told { reason, .. } => reason,
        }
    }

    /// Why, in a sentence. May be empty.
    pub fn message(&self) -> &str {
        match self {
            Self::Verdict(verdict) => &verdict.message,
            Self::Event(event) => &event.message,
            Self::Lacks { message, .. } | Self::Told { message, .. } => message,
        }
    }

    /// The verdict, where it was judged.
    pub fn verdict(&self) -> Option<&Verdict> {
        match self {
            Self::Verdict(verdict) => Some(verdict),
            Self::Event(_) | Self::Lacks { .. } | Self::Told { .. } => None,
        }
    }
}

impl Step {
    pub(super) fn new(object: ObjectRef, via: Cow<'static, str>, says: Says) -> Self {
        Self { object, via, says, below: Vec::new(), gaps: Vec::new() }
    }

    /// Notes that something was not looked at.
    pub(super) fn miss(&mut self, gap: Gap) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Whether asking failed somewhere, so that another time may tell more.
    pub fn has_failed(&self) -> bool {
        self.gaps.iter().any(|gap| matches!(gap, Gap::Refused(Refusal::Failed { .. })))
            || self.below.iter().any(Self::has_failed)
    }

    /// The verdict that `above`, or what it is a part of, is Degraded, where this tells it.
    fn proves(&self, above: &Self) -> Option<Verdict> {
        let is_failure = match &self.says {
            Says::Verdict(verdict) => {
                return Some(verdict.clone()).filter(|verdict| verdict.health == Health::Degraded);
            }
            Says::Lacks { .. } => true,
            Says::Event(event) => event.is_warning,
            Says::Told { .. } => false,
        };
        let guess = above.says.verdict().filter(|verdict| is_failure && is_guess(&above.object, verdict))?;
        Some(Verdict {
            health: Health::Degraded,
            reason: self.says.reason().to_owned().into(),
            message: self.says.message().to_owned(),
            ..guess.clone()
        })
    }

    /// The best explanation: from the first object below down to the last cause.
    pub fn explanation(&self) -> Explanation {
        let mut explanation = Explanation::default();
        let mut current = self;
        let mut gaps: Vec<&Gap> = self.gaps.iter().collect();
        while let Some(step) = current.below.first() {
            gaps.extend(&step.gaps);
            explanation.steps.push(Cause {
                object: step.object.clone(),
                reason: step.says.reason().to_owned(),
                message: step.says.message().to_owned(),
            });
            if let Some(evidence) = step.proves(current) {
                explanation.evidence = Some(evidence);
            }
            current = step;
        }
        if !gaps.is_empty() {
            let gaps: Vec<String> = gaps.iter().map(ToString::to_string).collect();
            explanation.incomplete = Some(text::message(&gaps.join("; ")));
        }
        explanation
    }
}
