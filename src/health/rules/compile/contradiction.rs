//! Which tests follow from others, and which never hold together.

use serde_json::Value;

use super::{Outcome, fault};
use crate::{
    api::{OneOrMany, Test},
    health::rules::matching::equal,
};

/// Refuses tests that must all hold and can't: two of them contradict each other.
pub(super) fn check(tests: &[Test], at: &str) -> Outcome<()> {
    for (n, test) in tests.iter().enumerate() {
        if let Some(first) = tests[..n].iter().position(|other| contradict(other, test)) {
            return fault(format!("{at}[{n}]"), format!("never holds where {at}[{first}] does, as it must"));
        }
    }
    Ok(())
}

/// Whether all of `tests` hold wherever all of `others` do.
pub(super) fn follow(tests: &[Test], others: &[Test]) -> bool {
    tests.iter().all(|test| others.iter().any(|other| implies(other, test)))
}

fn contradict(one: &Test, other: &Test) -> bool {
    let excludes = |none: &[Test], test: &Test| none.iter().any(|excluded| implies(test, excluded));
    excludes(&one.none, other)
        || excludes(&other.none, one)
        || same(&one.condition, &other.condition) && conditions_differ(one, other)
        || same(&one.path, &other.path) && (fields_differ(one, other) || fields_differ(other, one))
}

fn same(one: &Option<String>, other: &Option<String>) -> bool {
    one.is_some() && one == other
}

/// Whether a condition can't pass both.
fn conditions_differ(one: &Test, other: &Test) -> bool {
    let statuses = |test: &Test| -> Vec<String> { statuses(test).map(str::to_lowercase).collect() };
    let (ours, theirs) = (statuses(one), statuses(other));
    let excluded = |reasons: &OneOrMany, by: &OneOrMany| {
        !reasons.is_empty() && reasons.as_slice().iter().all(|reason| by.as_slice().contains(reason))
    };
    let (reasons, others) = (one.reason.as_slice(), other.reason.as_slice());
    let no_reason_is_both =
        !reasons.is_empty() && !others.is_empty() && !reasons.iter().any(|reason| others.contains(reason));
    !ours.iter().any(|status| theirs.contains(status))
        || no_reason_is_both
        || excluded(&one.reason, &other.reason_not)
        || excluded(&other.reason, &one.reason_not)
}

/// The statuses that a condition may have.
fn statuses(test: &Test) -> impl Iterator<Item = &str> {
    let named = test.status.as_slice().iter().map(String::as_str);
    named.chain(test.status.is_empty().then_some("True"))
}

/// Whether a field can't pass both, as far as `one` tells.
fn fields_differ(one: &Test, other: &Test) -> bool {
    match (&one.one_of, &other.one_of, one.exists) {
        (Some(ours), Some(theirs), _) => !ours.iter().any(|value| theirs.iter().any(|own| equal(value, own))),
        (_, _, Some(false)) => needs_field(other),
        (Some(ours), None, _) => other.exists == Some(true) && ours.iter().all(Value::is_null),
        _ => false,
    }
}

/// Whether the test of a path holds only where the field is there. A number that isn't there is 0.
fn needs_field(test: &Test) -> bool {
    match (&test.one_of, test.exists) {
        (Some(values), _) => !values.iter().any(Value::is_null),
        (None, Some(wanted)) => wanted,
        (None, None) => test.at_least.is_none() && test.below.is_none(),
    }
}

/// Whether `weak` holds wherever `strong` does.
fn implies(strong: &Test, weak: &Test) -> bool {
    if strong == weak {
        return true;
    }
    if same(&strong.condition, &weak.condition) {
        let among = |status: &str| statuses(weak).any(|other| other.eq_ignore_ascii_case(status));
        let reasons = strong.reason.as_slice();
        let has_reason =
            !reasons.is_empty() && reasons.iter().all(|reason| weak.reason.as_slice().contains(reason));
        return statuses(strong).all(among)
            && (weak.reason.is_empty() || has_reason)
            && (weak.reason_not.is_empty() || weak.reason_not == strong.reason_not)
            && (weak.message.is_empty() || weak.message == strong.message);
    }
    if same(&strong.path, &weak.path) {
        return match (&strong.one_of, &weak.one_of, weak.exists) {
            (Some(values), Some(more), _) => {
                values.iter().all(|value| more.iter().any(|other| equal(value, other)))
            }
            (_, None, Some(true)) => needs_field(strong),
            _ => false,
        };
    }
    false
}
