//! What rules say of an object.

use std::borrow::Cow;

use super::{
    Decision, From, KindRules, Patience, Rule, Table,
    cel::EvalError,
    matching::{self, Budget, Hit, MOST_TESTS, View},
    path::{Path, Scope},
};
use crate::{
    health::{
        Finding, Subject,
        convention::{self, normal, state},
        deletion,
        dialect::Dialect,
    },
    model::{Health, StatusReporting, Timestamp, decode, text},
};

/// How long a fact may be, in bytes.
const FACT_BYTES: usize = 256;

/// A finding and the rule that made it.
type Named = (Finding, Cow<'static, str>);

impl KindRules {
    /// What the kind means by its conditions.
    pub(in crate::health) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Judges an object: deletion, the rules of users, what is known of built-in kinds, the built-in
    /// rules, and what any other kind says.
    pub(in crate::health) fn decide(&self, subject: Subject) -> Named {
        if let Some(finding) = deletion::judge(subject) {
            return (finding, deletion::RULE.into());
        }
        let (finding, name) = self.health(subject);
        match self.patience.filter(|_| !finding.has_deadline) {
            Some(patience) => (patience.apply(finding), name),
            None => (finding, name),
        }
    }

    fn health(&self, subject: Subject) -> Named {
        let native =
            self.native.as_ref().filter(|_| !self.users.iter().any(|rule| rule.verdicts.dialect.speaks()));
        let stopped = native.is_none() && self.suspension;
        if let Some(suspended) = stopped.then(|| convention::suspended(subject)).flatten() {
            return suspended;
        }
        if let Some(decided) = self.users.iter().find_map(|rule| rule.decide(subject)) {
            return decided;
        }
        if let Some(native) = native {
            return ((native.judge)(subject), native.name.into());
        }
        if let Some(decided) = self.own.iter().find_map(|rule| rule.decide(subject)) {
            return decided;
        }
        if !self.tells {
            return convention::judge(subject);
        }
        // Of a kind that is known to tell, silence is that of a controller that hasn't got there yet.
        let told = (!subject.unreported()).then(|| convention::signal(subject)).flatten();
        told.unwrap_or_else(|| silent(subject, self.all().find_map(|rule| rule.verdicts.empty)))
    }

    /// What is to be shown of an object, each name once.
    pub(in crate::health) fn facts(&self, subject: Subject) -> Vec<crate::model::Fact> {
        let mut facts: Vec<crate::model::Fact> = Vec::new();
        for rule in self.all().flat_map(|rule| &rule.facts) {
            if facts.iter().any(|fact| fact.name == rule.name) {
                continue;
            }
            let value = match &rule.from {
                From::Path(path) => path.text(Scope::Object(subject.object)).map(Cow::into_owned),
                From::Expression(program) => program.text(subject).ok().flatten(),
            };
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                let value = text::cut(&text::message(&value), FACT_BYTES);
                facts.push(crate::model::Fact { name: rule.name.clone(), value });
            }
        }
        facts
    }
}

/// The verdict on an object whose status tells nothing, of a kind that is known to tell.
fn silent(subject: Subject, empty: Option<Health>) -> Named {
    const RULE: &str = "convention/status";
    match empty {
        Some(Health::Healthy) => (Finding::healthy("Exists"), RULE.into()),
        None | Some(Health::Progressing) if subject.object.reference.kind.status != StatusReporting::No => {
            let silence =
                if subject.unreported() { "no status reported yet" } else { "its status tells nothing yet" };
            (subject.not_yet_observed().message(silence), RULE.into())
        }
        None => (Finding::healthy("Exists"), RULE.into()),
        Some(health) => {
            (Finding::new(health, "NotYetObserved").message("no status reported yet"), RULE.into())
        }
    }
}

