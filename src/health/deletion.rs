use super::{Finding, Subject, conditions::Reading, finding::joined};
use crate::model::{ConditionStatus, Health};

pub(super) const RULE: &str = "builtin/deletion";

/// The conditions of a Namespace that say what its deletion waits for.
const REMAINING: [&str; 5] = [
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
];

/// An object that is being deleted is Terminating, whatever else it says. When it is still there
/// well after it was to be gone, its reason is `DeletionStuck`.
pub(super) fn judge(subject: Subject) -> Option<Finding> {
    let object = subject.object;
    let due = object.deletion?;
    let waits = waits(subject);
    let finding = Finding::new(Health::Terminating, "Deleting").message(&waits).since(Some(due));
    let stuck = Finding::new(Health::Terminating, "DeletionStuck")
        .message(joined("still there 10 minutes after it was to be gone", &waits))
        .since(Some(due));
    let finding = finding.then(Some(due), stuck);
    // A Pod that is going away is being replaced by whoever made it.
    let replaced = object.controller.is_some() && object.reference.kind.kind == "Pod";
    Some(if replaced { finding.superseded() } else { finding })
}

fn waits(subject: Subject) -> String {
    let finalizers = &subject.object.finalizers;
    let mut waits = match finalizers.len() {
        0 => String::new(),
        1 => format!("waits for finalizer {}", finalizers[0]),
        _ => format!("waits for finalizers {}", finalizers.join(", ")),
    };
    let told = |condition: &&Reading| condition.status == ConditionStatus::True;
    for condition in REMAINING.iter().filter_map(|kind| subject.condition(kind)).filter(told) {
        if !waits.is_empty() {
            waits.push_str("; ");
        }
        waits.push_str(if condition.message.is_empty() { &condition.kind } else { &condition.message });
    }
    waits
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use serde_json::json;

    use crate::{health::testing::*, model::Health};

    #[test]
    fn deletion_outranks_the_best_conditions() {
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "deletionTimestamp": "2025-03-01T11:00:00Z",
            "finalizers": ["a/b", "c/d"]}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        let timeline = judged(&object).timeline;
        assert_eq!((timeline.first.health, &*timeline.first.reason), (Health::Terminating, "Deleting"));
        assert_eq!(timeline.first.message, "waits for finalizers a/b, c/d");
        let later = timeline.later.expect("a later verdict");
        assert_eq!(later.at, at("2025-03-01T11:10:00Z"));
        assert_eq!((later.verdict.health, &*later.verdict.reason), (Health::Terminating, "DeletionStuck"));
    }

    #[test]
    fn a_namespace_says_what_it_waits_for() {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "deletionTimestamp": "2025-03-01T11:00:00Z"},
            "status": {"phase": "Terminating", "conditions": [
                {"type": "NamespaceContentRemaining", "status": "True", "message": "some resources remain"},
                {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "all deleted"}]}});
        assert_eq!(judged(&object).timeline.first.message, "some resources remain");
    }
}
