//! Which of the rules that users registered are in force.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use super::{
    Registered, Rule,
    taken::{Clash, Taken},
};
use crate::{
    api::{StatusRuleSpec, accepted},
    model::text,
};

/// How many registered rules are looked at, the oldest first.
const MAX_RULES: usize = 500;

/// What becomes of a registered rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// It is in force.
    Accepted,
    /// It makes no sense: where, and what is wrong.
    Invalid(String),
    /// Another rule in force decides the same: which, and what.
    Conflict(String),
    /// There are too many.
    TooMany(String),
    /// One of its expressions was slow or failed again and again. What it was for is judged without it
    /// until its spec changes.
    SwitchedOff(String),
}

impl Acceptance {
    /// Why, in one CamelCase word.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Accepted => accepted::ACCEPTED,
            Self::Invalid(_) => accepted::INVALID,
            Self::Conflict(_) => accepted::CONFLICT,
            Self::TooMany(_) => accepted::TOO_MANY,
            Self::SwitchedOff(_) => accepted::SWITCHED_OFF,
        }
    }

    /// Why, in a sentence.
    pub fn message(&self) -> &str {
        match self {
            Self::Accepted => "the rule is in force",
            Self::Invalid(why) | Self::Conflict(why) | Self::TooMany(why) | Self::SwitchedOff(why) => why,
        }
    }
}

/// What became of all registered rules.
#[derive(Debug, Default)]
pub struct Decided {
    /// Those in force. The older goes before the younger.
    pub in_force: Vec<Arc<Rule>>,
    /// By name.
    pub by_name: BTreeMap<String, Acceptance>,
}

/// Decides which registered rules are in force. It keeps those that it has compiled: a rule whose
/// spec didn't change stays the same one.
#[derive(Debug, Default)]
pub struct Register {
    compiled: HashMap<String, Compiled>,
}

#[derive(Debug)]
struct Compiled {
    uid: String,
    spec: Arc<StatusRuleSpec>,
    rule: Result<Arc<Rule>, String>,
}

impl Register {
    /// Decides about all rules that there are.
    pub fn decide<'a>(&mut self, registered: impl IntoIterator<Item = &'a Registered>) -> Decided {
        let mut all: Vec<&Registered> = registered.into_iter().collect();
        all.sort_by(|a, b| (a.created, &a.name).cmp(&(b.created, &b.name)));
        let names: HashSet<&str> = all.iter().map(|rule| rule.name.as_str()).collect();
        self.compiled.retain(|name, _| names.contains(name.as_str()));
        let mut decided = Decided::default();
        let mut taken = Taken::default();
        for (n, registered) in all.into_iter().enumerate() {
            let outcome = if n < MAX_RULES {
                self.judge(registered)
                    .and_then(|rule| take(&mut taken, &registered.name, &rule).map(|()| rule))
            } else {
                let why = format!("there are {MAX_RULES} older rules, which is the most that are used");
                Err(Acceptance::TooMany(why))
            };
            let acceptance = match outcome {
                Ok(rule) => {
                    decided.in_force.push(rule);
                    Acceptance::Accepted
                }
                Err(refusal) => refusal,
            };
            decided.by_name.insert(registered.name.clone(), acceptance);
        }
        decided
    }

    /// The rule, where nothing is wrong with it alone.
    fn judge(&mut self, registered: &Registered) -> Result<Arc<Rule>, Acceptance> {
        let spec = registered.spec.as_ref().map_err(|why| Acceptance::Invalid(why.clone()))?;
        let rule = self.compiled(registered, spec).clone().map_err(Acceptance::Invalid)?;
        let before = registered.accepted.as_ref().filter(|accepted| {
            // After a restart the status is what is left of what happened.
            accepted.reason == accepted::SWITCHED_OFF && accepted.observed_generation == registered.generation
        });
        match (rule.switched_off(), before) {
            (Some(why), _) => Err(Acceptance::SwitchedOff(text::message(&format!(
                "{why}; the rule is tried again when its spec changes"
            )))),
            (None, Some(accepted)) => Err(Acceptance::SwitchedOff(text::message(&accepted.message))),
            (None, None) => Ok(rule),
        }
    }

    fn compiled(
        &mut self,
        registered: &Registered,
        spec: &Arc<StatusRuleSpec>,
    ) -> &Result<Arc<Rule>, String> {
        let is_known = |known: &Compiled| {
            known.uid == registered.uid && (Arc::ptr_eq(&known.spec, spec) || known.spec == *spec)
        };
        if !self.compiled.get(&registered.name).is_some_and(is_known) {
            self.compiled.remove(&registered.name);
        }
        let compile = || {
            let name = text::word(&format!("StatusRule/{}", registered.name));
            let rule = Rule::compile(&name, spec).map(Arc::new);
            Compiled {
                uid: registered.uid.clone(),
                spec: Arc::clone(spec),
                rule: rule.map_err(|error| text::message(&error.to_string())),
            }
        };
        &self.compiled.entry(registered.name.clone()).or_insert_with(compile).rule
    }
}

/// Two rules that judge the same kinds: the older is in force.
fn take(taken: &mut Taken<String>, name: &String, rule: &Rule) -> Result<(), Acceptance> {
    taken.take(name, rule).map_err(|Clash { other, what }| {
        Acceptance::Conflict(text::message(&format!("the older StatusRule '{other}' judges {what} already")))
    })
}

#[cfg(test)]
mod tests;
