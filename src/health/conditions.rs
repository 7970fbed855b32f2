//! Conditions as controllers really write them, in one form.
//!
//! A list or a map, a status in any case or as a boolean, entries without a type, a type that stands
//! there twice: research into what other tools stumble over found them all in the wild.

use std::{borrow::Cow, cmp::Reverse};

use serde_json::Value;
use smallvec::SmallVec;

use super::{
    convention::{Role, role},
    subject::generation,
};
use crate::model::{Condition, ConditionStatus, Timestamp, decode, text};

/// A condition as it is read from an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) status: ConditionStatus,
    pub(super) reason: Cow<'a, str>,
    pub(super) message: Cow<'a, str>,
    /// When its status changed last, as it is written: reading it takes longer than all the rest, and
    /// few are asked for it.
    changed: Cow<'a, str>,
    pub(super) observed_generation: Option<i64>,
    /// Its `severity` is `Info` or `Warning` (Cluster API, Knative): it is shown and never reddens.
    pub(super) mild: bool,
    /// Its `severity` is `Error`: where it isn't met, something failed, whatever its reason says.
    pub(super) severe: bool,
}

/// The conditions of an object. Few have more.
pub(super) type Readings<'a> = SmallVec<[Reading<'a>; 8]>;

impl Reading<'_> {
    pub(super) fn into_owned(self) -> Reading<'static> {
        Reading {
            kind: self.kind.into_owned().into(),
            reason: self.reason.into_owned().into(),
            message: self.message.into_owned().into(),
            changed: self.changed.into_owned().into(),
            ..self
        }
    }

    /// When its status changed last, where it tells.
    pub(super) fn last_transition(&self) -> Option<Timestamp> {
        decode::time_of(&self.changed)
    }
}

impl From<Reading<'_>> for Condition {
    fn from(reading: Reading<'_>) -> Self {
        Self {
            last_transition: reading.last_transition(),
            kind: reading.kind.into_owned(),
            status: reading.status,
            reason: reading.reason.into_owned(),
            message: reading.message.into_owned(),
            observed_generation: reading.observed_generation,
        }
    }
}

/// The conditions in `value`, in order of type, each type once: of duplicates the one that changed
/// last, and of those that changed together the worst.
pub(super) fn read(value: Option<&Value>) -> Readings<'_> {
    let mut readings: Readings = match value {
        Some(Value::Array(items)) => items.iter().filter_map(|item| reading(None, item)).collect(),
        Some(Value::Object(map)) => map.iter().filter_map(|(key, item)| reading(Some(key), item)).collect(),
        _ => return Readings::new(),
    };
    if readings.len() > 1 {
        readings.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| key(a).cmp(&key(b))));
        readings.dedup_by(|later, first| later.kind == first.kind);
    }
    readings
}

/// Orders the readings of one type: the one to keep first.
fn key<'a>(reading: &'a Reading<'_>) -> impl Ord + 'a {
    let Reading { kind, status, reason, message, changed: _, observed_generation, mild, severe } = reading;
    let bad = match role(kind) {
        Role::Negative | Role::Activity | Role::Renewal | Role::Pause => ConditionStatus::True,
        Role::Summary(_) | Role::Positive | Role::Neutral => ConditionStatus::False,
    };
    let badness = match status {
        status if *status == bad => 2,
        ConditionStatus::Unknown | ConditionStatus::Other(_) => 1,
        ConditionStatus::True | ConditionStatus::False => 0,
    };
    let newest_and_worst = Reverse((reading.last_transition(), badness));
    (newest_and_worst, status.as_str(), reason, message, observed_generation, (mild, severe))
}

/// One pass over the fields of a condition: each look-up would compare its name with several others.
fn reading<'a>(key: Option<&'a String>, value: &'a Value) -> Option<Reading<'a>> {
    let mut said = None;
    let (mut kind, mut reason, mut message, mut changed, mut severity) = ("", "", "", "", "");
    let mut observed_generation = None;
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let text = || value.as_str().unwrap_or_default();
                match name.as_str() {
                    "type" => kind = text(),
                    "status" => said = Some(value),
                    "reason" => reason = text(),
                    "message" => message = text(),
                    "lastTransitionTime" => changed = text(),
                    "observedGeneration" => observed_generation = generation(value),
                    "severity" => severity = text(),
                    _ => {}
                }
            }
        }
        // The early map form may hold the bare status.
        _ => said = Some(key.map(|_| value)?),
    }
    let kind =
        text::word_of(if kind.is_empty() { key.map(String::as_str).unwrap_or_default() } else { kind });
    if kind.is_empty() {
        return None;
    }
    Some(Reading {
        kind,
        status: said.map_or(ConditionStatus::Unknown, status),
        reason: text::word_of(reason),
        message: text::message_of(message),
        changed: changed.into(),
        observed_generation,
        mild: ["Info", "Warning"].iter().any(|mild| severity.eq_ignore_ascii_case(mild)),
        severe: severity.eq_ignore_ascii_case("Error"),
    })
}

