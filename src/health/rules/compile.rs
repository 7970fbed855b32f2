//! From a rule as it is written to one that judges.

use std::{fmt, sync::OnceLock};

use serde_json::Value;

use super::{
    CauseLead, Decision, Fact, From, Patience, Rule, Table, Target, Verdicts,
    cel::Program,
    matching::{Check, Is, Number},
    path::Path,
};
use crate::{
    api::{
        Combine, FactRule, Identifier, Items, KindMatch, PhaseTable, Row, StatusRuleSpec, Suspension, Test,
    },
    health::{
        convention::{Role, Tone, normal},
        dialect::{Dialect, ObservedGeneration},
    },
    model::SignedDuration,
};

/// How deep tests may stand in each other.
const MAX_DEPTH: usize = 4;
/// How many tests a rule may have.
const MAX_TESTS: usize = 512;

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
        let mut compiling = Compiling { tests: 0 };
        let target = spec.matches.as_ref().map(target).transpose()?;
        if target.is_none() && spec.combine.is_none() {
            return fault("match", "says for which kinds the rule is, unless it combines");
        }
        let rows = spec.rows.iter().enumerate();
        let rows = rows.map(|(n, row)| compiling.row(row, &format!("rows[{n}]"))).collect::<Outcome<_>>()?;
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
        Ok(Self {
            name: name.to_owned(),
            target,
            verdicts: Verdicts {
                rows,
                phases,
                dialect: dialect(spec)?,
                empty: spec.empty.map(Into::into),
                suspension: spec.suspension.map(|suspension| suspension == Suspension::Common),
                patience: spec.deadline.as_deref().map(|text| patience(text, "deadline")).transpose()?,
            },
            facts,
            causes,
            combine: spec.combine.as_ref().map(combine).transpose()?,
            too_much: OnceLock::new(),
        })
    }
}

fn combine(combine: &Combine) -> Outcome<Combine> {
    if let Some(identifier) = combine.identifiers.iter().find(|text| Identifier::new(text).is_none()) {
        return fault("combine.identifiers", format!("{identifier:?} can't be the name part of a label"));
    }
    if combine.quorums.is_empty() && combine.informational.is_empty() {
        return fault("combine", "has either quorums or informational components");
    }
    match combine.quorums.iter().position(|quorum| quorum.at_least == 0) {
        Some(n) => fault(format!("combine.quorums[{n}].atLeast"), "is at least 1"),
        None => Ok(combine.clone()),
    }
}

