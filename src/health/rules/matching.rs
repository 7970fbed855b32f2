//! The tests of a row: what must be so for its verdict.

use std::{borrow::Cow, cell::Cell};

use serde_json::Value;

use super::path::{Path, Scope};
use crate::{
    health::{conditions, conditions::Reading, subject::int},
    model::decode::text_at,
};

/// A test, ready to be made.
#[derive(Debug)]
pub(super) enum Check {
    Condition {
        kind: String,
        statuses: Vec<String>,
        reasons: Vec<String>,
        reasons_not: Vec<String>,
        messages: Vec<String>,
    },
    Field {
        path: Path,
        is: Is,
    },
    Any(Vec<Check>),
    None(Vec<Check>),
    Some {
        path: Path,
        checks: Vec<Check>,
    },
    Every {
        path: Path,
        checks: Vec<Check>,
    },
}

/// What a field must be.
#[derive(Debug)]
pub(super) enum Is {
    /// There, and neither empty, false nor 0.
    Set,
    Present(bool),
    OneOf(Vec<Value>),
    Containing(Vec<String>),
    AtLeast(Number),
    Below(Number),
}

/// A number, or where one is.
#[derive(Debug)]
pub(super) enum Number {
    Fixed(f64),
    At { path: Path, or: Option<f64> },
}

/// What a test looks at.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) conditions: &'a [Reading<'a>],
    pub(super) budget: &'a Budget,
}

/// The most tests that a rule makes of one object: each item of a list is tested anew, and lists may
/// stand in lists. As measured that is a millisecond or two; no clock, so that the same object always
/// gets the same verdict.
pub(super) const MOST_TESTS: u32 = 10_000;

/// How many more tests a rule may make of an object.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Cell::new(MOST_TESTS) }
    }
}

impl Budget {
    /// Whether nothing is left: what was said since is no answer.
    pub(super) fn is_used_up(&self) -> bool {
        self.left.get() == 0
    }

    fn spend(&self, units: usize) -> bool {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        self.left.set(self.left.get().saturating_sub(units));
        !self.is_used_up()
    }
}

/// What a test that holds has found, for the verdict to say.
#[derive(Clone, Debug, Default)]
pub(super) struct Hit<'a> {
    pub(super) condition: Option<Reading<'a>>,
    pub(super) word: Option<String>,
    /// The object that an item of a list names, and what the item says of it.
    pub(super) part: Option<String>,
}

impl Hit<'_> {
    /// What was found first counts.
    fn or(self, other: Self) -> Self {
        Self {
            condition: self.condition.or(other.condition),
            word: self.word.or(other.word),
            part: self.part.or(other.part),
        }
    }

    fn into_owned(self) -> Hit<'static> {
        Hit { condition: self.condition.map(Reading::into_owned), word: self.word, part: self.part }
    }
}

/// Whether all checks hold, and what they found.
pub(super) fn all<'a>(checks: &[Check], view: View<'a>) -> Option<Hit<'a>> {
    checks.iter().try_fold(Hit::default(), |hit, check| Some(hit.or(check.holds(view)?)))
}

impl Check {
    /// Whether it looks at conditions of the same item.
    fn asks_conditions(&self) -> bool {
        match self {
            Self::Condition { .. } => true,
            Self::Field { .. } | Self::Some { .. } | Self::Every { .. } => false,
            Self::Any(checks) | Self::None(checks) => checks.iter().any(Self::asks_conditions),
        }
    }