fn status(value: &Value) -> ConditionStatus {
    let word = match value {
        Value::Bool(true) => return ConditionStatus::True,
        Value::Bool(false) => return ConditionStatus::False,
        Value::String(word) => word.trim(),
        _ => return ConditionStatus::Unknown,
    };
    if word.eq_ignore_ascii_case("true") {
        ConditionStatus::True
    } else if word.eq_ignore_ascii_case("false") {
        ConditionStatus::False
    } else if word.is_empty() || word.eq_ignore_ascii_case("unknown") {
        ConditionStatus::Unknown
    } else {
        ConditionStatus::Other(text::word(word))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn brief(value: &Value) -> Vec<(String, String)> {
        let brief = |r: Reading| (r.kind.into_owned(), r.status.as_str().to_owned());
        read(Some(value)).into_iter().map(brief).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(kind, status)| ((*kind).to_owned(), (*status).to_owned())).collect()
    }

    #[test]
    fn every_spelling_comes_out_in_one_form() {
        let spellings = json!([
            {"type": "C", "status": "true"}, {"type": "B", "status": false}, {"type": "A", "status": "UNKNOWN"},
            {"type": "D", "status": "Degraded"}, {"type": "E"}, {"type": "F", "status": 1},
            {"type": "", "status": "True"}, {"status": "True"}, "Ready", null, 3, ["Ready"],
        ]);
        let expected = [
            ("A", "Unknown"),
            ("B", "False"),
            ("C", "True"),
            ("D", "Degraded"),
            ("E", "Unknown"),
            ("F", "Unknown"),
        ];
        assert_eq!(brief(&spellings), pairs(&expected));
    }

    #[test]
    fn a_map_is_keyed_by_type() {
        let map =
            json!({"Ready": {"status": "True"}, "x": {"type": "Synced", "status": false}, "Old": "False"});
        assert_eq!(brief(&map), pairs(&[("Old", "False"), ("Ready", "True"), ("Synced", "False")]));
    }

    #[test]
    fn of_duplicates_the_newest_counts_then_the_worst() {
        let twins = json!([
            {"type": "Ready", "status": "False", "lastTransitionTime": "2025-03-01T10:00:00Z"},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2025-03-01T11:00:00Z"},
            {"type": "Ready", "status": "False"},
            {"type": "Synced", "status": "True"}, {"type": "Synced", "status": "False"},
            {"type": "Stalled", "status": "False"}, {"type": "Stalled", "status": "True"},
        ]);
        assert_eq!(brief(&twins), pairs(&[("Ready", "True"), ("Stalled", "True"), ("Synced", "False")]));
    }

    #[test]
    fn generations_and_times_are_read_leniently() {
        let read = |value: Value| Condition::from(read(Some(&value)).remove(0));
        let odd = read(
            json!([{"type": "A", "observedGeneration": "7", "lastTransitionTime": "2025-03-01T10:00:00+0000"}]),
        );
        assert_eq!(odd.observed_generation, Some(7));
        assert!(odd.last_transition.is_some());
        let hash = read(
            json!([{"type": "A", "observedGeneration": "5d41402abc4b", "lastTransitionTime": "just now"}]),
        );
        assert_eq!((hash.observed_generation, hash.last_transition), (None, None));
        for never in ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"] {
            assert_eq!(read(json!([{"type": "A", "lastTransitionTime": never}])).last_transition, None);
        }
    }

    #[test]
    fn text_is_cleaned_where_it_enters() {
        let long = "x".repeat(1 << 20);
        let value = json!([{"type": "A\u{1b}", "reason": "B\0", "message": long}]);
        let readings = read(Some(&value));
        let condition = &readings[0];
        assert_eq!((&*condition.kind, &*condition.reason), ("A\u{fffd}", "B\u{fffd}"));
        assert_eq!(condition.message.len(), text::MESSAGE_BYTES);
    }
}
