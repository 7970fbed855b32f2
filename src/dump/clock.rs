//! When a dump was taken, as its objects tell.

use serde_json::Value;

use crate::model::{Timestamp, decode};

/// The fields that say when something happened. Others may lie in the future, as the end of a
/// certificate does.
const FIELDS: [&str; 12] = [
    "creationTimestamp",
    "time",
    "lastTransitionTime",
    "lastUpdateTime",
    "lastHeartbeatTime",
    "lastProbeTime",
    "renewTime",
    "startTime",
    "startedAt",
    "finishedAt",
    "completionTime",
    "lastScheduleTime",
];

/// The newest moment that `value` tells of.
pub(super) fn newest(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Array(items) => items.iter().filter_map(newest).max(),
        Value::Object(fields) => fields
            .iter()
            .filter_map(|(key, value)| match value {
                Value::String(_) if FIELDS.contains(&key.as_str()) => decode::time(Some(value)),
                _ => newest(value),
            })
            .max(),
        _ => None,
    }
}
