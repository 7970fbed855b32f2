//! From a rule as it is written to one that judges.

mod checks;
mod combination;
mod contradiction;
mod effect;
#[cfg(test)]
mod tests;

use std::{fmt, sync::OnceLock};

use self::{
    checks::{Tests, scoped_path},
    combination::combine,
};
use super::{
    CauseLead, Decision, Fact, From, Patience, Rule, Table, Target, Verdicts, cel::Program, path::Path,
};
use crate::{
    api::{FactRule, KindMatch, PhaseTable, Row, StatusRuleSpec, Suspension, Word},
    health::{
        convention::{Role, Tone, normal},
        dialect::{Dialect, ObservedGeneration},
    },
    model::SignedDuration,
};

/// Why a rule can't be used: where in its spec, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The place, such as `rows[2].if[0].path`.
    pub at: String,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

impl std::error::Error for RuleError {}

type Outcome<T> = Result<T, RuleError>;

fn fault<T>(at: impl Into<String>, message: impl Into<String>) -> Outcome<T> {
    Err(RuleError { at: at.into(), message: message.into() })
}

impl Rule {
    /// Makes a rule of what is written. `name` stands for it in verdicts.
    ///
    /// # Errors
    /// The first thing in it that makes no sense, with its place.
    pub fn compile(name: &str, spec: &StatusRuleSpec) -> Result<Self, RuleError> {
        let mut tests = Tests::default();
        let target = spec.matches.as_ref().map(target).transpose()?;
        let rows = spec.rows.iter().enumerate();
        let rows =
            rows.map(|(n, row)| self::row(row, &format!("rows[{n}]"), &mut tests)).collect::<Outcome<_>>()?;
        let phases = spec.phases.iter().enumerate();
        let phases =
            phases.map(|(n, phase)| table(phase, &format!("phases[{n}]"))).collect::<Outcome<_>>()?;
        let facts = spec.facts.iter().enumerate();
        let facts = facts.map(|(n, rule)| fact(rule, &format!("facts[{n}]"))).collect::<Outcome<_>>()?;
        let causes = spec.causes.iter().enumerate();
        let causes = causes.map(|(n, rule)| {
            let at = rule.at.as_deref().map(|text| path(text, &format!("causes[{n}].at"))).transpose()?;
            Ok(CauseLead { rule: rule.clone(), at })
        });
        let causes = causes.collect::<Outcome<_>>()?;
        let verdicts = Verdicts {
            rows,
            phases,
            dialect: dialect(spec)?,
            empty: spec.empty.map(Into::into),
            suspension: spec.suspension.map(|suspension| suspension == Suspension::Common),
            patience: spec.deadline.as_deref().map(|text| patience(text, "deadline")).transpose()?,
        };
        let combine = spec.combine.as_ref().map(combine).transpose()?;
        effect::check(spec)?;
        Ok(Self {
            name: name.to_owned(),
            target,
            verdicts,
            facts,
            causes,
            combine,
            too_much: OnceLock::new(),
        })
    }
}

fn target(matches: &KindMatch) -> Outcome<Target> {
    let group = &matches.group;
    let name = group.strip_prefix("*.").unwrap_or(group);
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if !name.chars().all(is_name) || (name.is_empty() && !group.is_empty()) {
        return fault("match.group", format!("{group:?} is no API group"));
    }
    let kinds: Vec<String> = matches.kind.iter().chain(&matches.kinds).cloned().collect();
    match kinds.iter().find(|kind| !is_kind(kind)) {
        Some(kind) if kind == "*" => {
            fault("match.kind", "a rule for all kinds of a group names none: leave it out")
        }
        Some(kind) => fault("match.kind", format!("{kind:?} is no kind: kinds are letters and digits")),
        None => Ok(Target { group: group.clone(), kinds }),
    }
}

