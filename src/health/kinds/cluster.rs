use serde_json::Value;

use super::failing;
use crate::{
    health::{Finding, Subject},
    model::{ConditionStatus, Health},
};

pub(super) fn namespace(subject: Subject) -> Finding {
    match subject.word("phase") {
        // Somebody may have cut the deletion out of a dump.
        "Terminating" => Finding::new(Health::Terminating, "Deleting"),
        _ => Finding::healthy("Active"),
    }
}

pub(super) fn node(subject: Subject) -> Finding {
    let Some(ready) = subject.condition("Ready") else { return subject.not_yet_observed() };
    match ready.status {
        ConditionStatus::True => {}
        // Its network comes some moments after itself.
        ConditionStatus::False if subject.object.created.is_some() => {
            return Finding::of(Health::Progressing, ready).then_degraded(subject.object.created);
        }
        _ => return Finding::of(Health::Degraded, ready),
    }
    if let Some(failing) = failing(subject) {
        return Finding::of(Health::Degraded, failing);
    }
    if *subject.spec("unschedulable") == Value::Bool(true) {
        return Finding::suspended("Cordoned").message("takes no new pods");
    }
    Finding::healthy("Ready").since(ready.last_transition())
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn nodes() {
        check(
            "v1",
            "Node",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{status: {conditions: [{type: Ready, status: 'True', reason: KubeletReady}, {type: MemoryPressure, status: 'False'}]}}",
                    "Healthy Ready",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {conditions: [{type: Ready, status: 'False', reason: KubeletNotReady, message: no network}]}}",
                    "Progressing KubeletNotReady: no network -> 2025-03-01T10:10:00Z Degraded KubeletNotReady: no network",
                ),
                (
                    "{status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: stopped posting}]}}",
                    "Degraded NodeStatusUnknown: stopped posting",
                ),
                (
                    "{status: {conditions: [{type: Ready, status: 'True'}, {type: DiskPressure, status: 'True', reason: KubeletHasDiskPressure}]}}",
                    "Degraded KubeletHasDiskPressure",
                ),
                (
                    "{spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: 'True'}]}}",
                    "Suspended Cordoned",
                ),
                (
                    "{spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: 'False'}]}}",
                    "Degraded Ready",
                ),
            ],
        );
    }

    #[test]
    fn namespaces() {
        check(
            "v1",
            "Namespace",
            &[
                ("{}", "Healthy Active"),
                ("{status: {phase: Active}}", "Healthy Active"),
                ("{status: {phase: Terminating}}", "Terminating Deleting"),
            ],
        );
    }
}
