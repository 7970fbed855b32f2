//! Rules as data: what is known of the kinds of other projects, and what users register.
//!
//! A rule is written as a [`StatusRuleSpec`](crate::api::StatusRuleSpec), compiled once by
//! [`Rule::compile`], and looked up by group and kind in [`Rules`]. The built-in ones are the files
//! of `rules/`; those of users go before them.

mod accept;
mod builtin;
mod cases;
pub(super) mod cel;
mod compile;
mod matching;
pub(super) mod path;
mod read;
mod registered;
mod taken;
#[cfg(test)]
mod tests;
mod verdicts;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock},
};

pub use accept::{Acceptance, Decided, Register};
pub use builtin::{cases as builtin_cases, files as builtin_files};
pub use cases::{Case, Cases, cases_name, read_case_text, read_cases, stray_cases};
pub use compile::RuleError;
pub use read::{FileError, Written, files_at as rule_files, read_file, read_text};
pub use registered::Registered;
pub use taken::{Clash, Taken};

use serde_json::Value;

use self::{cel::Program, matching::Check, path::Path};
use super::{dialect::Dialect, kinds};
use crate::{
    api::{CauseRule, Combine},
    model::{Health, Object, SignedDuration},
};

/// A rule, ready to judge.
#[derive(Debug)]
pub struct Rule {
    name: String,
    target: Option<Target>,
    verdicts: Verdicts,
    facts: Vec<Fact>,
    causes: Vec<CauseLead>,
    combine: Option<Combine>,
    /// The first object of which its tests were too many.
    too_much: OnceLock<String>,
}

/// The kinds that a rule is for.
#[derive(Debug)]
struct Target {
    /// `*.` and the end of a group's name, or a whole one.
    group: String,
    /// All of the group where there are none.
    kinds: Vec<String>,
}

/// How a rule judges.
#[derive(Debug)]
struct Verdicts {
    rows: Vec<Decision>,
    phases: Vec<Table>,
    dialect: Dialect,
    empty: Option<Health>,
    /// Whether the flags that stop objects of many kinds count.
    suspension: Option<bool>,
    patience: Option<Patience>,
}

/// How long an object may be Progressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    For(SignedDuration),
    Endless,
}

/// A row: a verdict and when it is given.
#[derive(Debug)]
struct Decision {
    health: Health,
    checks: Vec<Check>,
    when: Option<Program>,
    reason: Option<String>,
    message: Option<String>,
    message_at: Vec<Path>,
    since_at: Option<Path>,
    patience: Option<Patience>,
}

/// What the words of a field mean.
#[derive(Debug)]
struct Table {
    path: Path,
    /// In lower case and without what sets their parts apart.
    words: Vec<(String, Health)>,
    others: Option<Health>,
    message_at: Vec<Path>,
}

/// Where the cause of a bad health is looked for: one row of `causes`.
#[derive(Debug)]
pub struct CauseLead {
    /// What the row says.
    pub rule: CauseRule,
    at: Option<Path>,
}

impl CauseLead {
    /// The most references that are read off one object.
    const MOST: usize = 256;

    /// The references that stand at its path, where it has one.
    pub fn references(&self, object: &Object) -> Vec<Value> {
        self.at.as_ref().map(|path| path.all(object, Self::MOST)).unwrap_or_default()
    }
}

/// Something to show of an object.
#[derive(Debug)]
struct Fact {
    name: String,
    from: From,
}

#[derive(Debug)]
enum From {
    Path(Path),
    Expression(Program),
}

impl Rule {
    /// What it is called in verdicts.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is written as a `StatusRule` object, which has a name of its own.
    pub fn is_object(&self) -> bool {
        self.name.starts_with("StatusRule/")
    }

    /// How it combines the components of add-ons.
    pub fn combine(&self) -> Option<&Combine> {
        self.combine.as_ref()
    }

    /// Whether the rule is for this kind.
    pub fn is_for(&self, group: &str, kind: &str) -> bool {
        self.target.as_ref().is_some_and(|target| target.fits(group, kind))
    }

    /// Whether it says anything about health, and not only what to show or how to combine.
    pub fn judges(&self) -> bool {
        let Verdicts { dialect, suspension, patience, .. } = &self.verdicts;
        let adjusts = suspension.is_some() || patience.is_some() || !dialect.generation.is_common();
        self.target.is_some() && (self.tells() || adjusts)
    }

