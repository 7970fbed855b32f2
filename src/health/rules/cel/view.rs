//! What an expression sees of an object, read where it stands: nothing is copied before it is asked
//! for, and what is asked for is counted.

use std::sync::OnceLock;

use cel::{
    ExecutionError,
    common::{
        types::{CelBool, CelDouble, CelInt, CelNull, CelString, CelUInt},
        value::Val,
    },
};
use serde_json::{Map, Value};

use super::meter::{ENTRIES, Excess, Meter, TEXT_BYTES};
use crate::{
    health::conditions::Reading,
    model::{Object, Timestamp},
};

/// A list or a map that an expression sees.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) what: What<'a>,
    pub(super) meter: &'a Meter,
    /// The items of a list or the keys of a map, made when a loop asks for them.
    entries: OnceLock<Vec<Box<dyn Val + 'a>>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What<'a> {
    /// A part of `spec` or `status`; none is like an empty one.
    Map(Option<&'a Map<String, Value>>),
    List(&'a [Value]),
    /// Labels or annotations.
    Pairs(&'a [(String, String)]),
    Metadata(&'a Object),
    /// One condition; none has empty fields.
    Condition(Option<&'a Reading<'a>>),
    /// All conditions, by type: each type has one.
    Conditions(&'a [Reading<'a>]),
}

/// The fields of `metadata`.
pub(super) const METADATA: [&str; 6] =
    ["annotations", "creationTimestamp", "generation", "labels", "name", "namespace"];

/// The fields of a condition.
pub(super) const CONDITION: [&str; 6] =
    ["lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"];

/// A JSON value as an expression sees it.
pub(super) fn value<'a>(json: &'a Value, meter: &'a Meter) -> Result<Box<dyn Val + 'a>, ExecutionError> {
    meter.spend(1)?;
    Ok(match json {
        Value::Null => Box::new(CelNull),
        Value::Bool(bool) => Box::new(CelBool::from(*bool)),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), ..) => Box::new(CelInt::from(int)),
            (_, Some(large), _) => Box::new(CelUInt::from(large)),
            (.., float) => Box::new(CelDouble::from(float.unwrap_or(f64::NAN))),
        },
        Value::String(text) => self::text(text, meter)?,
        Value::Array(items) => View::boxed(What::List(items), meter),
        Value::Object(map) => View::boxed(What::Map(Some(map)), meter),
    })
}

fn text<'a>(text: &'a str, meter: &'a Meter) -> Result<Box<dyn Val + 'a>, ExecutionError> {
    if text.len() > TEXT_BYTES {
        return Err(meter.exceed(Excess::Text));
    }
    meter.spend(1 + text.len() / 16)?;
    Ok(Box::new(CelString::from(text)))
}

