use serde_json::Value;

use super::{
    conditions::Reading,
    dialect::{Dialect, ObservedGeneration},
    finding::Finding,
    rules::path::Scope,
};
use crate::model::{ConditionStatus, Object, Timestamp, decode};

/// The object under judgement with its conditions, normalised.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) object: &'a Object,
    /// In order of type, each type once.
    pub(super) conditions: &'a [Reading<'a>],
    /// What its kind means by them.
    pub(super) dialect: &'a Dialect,
}

impl<'a> Subject<'a> {
    pub(super) fn spec(self, field: &str) -> &'a Value {
        self.object.spec.get(field).unwrap_or(&Value::Null)
    }

    pub(super) fn status(self, field: &str) -> &'a Value {
        self.object.status.get(field).unwrap_or(&Value::Null)
    }

    /// A word of the status, empty where there is none.
    pub(super) fn word(self, field: &str) -> &'a str {
        self.status(field).as_str().unwrap_or_default()
    }

    /// A counter of the status. The API leaves zeros out.
    pub(super) fn count(self, field: &str) -> i64 {
        int(self.status(field)).unwrap_or(0)
    }

    /// A time of the status.
    pub(super) fn time(self, field: &str) -> Option<Timestamp> {
        decode::time(self.object.status.get(field))
    }

    pub(super) fn annotation(self, key: &str) -> Option<&'a str> {
        self.object.annotations.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    pub(super) fn condition(self, kind: &str) -> Option<&'a Reading<'a>> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// The condition, where it is True.
    pub(super) fn holds(self, kind: &str) -> Option<&'a Reading<'a>> {
        self.condition(kind).filter(|condition| condition.status == ConditionStatus::True)
    }

    /// The condition, where it is False.
    pub(super) fn denies(self, kind: &str) -> Option<&'a Reading<'a>> {
        self.condition(kind).filter(|condition| condition.status == ConditionStatus::False)
    }

    /// Since when the condition is as it is.
    pub(super) fn changed(self, kind: &str) -> Option<Timestamp> {
        self.condition(kind)?.last_transition()
    }

    /// Nothing stands in the status yet, but maybe empty lists and the like.
    pub(super) fn unreported(self) -> bool {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        self.object.status.as_object().is_none_or(|status| status.values().all(is_empty))
    }

    /// The verdict on an object whose controller hasn't written a status: that takes a moment, and
    /// after a while nobody knows.
    pub(super) fn not_yet_observed(self) -> Finding {
        Finding::progressing("NotYetObserved")
            .message("no status reported yet")
            .since(self.object.created)
            .then_unknown(self.object.created)
    }

    /// The verdict where the whole status is of an older generation of the object.
    pub(super) fn lag(self) -> Option<Finding> {
        self.lag_behind(self.observed_generation()?)
    }

    /// The generation that the whole status is of, where it says so.
    pub(super) fn observed_generation(self) -> Option<i64> {
        match &self.dialect.generation {
            ObservedGeneration::Common => generation(self.status("observedGeneration")),
            ObservedGeneration::At(path) => generation(&*path.find(Scope::Object(self.object))?),
            ObservedGeneration::Nowhere => None,
        }
    }

    /// What the status says in a sentence beside its word of state.
    pub(super) fn said(self) -> &'a str {
        let said = [self.word("message"), self.word("statusMessage")];
        said.into_iter().find(|said| !said.is_empty()).unwrap_or_default()
    }

    /// The verdict where what was seen at generation `observed` is older than the object.
    pub(super) fn lag_behind(self, observed: i64) -> Option<Finding> {
        let generation = self.object.generation.filter(|generation| observed < *generation)?;
        let message = format!("generation {generation} not seen yet, the status is of {observed}");
        Some(Finding::progressing("SpecNotObserved").message(message).ages())
    }
}

/// A whole number, also where it is written as a float.
pub(super) fn int(value: &Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is zero, and `as` saturates")]
    let whole = |float: f64| (float.fract() == 0.0).then_some(float as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(whole))
}

/// The most that a generation in a string may be: longer digits are a hash.
const MOST_GENERATIONS: i64 = 1_000_000_000;

/// An `observedGeneration`: a number, or digits in a string as some controllers write it.
pub(super) fn generation(value: &Value) -> Option<i64> {
    match value {
        Value::String(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok().filter(|number| *number <= MOST_GENERATIONS)
        }
        other => int(other),
    }
}
