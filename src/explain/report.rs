//! What controllers reported in events.

use super::walk::State;
use crate::model::{Event, Health, SignedDuration, Timestamp};

/// What was reported longer ago says nothing about now. Whoever still fails says so again.
const FRESH: SignedDuration = SignedDuration::from_mins(30);

/// Of the events about an object in this state the newest that tells of a failure, where it
/// tells more than the verdict.
pub(super) fn telling(events: Vec<Event>, state: State<'_>, now: Timestamp) -> Option<Event> {
    let is_fresh = |event: &Event| event.last.is_none_or(|last| now.duration_since(last) <= FRESH);
    let is_known = |event: &Event| state.health() == Health::Degraded && event.reason == state.reason;
    events.into_iter().filter(|event| weight(event) > 0 && is_fresh(event) && !is_known(event)).max_by(
        |a, b| {
            let key = |event: &Event| (weight(event) > 1, event.last);
            key(a).cmp(&key(b)).then_with(|| b.reason.cmp(&a.reason)).then_with(|| b.message.cmp(&a.message))
        },
    )
}

/// How much an event says: 0 for what is no failure. Some failures are reported as if they were none.
fn weight(event: &Event) -> u8 {
    if event.is_warning || event.reason.starts_with("Failed") {
        2
    } else {
        // A volume that somebody outside has to make, who may not be there.
        u8::from(event.reason == "ExternalProvisioning")
    }
}