    /// Nothing does when the budget is used up.
    fn holds<'a>(&self, view: View<'a>) -> Option<Hit<'a>> {
        if !view.budget.spend(1) {
            return None;
        }
        match self {
            Self::Condition { kind, statuses, reasons, reasons_not, messages } => {
                let reading = view.conditions.iter().find(|reading| reading.kind == *kind)?;
                let condition = reading;
                let status = condition.status.as_str();
                let fits = statuses.iter().any(|wanted| wanted.eq_ignore_ascii_case(status))
                    && (reasons.is_empty() || reasons.iter().any(|reason| *reason == condition.reason))
                    && !reasons_not.iter().any(|reason| *reason == condition.reason)
                    && (messages.is_empty() || contains(&condition.message, messages, view.budget));
                fits.then(|| Hit { condition: Some(condition.clone()), ..Hit::default() })
            }
            Self::Field { path, is } => {
                let found = path.find(view.scope);
                is.met(found.as_deref(), view).then(|| {
                    let word = found.as_deref().and_then(super::path::text).map(Cow::into_owned);
                    Hit { word: word.filter(|_| is.is_word()), ..Hit::default() }
                })
            }
            Self::Any(checks) => checks.iter().find_map(|check| check.holds(view)),
            Self::None(checks) => checks.iter().all(|check| check.holds(view).is_none()).then(Hit::default),
            Self::Some { path, checks } => {
                let found = path.find(view.scope)?;
                let budget = view.budget;
                let (item, hit) = items(&found)
                    .take_while(|_| !budget.is_used_up())
                    .find_map(|item| Some((item, in_item(checks, item, budget)?)))?;
                Some(Hit { part: hit.part.or_else(|| part(item)), ..hit })
            }
            Self::Every { path, checks } => {
                let found = path.find(view.scope)?;
                let mut hit: Option<Hit> = None;
                for item in items(&found) {
                    hit = Some(hit.unwrap_or_default().or(in_item(checks, item, view.budget)?));
                }
                hit
            }
        }
    }
}

fn in_item(checks: &[Check], item: &Value, budget: &Budget) -> Option<Hit<'static>> {
    let asks = checks.iter().any(Check::asks_conditions);
    let conditions = conditions::read(item.get("conditions").filter(|_| asks));
    budget.spend(conditions.len());
    all(checks, View { scope: Scope::Item(item), conditions: &conditions, budget }).map(Hit::into_owned)
}

/// `Deployment shop/web`, with its message, where an item names an object.
fn part(item: &Value) -> Option<String> {
    let (kind, name) = (text_at(item, "kind")?, text_at(item, "name")?);
    let message = item.get("health").and_then(|health| text_at(health, "message"));
    let message = message.or_else(|| text_at(item, "message")).filter(|message| !message.is_empty());
    let namespace = text_at(item, "namespace").filter(|namespace| !namespace.is_empty());
    let place = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let said = message.map(|message| format!(": {message}")).unwrap_or_default();
    Some(format!("{kind} {place}{name}{said}"))
}

fn items(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().take(ITEMS)),
        Value::Object(fields) => Box::new(fields.values().take(ITEMS)),
        _ => Box::new(std::iter::empty()),
    }
}

impl Is {
    fn met(&self, value: Option<&Value>, view: View<'_>) -> bool {
        match self {
            Self::Set => value.is_some_and(is_set),
            Self::Present(wanted) => value.is_some() == *wanted,
            Self::OneOf(values) => values.iter().any(|wanted| equal(value.unwrap_or(&Value::Null), wanted)),
            Self::Containing(parts) => {
                value.and_then(Value::as_str).is_some_and(|text| contains(text, parts, view.budget))
            }
            Self::AtLeast(least) => least.of(view).is_some_and(|least| counted(value) >= least),
            Self::Below(limit) => limit.of(view).is_some_and(|limit| counted(value) < limit),
        }
    }

    /// Whether the field's value says something as a reason.
    fn is_word(&self) -> bool {
        matches!(self, Self::Set | Self::OneOf(_))
    }
}

impl Number {
    fn of(&self, view: View<'_>) -> Option<f64> {
        match self {
            Self::Fixed(number) => Some(*number),
            Self::At { path, or } => path.find(view.scope).and_then(|value| number(&value)).or(*or),
        }
    }
}

/// The API leaves zeros out.
fn counted(value: Option<&Value>) -> f64 {
    value.and_then(number).unwrap_or(0.0)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) => digits.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(_) => int(value) != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

pub(super) fn equal(value: &Value, wanted: &Value) -> bool {
    match (value.as_f64(), wanted.as_f64()) {
        (Some(value), Some(wanted)) => (value - wanted).abs() < f64::EPSILON,
        _ => value == wanted,
    }
}

/// The most of a text that is searched, in bytes, and of the items of a list that are tested.
const SEARCHED: usize = 4096;
const ITEMS: usize = 1000;

/// How much text is as much work as a test, in bytes.
const SEARCHED_A_TEST: usize = 256;

fn contains(text: &str, parts: &[String], budget: &Budget) -> bool {
    budget.spend(text.len().min(SEARCHED) / SEARCHED_A_TEST);
    let text = crate::model::text::cut(text, SEARCHED).to_lowercase();
    parts.iter().any(|part| text.contains(part.as_str()))
}