    /// The groups and kinds that it is for, as they are written; without a kind it is every one of
    /// the group.
    fn targets(&self) -> Vec<(String, Option<String>)> {
        match &self.target {
            None => Vec::new(),
            Some(Target { group, kinds }) if kinds.is_empty() => vec![(group.clone(), None)],
            Some(Target { group, kinds }) => {
                kinds.iter().map(|kind| (group.clone(), Some(kind.clone()))).collect()
            }
        }
    }

    /// Whether it says how objects of the kind tell how they are.
    fn tells(&self) -> bool {
        let Verdicts { rows, phases, dialect, empty, .. } = &self.verdicts;
        !(rows.is_empty() && phases.is_empty() && empty.is_none()) || dialect.speaks()
    }

    /// Why one of its expressions was switched off, with the place. It has no answers any more.
    pub fn switched_off(&self) -> Option<String> {
        let mut programs = self.programs();
        programs.find_map(|(place, program)| Some(format!("{place}: {}", program.switched_off()?)))
    }

    /// How one of its expressions failed first, or that its tests were too many, and on which object,
    /// with the place.
    pub fn trouble(&self) -> Option<String> {
        let mut programs = self.programs();
        let fault = programs.find_map(|(place, program)| Some(format!("{place}: {}", program.trouble()?)));
        fault.or_else(|| self.too_much.get().cloned())
    }

    /// Each of its expressions that had no answer for some object.
    pub fn failures(&self) -> Vec<Failure> {
        let failure = |(place, program): (Place, &Program)| {
            let (first, times) = program.failures()?;
            let is_off = program.switched_off().is_some();
            Some(Failure { place: place.to_string(), first: first.to_owned(), times, is_off })
        };
        self.programs().filter_map(failure).collect()
    }

    /// Its expressions, with their places in the spec.
    fn programs(&self) -> impl Iterator<Item = (Place, &Program)> {
        let rows = self.verdicts.rows.iter().enumerate();
        let rows = rows.filter_map(|(n, row)| Some((Place::Row(n), row.when.as_ref()?)));
        let facts = self.facts.iter().enumerate().filter_map(|(n, fact)| match &fact.from {
            From::Expression(program) => Some((Place::Fact(n), program)),
            From::Path(_) => None,
        });
        rows.chain(facts)
    }
}

/// An expression that had no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where it stands in the spec: `rows[1].when`.
    pub place: String,
    /// The first object for which it had none, and why.
    pub first: String,
    /// How often it had none.
    pub times: u32,
    /// Whether it is switched off: it isn't asked any more.
    pub is_off: bool,
}

/// Where an expression stands.
enum Place {
    Row(usize),
    Fact(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(n) => write!(f, "rows[{n}].when"),
            Self::Fact(n) => write!(f, "facts[{n}].value"),
        }
    }
}

impl Target {
    fn fits(&self, group: &str, kind: &str) -> bool {
        let of_group = match self.group.strip_prefix('*') {
            Some(end) => group.ends_with(end),
            None => group == self.group,
        };
        of_group && (self.kinds.is_empty() || self.kinds.iter().any(|own| own == kind))
    }

    /// The more it says, the smaller.
    fn breadth(&self) -> (bool, bool) {
        (self.group.starts_with('*'), self.kinds.is_empty())
    }
}

/// All rules that hold, found by group and kind.
#[derive(Debug, Default)]
pub struct Rules {
    own: Layer,
    users: Layer,
    /// What was looked up already.
    found: RwLock<HashMap<String, HashMap<String, Arc<KindRules>>>>,
}

/// The most groups of which what was looked up is kept.
const MAX_FOUND: usize = 4096;

/// Rules of which the first that is for a kind counts most.
#[derive(Debug, Default)]
struct Layer {
    by_kind: HashMap<String, HashMap<String, Vec<Arc<Rule>>>>,
    /// Those for more than single kinds, the narrower first.
    wide: Vec<Arc<Rule>>,
}

