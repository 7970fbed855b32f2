use super::replicas::{Replicas, settles};
use crate::{
    health::{Finding, Subject},
    model::Health,
};

/// A ReplicaSet that is scaled to zero was replaced by a newer one of its Deployment.
pub(super) fn judge(subject: Subject) -> Finding {
    of(subject, Replicas::of(subject))
}

/// A ReplicationController counts in the same way. What it doesn't ask for it gets from elsewhere.
pub(super) fn controller(subject: Subject) -> Finding {
    let mut replicas = Replicas::of(subject);
    if subject.spec("replicas").is_null() {
        replicas.desired = replicas.total;
    }
    of(subject, replicas)
}

fn of(subject: Subject, mut replicas: Replicas) -> Finding {
    // Zero is left out; so is the counter by those that don't know it.
    if subject.status("availableReplicas").is_null() && !settles(subject) {
        replicas.available = replicas.ready;
    }
    replicas.available = replicas.available.min(replicas.ready);
    let finding = by_counters(subject, &replicas);
    if replicas.desired == 0 { finding.superseded() } else { finding }
}

fn by_counters(subject: Subject, replicas: &Replicas) -> Finding {
    if subject.unreported() {
        return subject.not_yet_observed();
    }
    if let Some(lag) = subject.lag() {
        return lag;
    }
    if let Some(failure) = subject.holds("ReplicaFailure") {
        let all = replicas.complete() && replicas.total <= replicas.desired;
        // It has all that it asks for: the failure is over, or about to be tried again.
        let health = if all { Health::Progressing } else { Health::Degraded };
        let finding = Finding::of(health, failure).prefixed(replicas.message());
        return if all { finding.overdue() } else { finding };
    }
    if replicas.total > replicas.desired {
        return replicas.surplus();
    }
    if !replicas.complete() {
        return replicas.unavailable_since(subject.object.created);
    }
    replicas.healthy()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::health::testing::{check, judged};

    #[test]
    fn replica_sets() {
        check(
            "apps/v1",
            "ReplicaSet",
            &[
                ("{spec: {replicas: 1}}", "Progressing NotYetObserved"),
                (
                    "{spec: {replicas: 2}, status: {replicas: 2, availableReplicas: 2, readyReplicas: 2}}",
                    "Healthy ReplicasAvailable: 2 of 2",
                ),
                ("{spec: {replicas: 0}, status: {replicas: 0}}", "Healthy ScaledToZero"),
                (
                    "{spec: {replicas: 1}, status: {replicas: 2, availableReplicas: 2, readyReplicas: 2}}",
                    "Progressing ScalingDown",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 2}, status: {replicas: 2, availableReplicas: 1, readyReplicas: 1}}",
                    "Progressing ReplicasUnavailable: 1 of 2 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 2}, status: {replicas: 2, readyReplicas: 2}}",
                    "Healthy ReplicasAvailable: 2 of 2",
                ),
                (
                    "{spec: {replicas: 2, minReadySeconds: 60}, status: {replicas: 2, readyReplicas: 2}}",
                    "Progressing ReplicasUnavailable: 0 of 2",
                ),
                (
                    "{spec: {replicas: 2}, status: {replicas: 2, availableReplicas: 2, readyReplicas: 2, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedDelete}]}}",
                    "Progressing FailedDelete: 2 of 2 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 2}, status: {replicas: 0, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: denied}]}}",
                    "Degraded FailedCreate: 0 of 2 replicas available: denied",
                ),
            ],
        );
    }

    #[test]
    fn replication_controllers() {
        check(
            "v1",
            "ReplicationController",
            &[
                ("{}", "Progressing NotYetObserved"),
                ("{status: {replicas: 0, observedGeneration: 1}}", "Healthy ScaledToZero"),
                ("{spec: {replicas: 1}, status: {replicas: 0}}", "Progressing ReplicasUnavailable"),
                (
                    "{status: {replicas: 2, readyReplicas: 2, availableReplicas: 2}}",
                    "Healthy ReplicasAvailable: 2 of 2",
                ),
            ],
        );
    }

    #[test]
    fn the_old_ones_of_a_deployment_are_superseded() {
        let of = |replicas: i64| json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "x"}, "spec": {"replicas": replicas}, "status": {"replicas": replicas}});
        assert!(judged(&of(0)).superseded);
        assert!(!judged(&of(1)).superseded);
    }
}