fn target(matches: &KindMatch) -> Outcome<Target> {
    let group = &matches.group;
    let name = group.strip_prefix("*.").unwrap_or(group);
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if !name.chars().all(is_name) || (name.is_empty() && !group.is_empty()) {
        return fault("match.group", format!("{group:?} is no API group"));
    }
    let kinds: Vec<String> =
        matches.kind.iter().chain(&matches.kinds).filter(|kind| *kind != "*").cloned().collect();
    // Most begin with a capital; the API server asks for a DNS label in any case.
    let is_kind = |kind: &&String| {
        kind.starts_with(|c: char| c.is_ascii_alphabetic())
            && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    match kinds.iter().find(|kind| !is_kind(kind)) {
        Some(kind) => fault("match.kind", format!("{kind:?} is no kind: kinds are letters and digits")),
        None => Ok(Target { group: group.clone(), kinds }),
    }
}

struct Compiling {
    tests: usize,
}

impl Compiling {
    fn row(&mut self, row: &Row, at: &str) -> Outcome<Decision> {
        let when = row.when.as_deref().map(|source| expression(source, &format!("{at}.when"))).transpose()?;
        Ok(Decision {
            health: row.verdict.into(),
            checks: self.tests(&row.tests, &format!("{at}.if"), false, 0)?,
            when,
            reason: row.reason.clone(),
            message: row.message.clone(),
            message_at: paths(&row.message_at, &format!("{at}.messageAt"))?,
            since_at: row.since_at.as_deref().map(|text| path(text, &format!("{at}.sinceAt"))).transpose()?,
            patience: row
                .deadline
                .as_deref()
                .map(|text| patience(text, &format!("{at}.deadline")))
                .transpose()?,
        })
    }

    fn tests(&mut self, tests: &[Test], at: &str, in_item: bool, depth: usize) -> Outcome<Vec<Check>> {
        if depth > MAX_DEPTH {
            return fault(at, format!("tests stand at most {MAX_DEPTH} deep in each other"));
        }
        let mut checks = Vec::new();
        for (n, test) in tests.iter().enumerate() {
            self.test(test, &format!("{at}[{n}]"), in_item, depth, &mut checks)?;
        }
        Ok(checks)
    }

    fn test(
        &mut self,
        test: &Test,
        at: &str,
        in_item: bool,
        depth: usize,
        checks: &mut Vec<Check>,
    ) -> Outcome<()> {
        self.tests += 1;
        if self.tests > MAX_TESTS {
            return fault(at, format!("a rule has at most {MAX_TESTS} tests"));
        }
        let before = checks.len();
        checks.extend(condition(test, at)?);
        field(test, at, in_item, checks)?;
        if !test.any.is_empty() {
            checks.push(Check::Any(self.tests(&test.any, &format!("{at}.any"), in_item, depth + 1)?));
        }
        if !test.none.is_empty() {
            checks.push(Check::None(self.tests(&test.none, &format!("{at}.none"), in_item, depth + 1)?));
        }
        if let Some(items) = &test.some {
            let (path, inner) = self.items(items, &format!("{at}.some"), in_item, depth)?;
            checks.push(Check::Some { path, checks: inner });
        }
        if let Some(items) = &test.every {
            let (path, inner) = self.items(items, &format!("{at}.every"), in_item, depth)?;
            checks.push(Check::Every { path, checks: inner });
        }
        if checks.len() == before {
            return fault(at, "tests nothing: give a condition, a path, any, none, some or every");
        }
        Ok(())
    }

    fn items(&mut self, items: &Items, at: &str, in_item: bool, depth: usize) -> Outcome<(Path, Vec<Check>)> {
        let path = scoped_path(&items.at, &format!("{at}.at"), in_item)?;
        Ok((path, self.tests(&items.tests, &format!("{at}.where"), true, depth + 1)?))
    }
}

fn condition(test: &Test, at: &str) -> Outcome<Option<Check>> {
    let others = [&test.status, &test.reason, &test.reason_not, &test.message];
    let Some(kind) = &test.condition else {
        return match others.iter().all(|others| others.is_empty()) {
            true => Ok(None),
            false => {
                fault(at, "status, reason, reasonNot and message belong to a condition, which isn't named")
            }
        };
    };
    let statuses = match test.status.as_slice() {
        [] => vec!["True".to_owned()],
        statuses => statuses.to_vec(),
    };
    Ok(Some(Check::Condition {
        kind: kind.clone(),
        statuses,
        reasons: test.reason.as_slice().to_vec(),
        reasons_not: test.reason_not.as_slice().to_vec(),
        messages: test.message.as_slice().iter().map(|part| part.to_lowercase()).collect(),
    }))
}

fn field(test: &Test, at: &str, in_item: bool, checks: &mut Vec<Check>) -> Outcome<()> {
    let mut all = Vec::new();
    all.extend(test.one_of.clone().map(Is::OneOf));
    all.extend(test.exists.map(Is::Present));
    if !test.contains.is_empty() {
        all.push(Is::Containing(test.contains.as_slice().iter().map(|part| part.to_lowercase()).collect()));
    }
    if let Some(least) = &test.at_least {
        all.push(Is::AtLeast(number(least, &format!("{at}.atLeast"), in_item)?));
    }
    if let Some(limit) = &test.below {
        all.push(Is::Below(number(limit, &format!("{at}.below"), in_item)?));
    }
    let Some(text) = &test.path else {
        return match all.is_empty() {
            true => Ok(()),
            false => fault(at, "in, contains, exists, atLeast and below belong to a path, which isn't given"),
        };
    };
    if all.is_empty() {
        all.push(Is::Set);
    }
    let path = scoped_path(text, &format!("{at}.path"), in_item)?;
    checks.extend(all.into_iter().map(|is| Check::Field { path: path.clone(), is }));
    Ok(())
}

fn number(value: &Value, at: &str, in_item: bool) -> Outcome<Number> {
    if let Some(number) = value.as_f64() {
        return Ok(Number::Fixed(number));
    }
    let (text, or) = match value {
        Value::String(text) => (Some(text.as_str()), None),
        Value::Object(fields) => {
            (fields.get("path").and_then(Value::as_str), fields.get("or").and_then(Value::as_f64))
        }
        _ => (None, None),
    };
    match text {
        Some(text) => Ok(Number::At { path: scoped_path(text, at, in_item)?, or }),
        None => fault(at, "is a number, a path, or a path with the number that holds where it leads nowhere"),
    }
}

fn scoped_path(text: &str, at: &str, in_item: bool) -> Outcome<Path> {
    let path = if in_item { Path::parse_in_item(text) } else { Path::parse(text) };
    path.or_else(|message| fault(at, message))
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
        let words = lists.iter().flat_map(|(words, tone)| words.iter().map(|word| (word.clone(), *tone)));
        dialect.tones.extend(words);
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
