use super::replicas::Replicas;
use crate::{
    health::{Finding, Subject},
    model::Health,
};

/// A ReplicaSet, or a ReplicationController, which counts the same way. One that is scaled to zero
/// was replaced by a newer one of its Deployment.
pub(super) fn judge(subject: Subject) -> Finding {
    let mut replicas = Replicas::of(subject);
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
        return Finding::of(Health::Degraded, failure).prefixed(replicas.message());
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
                    "{spec: {replicas: 2}, status: {replicas: 0, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: denied}]}}",
                    "Degraded FailedCreate: 0 of 2 replicas available: denied",
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
