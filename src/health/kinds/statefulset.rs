use super::replicas::{Replicas, settles};
use crate::health::{Finding, Subject, subject::int};

pub(super) fn judge(subject: Subject) -> Finding {
    if subject.unreported() {
        return subject.not_yet_observed();
    }
    if let Some(lag) = subject.lag() {
        return lag;
    }
    let mut replicas = Replicas::of(subject);
    // Written only since Kubernetes 1.22, and the same where ready Pods needn't settle.
    if !settles(subject) {
        replicas.available = replicas.available.max(replicas.ready);
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
        Update::Rolling(message) => rolling(&message),
    }
}

/// A StatefulSet has no deadline and says no times: a total outage outside of a rollout counts from
/// its creation, the rest from when it was seen to begin.
fn unavailable(subject: Subject, replicas: &Replicas, update: &Update) -> Finding {
    let outage = replicas.available == 0;
    let scaling = replicas.total < replicas.desired && replicas.ready == replicas.total;
    match update {
        Update::Rolling(message) => rolling(&format!("{message}; {}", replicas.message())),
        _ if scaling && !outage => Finding::progressing("ScalingUp").message(replicas.message()).ages(),
        _ => replicas.unavailable_since(subject.object.created),
    }
}

fn rolling(message: &str) -> Finding {
    Finding::progressing("RollingOut").message(message).ages()
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
        if replicas.desired == 0 || (current == next && !next.is_empty()) {
            return Self::Done;
        }
        let strategy = subject.spec("updateStrategy");
        let on_delete = strategy.get("type").is_some_and(|kind| kind == "OnDelete");
        let partition = strategy.pointer("/rollingUpdate/partition").and_then(int).unwrap_or(0).max(0);
        let expected = replicas.desired.saturating_sub(partition).max(0);
        let rolling = || Self::Rolling(format!("{} of {expected} replicas updated", replicas.updated));
        if next.is_empty() {
            // Without revisions there are only the counters to go by, where they are.
            let counted = |field: &str| int(subject.status(field));
            let behind = match (counted("updatedReplicas"), counted("currentReplicas")) {
                (Some(updated), _) => updated < expected,
                (None, Some(current)) => current < replicas.desired,
                (None, None) => false,
            };
            return if behind && !on_delete { rolling() } else { Self::Done };
        }
        if on_delete {
            return Self::Held(format!("revision {next} waits for its pods to be deleted"));
        }
        if partition == 0 || replicas.updated < expected {
            return rolling();
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
                (
                    "{spec: {replicas: 0}, status: {replicas: 0, currentRevision: a, updateRevision: b}}",
                    "Healthy ScaledToZero",
                ),
                (
                    "{spec: {replicas: 1}, status: {replicas: 2, readyReplicas: 2}}",
                    "Progressing ScalingDown: 2 replicas run, 1 are asked for -> overdue after 10m",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 3}, status: {replicas: 1, readyReplicas: 0}}",
                    "Progressing ReplicasUnavailable: 0 of 3 replicas available -> 2025-03-01T10:10:00Z Degraded",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 3}, status: {replicas: 2, readyReplicas: 2}}",
                    "Progressing ScalingUp: 2 of 3 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 3, minReadySeconds: 60}, status: {replicas: 3, readyReplicas: 3, availableReplicas: 1}}",
                    "Progressing ReplicasUnavailable: 1 of 3 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, availableReplicas: 0}}",
                    "Healthy ReplicasAvailable: 3 of 3",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, updatedReplicas: 2}}",
                    "Progressing RollingOut: 2 of 3 replicas updated",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, currentReplicas: 2}}",
                    "Progressing RollingOut",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 1}, status: {replicas: 1, updatedReplicas: 0, currentRevision: a, updateRevision: b}}",
                    "Progressing RollingOut: 0 of 1 replicas updated; 0 of 1 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}",
                    "Progressing RollingOut: 1 of 3 replicas updated -> overdue after 10m",
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
