//! The answer as a tree for people.

use super::answer::{Answer, Cause, Part, Said};
use crate::{
    ctl::{
        output::sentence,
        table::{health_style, paint},
        tree::Branch,
    },
    model::Health,
};

impl Answer {
    /// The add-on with its components below it, and what explains them below these.
    pub(super) fn tree(&self, colour: bool) -> Branch {
        let state = state(&self.health, &self.reason, colour);
        let ready = if self.ready.is_empty() { String::new() } else { format!(", {} healthy", self.ready) };
        let mut root = Branch { head: format!("{}: {state}{ready}", self.identifier), ..Branch::default() };
        // A reason that no component has is that of the whole, such as too few of what is needed.
        if self.more == 0 && self.components.iter().all(|part| part.reason != self.reason) {
            root.notes = note(&self.message);
        }
        root.below = self.components.iter().map(|part| part.branch(colour)).collect();
        root.below.extend(self.rest().map(|head| Branch { head, ..Branch::default() }));
        root
    }

    fn rest(&self) -> Option<String> {
        let more = self.more;
        match more - self.unlisted {
            0 if more == 0 => None,
            0 => Some(format!(
                "and {more} more that aren't well, which the Addon object doesn't list: see --live"
            )),
            _ => Some(format!("and {more} more that aren't well: --all shows them")),
        }
    }
}

impl Part {
    fn branch(&self, colour: bool) -> Branch {
        let state = state(&self.health, &self.reason, colour);
        let importance = match &self.importance {
            Some(importance) => format!(" ({importance})"),
            None => String::new(),
        };
        // What the last cause says stands below, where it says so.
        let said = self.own.as_ref().filter(|_| !self.causes.is_empty()).unwrap_or(&self.message);
        let mut notes = note(said);
        notes.extend(self.gaps.iter().cloned());
        Branch {
            head: format!("{}{importance}: {state} [{}]", self.reference, self.rule),
            notes,
            below: self.causes.iter().map(|cause| cause.branch(colour)).collect(),
        }
    }
}

impl Cause {
    fn branch(&self, colour: bool) -> Branch {
        let via = if self.via.is_empty() { String::new() } else { format!("{}: ", self.via) };
        let (state, rule, message) = match &self.said {
            Said::Verdict { health, reason, message, rule, .. } => {
                (state(health, reason, colour), format!(" [{rule}]"), message)
            }
            Said::Event { event } => (sentence("event", &event.reason, ""), String::new(), &event.message),
            Said::Word { reason, message } => {
                (paint(reason, health_style(Health::Degraded.as_str()), colour), String::new(), message)
            }
        };
        let mut notes = note(message);
        notes.extend(self.gaps.iter().cloned());
        Branch {
            head: format!("{via}{}: {state}{rule}", self.reference),
            notes,
            below: self.causes.iter().map(|cause| cause.branch(colour)).collect(),
        }
    }
}

fn state(health: &str, reason: &str, colour: bool) -> String {
    sentence(&paint(health, health_style(health), colour), reason, "")
}

fn note(message: &str) -> Vec<String> {
    if message.is_empty() { Vec::new() } else { vec![message.to_owned()] }
}