impl Rule {
    /// The verdict of the first row that decides, or of the words of state.
    fn decide(&self, subject: Subject) -> Option<Named> {
        let budget = Budget::default();
        for (n, row) in self.verdicts.rows.iter().enumerate() {
            let decided = row.decide(subject, &budget);
            if budget.is_used_up() {
                let on = &subject.object.reference;
                self.too_much
                    .get_or_init(|| format!("rows[{n}].if: {on}: takes more than {MOST_TESTS} tests"));
            }
            // A row that can't be told might have decided: those below it must not, and the object is
            // judged without this rule.
            if let Some((finding, generation)) = decided.ok()? {
                let name = || format!("{}#{}", self.name, n + 1).into();
                return Some(convention::fresh(subject, finding, generation, name));
            }
        }
        if subject.unreported() {
            return None;
        }
        let finding = self.verdicts.phases.iter().find_map(|table| table.judge(subject))?;
        if finding.health == Health::Healthy
            && let Some(failing) = convention::failing(subject)
        {
            return Some(failing);
        }
        Some(convention::fresh(subject, finding, None, || self.name.clone().into()))
    }
}

impl Decision {
    /// What the row says, where it decides.
    fn decide(&self, subject: Subject, budget: &Budget) -> Result<Option<(Finding, Option<i64>)>, EvalError> {
        let view = View { scope: Scope::Object(subject.object), conditions: subject.conditions, budget };
        let hit = matching::all(&self.checks, view);
        if budget.is_used_up() {
            return Err(EvalError::TooLarge("it goes through too much".to_owned()));
        }
        let Some(hit) = hit else { return Ok(None) };
        if let Some(when) = &self.when
            && !when.holds(subject)?
        {
            return Ok(None);
        }
        Ok(Some(self.finding(subject, hit)))
    }

    fn finding(&self, subject: Subject, hit: Hit) -> (Finding, Option<i64>) {
        let Hit { condition, word, part } = hit;
        let generation = condition.as_ref().and_then(|condition| condition.observed_generation);
        let mut finding = match (&condition, &word) {
            (Some(condition), _) => Finding::of(self.health, condition),
            (None, Some(word)) => Finding::told(self.health, word),
            (None, None) => Finding::new(self.health, self.health.as_str()),
        };
        if let Some(reason) = &self.reason {
            finding = finding.reason(reason);
        }
        let said = self.message_at.iter().find_map(|path| said(path, subject));
        // What a condition says tells more than an item that only names its object.
        let part = part.filter(|_| condition.is_none()).map(Cow::Owned);
        let message = self.message.as_deref().map(Cow::Borrowed);
        let said: Vec<Cow<str>> = message.into_iter().chain(said).chain(part).collect();
        if !said.is_empty() {
            finding = finding.message(said.join(": "));
        }
        if let Some(since) = self.since_at.as_ref().and_then(|path| time(path, subject)) {
            finding = finding.since(Some(since));
        }
        if self.health == Health::Progressing {
            finding = finding.overdue();
        }
        if let Some(patience) = self.patience {
            finding = patience.apply(finding);
        }
        (finding, generation)
    }
}

impl Table {
    fn judge(&self, subject: Subject) -> Option<Finding> {
        let word = self.path.text(Scope::Object(subject.object)).filter(|word| !word.is_empty())?;
        let spelled = normal(&word);
        let listed = self.words.iter().find(|(own, _)| *own == spelled).map(|(_, health)| *health);
        let health = listed.or(self.others).or_else(|| state(&word))?;
        let finding = Finding::told(health, &word);
        let finding = match self.message_at.iter().find_map(|path| said(path, subject)) {
            Some(said) => finding.message(said),
            None => finding.message(subject.said()),
        };
        Some(if health == Health::Progressing { finding.overdue() } else { finding })
    }
}

fn said<'a>(path: &Path, subject: Subject<'a>) -> Option<Cow<'a, str>> {
    path.text(Scope::Object(subject.object)).filter(|said| !said.is_empty())
}

fn time(path: &Path, subject: Subject) -> Option<Timestamp> {
    decode::time(path.find(Scope::Object(subject.object)).as_deref())
}

impl Patience {
    fn apply(self, finding: Finding) -> Finding {
        match self {
            Self::Endless => finding.for_ever(),
            Self::For(time) => finding.within(time),
        }
    }
}