impl<'a> View<'a> {
    pub(super) fn boxed(what: What<'a>, meter: &'a Meter) -> Box<dyn Val + 'a> {
        Box::new(Self { what, meter, entries: OnceLock::new() })
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.what, What::List(_))
    }

    pub(super) fn len(&self) -> usize {
        match self.what {
            What::Map(map) => map.map_or(0, Map::len),
            What::List(items) => items.len(),
            What::Pairs(pairs) => pairs.len(),
            What::Metadata(_) => METADATA.len(),
            What::Condition(_) => CONDITION.len(),
            What::Conditions(readings) => readings.len(),
        }
    }

    /// The keys of a map, in a fixed order.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        match self.what {
            What::Map(map) => map.into_iter().flat_map(Map::keys).map(String::as_str).collect(),
            What::List(_) => Vec::new(),
            What::Pairs(pairs) => pairs.iter().map(|(key, _)| key.as_str()).collect(),
            What::Metadata(_) => METADATA.to_vec(),
            What::Condition(_) => CONDITION.to_vec(),
            What::Conditions(readings) => readings.iter().map(|reading| &*reading.kind).collect(),
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        match self.what {
            What::Map(map) => map.and_then(|map| map.get(key)).is_some_and(|value| !value.is_null()),
            What::List(_) => false,
            What::Pairs(pairs) => pairs.iter().any(|(name, _)| name == key),
            What::Metadata(object) => match key {
                "generation" => object.generation.is_some(),
                "creationTimestamp" => object.created.is_some(),
                _ => METADATA.contains(&key),
            },
            What::Condition(condition) => condition.is_some() && CONDITION.contains(&key),
            What::Conditions(readings) => readings.iter().any(|reading| reading.kind == key),
        }
    }

    /// What stands under a key. Null is as if it weren't there.
    pub(super) fn field(&self, key: &str) -> Result<Option<Box<dyn Val + 'a>>, ExecutionError> {
        let meter = self.meter;
        match self.what {
            What::Map(map) => {
                let found = map.and_then(|map| map.get(key)).filter(|value| !value.is_null());
                found.map(|found| value(found, meter)).transpose()
            }
            What::List(_) => Ok(None),
            What::Pairs(pairs) => {
                pairs.iter().find(|(name, _)| name == key).map(|(_, value)| text(value, meter)).transpose()
            }
            What::Metadata(object) => metadata(object, key, meter),
            What::Condition(condition) => self::condition(condition, key, meter),
            What::Conditions(readings) => {
                let found = readings.iter().find(|reading| reading.kind == key);
                Ok(Some(View::boxed(What::Condition(found), meter)))
            }
        }
    }

    /// The items of a list or the keys of a map; none where they are too many, which the meter knows.
    pub(super) fn entries(&self) -> &[Box<dyn Val + 'a>] {
        self.entries.get_or_init(|| {
            if self.len() > ENTRIES {
                self.meter.exceed(Excess::Entries);
                return Vec::new();
            }
            let entries: Result<_, ExecutionError> = match self.what {
                What::List(items) => items.iter().map(|item| value(item, self.meter)).collect(),
                _ => self.keys().into_iter().map(|key| text(key, self.meter)).collect(),
            };
            entries.unwrap_or_default()
        })
    }
}

fn metadata<'a>(
    object: &'a Object,
    key: &str,
    meter: &'a Meter,
) -> Result<Option<Box<dyn Val + 'a>>, ExecutionError> {
    Ok(match key {
        "name" => Some(text(&object.reference.name, meter)?),
        "namespace" => Some(text(&object.reference.namespace, meter)?),
        "generation" => {
            object.generation.map(|generation| Box::new(CelInt::from(generation)) as Box<dyn Val>)
        }
        "creationTimestamp" => object.created.map(time),
        "labels" => Some(View::boxed(What::Pairs(&object.labels), meter)),
        "annotations" => Some(View::boxed(What::Pairs(&object.annotations), meter)),
        _ => None,
    })
}

fn condition<'a>(
    condition: Option<&'a Reading<'a>>,
    key: &str,
    meter: &'a Meter,
) -> Result<Option<Box<dyn Val + 'a>>, ExecutionError> {
    let word = |word: fn(&'a Reading<'a>) -> &'a str| text(condition.map_or("", word), meter).map(Some);
    match key {
        "type" => word(|condition| &condition.kind),
        "status" => word(|condition| condition.status.as_str()),
        "reason" => word(|condition| &condition.reason),
        "message" => word(|condition| &condition.message),
        "lastTransitionTime" => match condition.and_then(Reading::last_transition) {
            Some(at) => Ok(Some(time(at))),
            None => text("", meter).map(Some),
        },
        "observedGeneration" => {
            let observed = condition.and_then(|condition| condition.observed_generation);
            Ok(Some(Box::new(CelInt::from(observed.unwrap_or(0)))))
        }
        _ => Ok(None),
    }
}

fn time<'a>(at: Timestamp) -> Box<dyn Val + 'a> {
    Box::new(CelString::from(at.to_string()))
}
