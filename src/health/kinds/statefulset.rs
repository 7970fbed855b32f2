use super::replicas::Replicas;
use crate::health::{Finding, Subject, subject::int};

pub(super) fn judge(subject: Subject) -> Finding {
    if subject.unreported() {
        return subject.not_yet_observed();
    }
    if let Some(lag) = subject.lag() {
        return lag;
    }
    let mut replicas = Replicas::of(subject);
    // Written only since Kubernetes 1.22.
    if subject.status("availableReplicas").is_null() {
        replicas.available = replicas.ready;
    }
    let update = Update::of(subject, &replicas);
    if replicas.total > replicas.desired {
        return replicas.surplus();
    }
    if !replicas.complete() {
        return unavailable(subject, &replicas, &update);
    }
    match update {
        Update::Done => replicas.healthy(),
        Update::Held(why) => {
            let message = replicas.message();
            replicas.healthy().message(format!("{message}; {why}"))
        }
        Update::Rolling(message) => Finding::progressing("RollingOut").message(message),
    }
}

/// A StatefulSet has no deadline and says no times: what is missing outside of a rollout counts
/// from its creation.
fn unavailable(subject: Subject, replicas: &Replicas, update: &Update) -> Finding {
    let outage = replicas.available == 0;
    let scaling = replicas.total < replicas.desired && replicas.ready == replicas.total;
    match update {
        Update::Rolling(message) if !outage => Finding::progressing("RollingOut").message(message),
        _ if scaling && !outage => Finding::progressing("ScalingUp").message(replicas.message()),
        _ => replicas.unavailable_since(subject.object.created),
    }
}

/// How far the pods follow the template.
enum Update {
    Done,
    /// Some stay behind because the spec asks for it.
    Held(String),
    Rolling(String),
}

impl Update {
    fn of(subject: Subject, replicas: &Replicas) -> Self {
        let (current, next) = (subject.word("currentRevision"), subject.word("updateRevision"));
        if next.is_empty() || current == next {
            return Self::Done;
        }
        let strategy = subject.spec("updateStrategy");
        if strategy.get("type").and_then(|kind| kind.as_str()) == Some("OnDelete") {
            return Self::Held(format!("revision {next} waits for its pods to be deleted"));
        }
        let partition = strategy.pointer("/rollingUpdate/partition").and_then(int).unwrap_or(0).max(0);
        let expected = replicas.desired.saturating_sub(partition).max(0);
        if partition == 0 || replicas.updated < expected {
            return Self::Rolling(format!("{} of {expected} replicas updated", replicas.updated));
        }
        Self::Held(format!("revision {next} is held at partition {partition}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn stateful_sets() {
        check(
            "apps/v1",
            "StatefulSet",
            &[
                ("{spec: {replicas: 1}}", "Progressing NotYetObserved"),
                (
                    "{metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 0, readyReplicas: 1}}",
                    "Progressing SpecNotObserved",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, availableReplicas: 3}}",
                    "Healthy ReplicasAvailable: 3 of 3",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3}}",
                    "Healthy ReplicasAvailable: 3 of 3",
                ),
                ("{spec: {replicas: 0}, status: {replicas: 0}}", "Healthy ScaledToZero"),
                ("{spec: {replicas: 1}, status: {replicas: 2, readyReplicas: 2}}", "Progressing ScalingDown"),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 3}, status: {replicas: 1, readyReplicas: 0}}",
                    "Progressing ReplicasUnavailable: 0 of 3 replicas available -> 2025-03-01T10:10:00Z Degraded",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 3}, status: {replicas: 2, readyReplicas: 2}}",
                    "Progressing ScalingUp: 2 of 3",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, availableReplicas: 1}}",
                    "Progressing ReplicasUnavailable: 1 of 3",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}",
                    "Progressing RollingOut: 1 of 3 replicas updated",
                ),
                (
                    "{spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}, status: {replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}",
                    "Healthy ReplicasAvailable: 3 of 3 replicas available; revision b is held at partition 2",
                ),
                (
                    "{spec: {replicas: 3, updateStrategy: {type: OnDelete}}, status: {replicas: 3, readyReplicas: 3, currentRevision: a, updateRevision: b}}",
                    "Healthy ReplicasAvailable: 3 of 3 replicas available; revision b waits for its pods to be deleted",
                ),
            ],
        );
    }
}
