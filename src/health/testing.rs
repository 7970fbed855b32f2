#![allow(clippy::expect_used)]
//! What the tables of this room's tests share.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::{Judgement, Rules, judge};
use crate::model::{Kind, Object, StatusReporting, Timestamp, Verdict, decode::Raw};

pub(super) fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

/// The object that `value` spells, of a kind that reports its status or not.
pub(super) fn object_of(value: &Value, status: StatusReporting) -> Object {
    let raw = Raw::deserialize(value).expect("an object");
    let (api_version, kind) = (raw.api_version.clone().expect("apiVersion"), raw.kind.clone().expect("kind"));
    let kind = Kind { plural: "things".into(), status, ..Kind::named(&api_version, &kind) };
    raw.into_object(Arc::new(kind)).expect("an object with a name")
}

pub(super) fn judged(value: &Value) -> Judgement {
    judge(&object_of(value, StatusReporting::Unsaid), &Rules::builtin())
}

/// One row of a table: `apiVersion`, the rest of an object in YAML, and what comes out: `Health
/// Reason`, with `-> Health Reason` for what becomes of it, or `-> overdue after` a patience.
pub(super) fn check(api_version: &str, kind: &str, rows: &[(&str, &str)]) {
    for (rest, expected) in rows {
        let mut object: Value = serde_saphyr::from_str(rest).expect("YAML");
        object["apiVersion"] = api_version.into();
        object["kind"] = kind.into();
        object["metadata"]["name"] = "x".into();
        let timeline = judged(&object).timeline;
        let brief = |verdict: &Verdict| match &*verdict.message {
            "" => format!("{} {}", verdict.health, verdict.reason),
            message => format!("{} {}: {message}", verdict.health, verdict.reason),
        };
        let mut actual = brief(&timeline.first);
        if let Some(later) = &timeline.later {
            actual = format!("{actual} -> {} {}", later.at, brief(&later.verdict));
        }
        if let Some(patience) = timeline.patience {
            actual = format!("{actual} -> overdue after {patience:#}");
        }
        assert!(actual.starts_with(expected), "{rest}\n  expected {expected}\n  actual   {actual}");
    }
}