/// Whether a kind may be called so. Most begin with a capital; the API server asks for a DNS label in
/// any case.
fn is_kind(kind: &str) -> bool {
    kind.starts_with(|c: char| c.is_ascii_alphabetic())
        && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn row(row: &Row, at: &str, tests: &mut Tests) -> Outcome<Decision> {
    let when = row.when.as_deref().map(|source| expression(source, &format!("{at}.when"))).transpose()?;
    if when.as_ref().is_some_and(|program| !program.reads_object()) {
        return fault(format!("{at}.when"), "reads nothing of the object, and says the same of each");
    }
    let patience =
        row.deadline.as_deref().map(|text| patience(text, &format!("{at}.deadline"))).transpose()?;
    if patience.is_some() && row.verdict != Word::Progressing {
        return fault(format!("{at}.deadline"), "is for the verdict Progressing, others have none");
    }
    Ok(Decision {
        health: row.verdict.into(),
        checks: tests.checks(&row.tests, &format!("{at}.if"))?,
        when,
        reason: row.reason.clone(),
        message: row.message.clone(),
        message_at: paths(&row.message_at, &format!("{at}.messageAt"))?,
        since_at: row.since_at.as_deref().map(|text| path(text, &format!("{at}.sinceAt"))).transpose()?,
        patience,
    })
}

fn path(text: &str, at: &str) -> Outcome<Path> {
    scoped_path(text, at, false)
}

fn paths(texts: &[String], at: &str) -> Outcome<Vec<Path>> {
    texts.iter().enumerate().map(|(n, text)| path(text, &format!("{at}[{n}]"))).collect()
}

fn expression(source: &str, at: &str) -> Outcome<Program> {
    Program::compile(source).or_else(|error| fault(at, error.to_string()))
}

/// How many bytes the name of a fact has at most.
const FACT_NAME_BYTES: usize = 64;

fn fact(rule: &FactRule, at: &str) -> Outcome<Fact> {
    let name = &rule.name;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins_well || !name.chars().all(is_plain) || name.len() > FACT_NAME_BYTES {
        let message =
            format!("{name:?} isn't a name: up to {FACT_NAME_BYTES} letters, digits, -, _, . and /");
        return fault(format!("{at}.name"), message);
    }
    let from = match (&rule.at, &rule.value) {
        (Some(text), None) => From::Path(path(text, &format!("{at}.at"))?),
        (None, Some(source)) => From::Expression(expression(source, &format!("{at}.value"))?),
        _ => return fault(at, "has either a path (at) or an expression (value)"),
    };
    Ok(Fact { name: rule.name.clone(), from })
}

fn table(phase: &PhaseTable, at: &str) -> Outcome<Table> {
    use crate::model::Health::{Degraded, Healthy, Progressing, Suspended, Terminating, Unknown};
    let lists = [
        (&phase.healthy, Healthy),
        (&phase.progressing, Progressing),
        (&phase.degraded, Degraded),
        (&phase.suspended, Suspended),
        (&phase.terminating, Terminating),
        (&phase.unknown, Unknown),
    ];
    let mut words = Vec::new();
    for (word, health) in
        lists.iter().flat_map(|(list, health)| list.iter().map(|word| (normal(word), *health)))
    {
        if words.iter().any(|(other, _)| *other == word) {
            return fault(at, format!("the word {word:?} stands there twice"));
        }
        words.push((word, health));
    }
    Ok(Table {
        path: path(&phase.at, &format!("{at}.at"))?,
        words,
        others: phase.others.map(Into::into),
        message_at: paths(&phase.message_at, &format!("{at}.messageAt"))?,
    })
}

fn dialect(spec: &StatusRuleSpec) -> Outcome<Dialect> {
    let mut dialect = Dialect {
        generation: match spec.observed_generation.as_deref() {
            None => ObservedGeneration::Common,
            Some("none") => ObservedGeneration::Nowhere,
            Some(text) => ObservedGeneration::At(path(text, "observedGeneration")?),
        },
        ..Dialect::default()
    };
    if let Some(roles) = &spec.conditions {
        dialect.only = roles.only;
        let plain = [
            (&roles.positive, Role::Positive),
            (&roles.negative, Role::Negative),
            (&roles.activity, Role::Activity),
            (&roles.renewal, Role::Renewal),
            (&roles.pause, Role::Pause),
            (&roles.neutral, Role::Neutral),
        ];
        let summaries = roles.summary.iter().enumerate().map(|(rank, kind)| (kind, Role::Summary(rank)));
        let plain = plain.iter().flat_map(|(kinds, role)| kinds.iter().map(|kind| (kind, *role)));
        for (kind, role) in summaries.chain(plain) {
            if dialect.roles.iter().any(|(other, _)| other == kind) {
                return fault("conditions", format!("the type {kind:?} stands there twice"));
            }
            dialect.roles.push((kind.clone(), role));
        }
    }
    if let Some(tones) = &spec.reasons {
        dialect.others_failing = tones.others_failing;
        let lists = [
            (&tones.failing, Tone::Failing),
            (&tones.moving, Tone::Moving),
            (&tones.paused, Tone::Paused),
            (&tones.done, Tone::Done),
        ];
        for (word, tone) in lists.iter().flat_map(|(words, tone)| words.iter().map(|word| (word, *tone))) {
            if dialect.tones.iter().any(|(other, _)| other == word) {
                return fault("reasons", format!("the reason {word:?} stands there twice"));
            }
            dialect.tones.push((word.clone(), tone));
        }
    }
    Ok(dialect)
}

/// Reads `never`, or a whole number with s, m, h or d.
fn patience(text: &str, at: &str) -> Outcome<Patience> {
    if text == "never" {
        return Ok(Patience::Endless);
    }
    let seconds = text.strip_suffix(['s', 'm', 'h', 'd']).and_then(|digits| {
        let unit = match text.as_bytes().last()? {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            _ => 86400,
        };
        digits.parse::<u32>().ok().map(|number| i64::from(number) * unit)
    });
    match seconds.filter(|seconds| *seconds > 0) {
        Some(seconds) => Ok(Patience::For(SignedDuration::from_secs(seconds))),
        None => fault(at, format!("{text:?} is no time: write never, 90s, 30m, 2h or 1d")),
    }
}