impl Layer {
    fn add(&mut self, rule: Arc<Rule>) {
        let Some(target) = &rule.target else { return };
        if target.breadth() == (false, false) {
            let kinds = self.by_kind.entry(target.group.clone()).or_default();
            for kind in &target.kinds {
                kinds.entry(kind.clone()).or_default().push(Arc::clone(&rule));
            }
        } else {
            self.wide.push(rule);
            self.wide.sort_by_key(|rule| rule.target.as_ref().map(Target::breadth));
        }
    }

    fn of(&self, group: &str, kind: &str) -> Vec<Arc<Rule>> {
        let exact = self.by_kind.get(group).and_then(|kinds| kinds.get(kind)).into_iter().flatten();
        exact.chain(self.wide.iter().filter(|rule| rule.is_for(group, kind))).cloned().collect()
    }
}

/// The rules for one kind: what is looked up once for all its objects.
#[derive(Debug)]
pub struct KindRules {
    users: Vec<Arc<Rule>>,
    own: Vec<Arc<Rule>>,
    native: Option<kinds::Rule>,
    dialect: Dialect,
    suspension: bool,
    /// Whether it is known that objects of the kind tell how they are.
    tells: bool,
    patience: Option<Patience>,
}

impl KindRules {
    /// Those of users, then the built-in ones.
    fn all(&self) -> impl Iterator<Item = &Rule> {
        self.users.iter().chain(&self.own).map(|rule| &**rule)
    }

    /// How many rules of users there are for the kind.
    pub fn users(&self) -> usize {
        self.users.len()
    }

    /// Where the cause of a bad health is looked for.
    pub fn causes(&self) -> impl Iterator<Item = &CauseLead> {
        self.all().flat_map(|rule| &rule.causes)
    }
}

impl Rules {
    /// The rules of `rules/`.
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: LazyLock<Arc<Rules>> = LazyLock::new(|| {
            let mut rules = Rules::default();
            builtin::rules().into_iter().for_each(|rule| rules.own.add(Arc::new(rule)));
            Arc::new(rules)
        });
        Arc::clone(&BUILTIN)
    }

    /// The built-in rules and those of users, which go before them. Of several for one kind the
    /// first counts most.
    #[must_use]
    pub fn with(users: impl IntoIterator<Item = Arc<Rule>>) -> Self {
        let builtin = Self::builtin();
        let own = Layer { by_kind: builtin.own.by_kind.clone(), wide: builtin.own.wide.clone() };
        let mut rules = Self { own, ..Self::default() };
        users.into_iter().for_each(|rule| rules.users.add(rule));
        rules
    }

    /// The built-in ones among them; one for several kinds comes several times.
    pub fn own(&self) -> impl Iterator<Item = &Rule> {
        let exact = self.own.by_kind.values().flat_map(HashMap::values).flatten();
        exact.chain(&self.own.wide).map(|rule| &**rule)
    }

    /// The rules for objects of a kind.
    pub fn of_kind(&self, group: &str, kind: &str) -> Arc<KindRules> {
        let read = self.found.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = read.get(group).and_then(|kinds| kinds.get(kind)) {
            return Arc::clone(found);
        }
        drop(read);
        let (users, own) = (self.users.of(group, kind), self.own.of(group, kind));
        let first = || users.iter().chain(&own);
        let speaking = first().map(|rule| &rule.verdicts.dialect).find(|dialect| dialect.speaks());
        let mut generations = first().map(|rule| &rule.verdicts.dialect.generation);
        let generation = generations.find(|seen| !seen.is_common()).cloned();
        let found = Arc::new(KindRules {
            dialect: Dialect {
                generation: generation.unwrap_or_default(),
                ..speaking.cloned().unwrap_or_default()
            },
            suspension: first().find_map(|rule| rule.verdicts.suspension).unwrap_or(true),
            tells: !own.is_empty() || users.iter().any(|rule| rule.tells()),
            patience: first().find_map(|rule| rule.verdicts.patience),
            native: kinds::rule(group, kind),
            users,
            own,
        });
        let mut write = self.found.write().unwrap_or_else(PoisonError::into_inner);
        // Files may name any number of groups.
        if write.len() < MAX_FOUND {
            write.entry(group.to_owned()).or_default().insert(kind.to_owned(), Arc::clone(&found));
        }
        found
    }
}
