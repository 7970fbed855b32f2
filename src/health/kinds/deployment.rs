use serde_json::Value;

use super::replicas::Replicas;
use crate::{
    health::{
        Finding, Subject,
        conditions::Reading,
        convention::{Tone, tone},
        finding::joined,
        subject::int,
    },
    model::{ConditionStatus, Health, SignedDuration, Timestamp, decode},
};

/// The reason of the condition Progressing when a rollout has ended well.
const ROLLED_OUT: &str = "NewReplicaSetAvailable";

/// How long a rollout may stand still where the spec doesn't say.
const DEADLINE: i64 = 600;

pub(super) fn judge(subject: Subject) -> Finding {
    if subject.unreported() {
        return subject.not_yet_observed();
    }
    let replicas = Replicas::of(subject);
    let failed = failed(subject);
    if let Some(lag) = subject.lag() {
        return match failed {
            Some(condition) => {
                let message = joined(&lag.message, &condition.message).into_owned();
                lag.message(message)
            }
            None => lag,
        };
    }
    if let Some(condition) = failed {
        return Finding::of(Health::Degraded, condition).prefixed(replicas.message());
    }
    if *subject.spec("paused") == Value::Bool(true) {
        return paused(subject, &replicas);
    }
    if replicas.updated < replicas.desired {
        let Replicas { desired, updated, .. } = replicas;
        let message = format!("{updated} of {desired} replicas updated; {}", replicas.message());
        return moving(subject, Finding::progressing("RollingOut").message(message));
    }
    if replicas.total > replicas.updated {
        let old = replicas.total.saturating_sub(replicas.updated);
        let message = format!("{old} old replicas to go; {}", replicas.message());
        return moving(subject, Finding::progressing("RollingOut").message(message));
    }
    if replicas.total > replicas.desired {
        return replicas.surplus();
    }
    let denied = replicas.desired > 0 && subject.denies("Available").is_some();
    if denied || !replicas.complete() {
        return unavailable(subject, &replicas);
    }
    if let Some(stalled) = subject.denies("Progressing") {
        return Finding::of(Health::Progressing, stalled).prefixed(replicas.message()).overdue();
    }
    replicas.healthy().since(subject.changed("Available"))
}

/// What the Deployment itself reports as failed: pods that can't be made, a rollout out of time.
fn failed<'a>(subject: Subject<'a>) -> Option<&'a Reading<'a>> {
    let stalled =
        |progressing: &&Reading| progressing.reason.is_empty() || tone(&progressing.reason) == Tone::Failing;
    subject.holds("ReplicaFailure").or_else(|| subject.denies("Progressing").filter(stalled))
}

fn rolled_out(subject: Subject) -> bool {
    subject.holds("Progressing").is_some_and(|progressing| progressing.reason == ROLLED_OUT)
}

fn paused(subject: Subject, replicas: &Replicas) -> Finding {
    if let Some(available) = subject.denies("Available").filter(|_| !replicas.complete()) {
        return Finding::of(Health::Degraded, available)
            .message(format!("{}, and its rollout is paused", replicas.message()));
    }
    if replicas.available == 0 && replicas.desired > 0 {
        return Finding::degraded("ReplicasUnavailable")
            .message(format!("{}, and its rollout is paused", replicas.message()));
    }
    let progressing = subject.condition("Progressing").filter(|p| p.status == ConditionStatus::Unknown);
    Finding::suspended("DeploymentPaused")
        .message(format!("rollout paused; {}", replicas.message()))
        .since(progressing.and_then(Reading::last_transition))
}

/// Something that takes too long at its own deadline. The condition Progressing tells when a rollout
/// last got on; outside of one, or without it, there is only the outage to go by.
fn moving(subject: Subject, finding: Finding) -> Finding {
    if let Some(progressing) = subject.condition("Progressing").filter(|_| !rolled_out(subject)) {
        let began = finding.since(progressing.last_transition());
        return match got_on(subject) {
            Some(got_on) => began.overdue_from(got_on, deadline(subject)),
            None => began,
        };
    }
    match subject.denies("Available").and_then(Reading::last_transition) {
        Some(outage) => finding.since(Some(outage)).overdue(),
        None => finding.ages(),
    }
}

/// When the rollout last got on.
fn got_on(subject: Subject) -> Option<Timestamp> {
    let conditions = subject.status("conditions").as_array()?;
    let progressing = conditions.iter().find(|condition| condition["type"] == "Progressing")?;
    decode::time(progressing.get("lastUpdateTime"))
}

fn deadline(subject: Subject) -> SignedDuration {
    SignedDuration::from_secs(int(subject.spec("progressDeadlineSeconds")).unwrap_or(DEADLINE).max(0))
}

fn unavailable(subject: Subject, replicas: &Replicas) -> Finding {
    let message = replicas.message();
    match (subject.denies("Available"), rolled_out(subject)) {
        // The counters run ahead of the condition.
        (Some(available), _) if replicas.complete() => {
            Finding::of(Health::Progressing, available).message(message).overdue()
        }
        // Nothing is being rolled out: this is an outage.
        (Some(available), true) => Finding::of(Health::Degraded, available).message(message),
        (Some(_), false) => moving(subject, Finding::progressing("RollingOut").message(message)),
        // Nothing tells when the missing ones went away: it may have been just now.
        (None, true) => replicas.unavailable().ages(),
        (None, false) => moving(subject, replicas.unavailable()),
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn deployments() {
        check(
            "apps/v1",
            "Deployment",
            &[
                ("{spec: {replicas: 2}}", "Progressing NotYetObserved"),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {replicas: 2}, status: {}}",
                    "Progressing NotYetObserved: no status reported yet -> 2025-03-01T10:10:00Z Unknown NotYetObserved",
                ),
                (
                    "{spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}}",
                    "Healthy ReplicasAvailable: 2 of 2 replicas available",
                ),
                ("{spec: {replicas: 0}, status: {observedGeneration: 3}}", "Healthy ScaledToZero"),
                ("{spec: {replicas: 0}, status: {replicas: 2, updatedReplicas: 2, availableReplicas: 2}}", "Progressing ScalingDown: 2 replicas run, 0 are asked for"),
                (
                    "{metadata: {generation: 7}, spec: {replicas: 1}, status: {observedGeneration: 6, updatedReplicas: 1, availableReplicas: 1, replicas: 1}}",
                    "Progressing SpecNotObserved: generation 7 not seen yet, the status is of 6",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 4, updatedReplicas: 1, availableReplicas: 3, conditions: [
                        {type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: timed out},
                        {type: Available, status: 'True'}]}}",
                    "Degraded ProgressDeadlineExceeded: 3 of 3 replicas available: timed out",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 1, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: quota exceeded}]}}",
                    "Degraded FailedCreate: 0 of 3 replicas available: quota exceeded",
                ),
                (
                    "{spec: {replicas: 2, paused: true}, status: {replicas: 2, updatedReplicas: 2, availableReplicas: 2}}",
                    "Suspended DeploymentPaused: rollout paused; 2 of 2 replicas available",
                ),
                (
                    "{spec: {replicas: 2, paused: true}, status: {replicas: 2, updatedReplicas: 2}}",
                    "Degraded ReplicasUnavailable: 0 of 2 replicas available, and its rollout is paused",
                ),
                (
                    "{spec: {replicas: 2, paused: true}, status: {replicas: 2, updatedReplicas: 2, conditions: [
                        {type: Available, status: 'False', reason: MinimumReplicasUnavailable}]}}",
                    "Degraded MinimumReplicasUnavailable: 0 of 2 replicas available, and its rollout is paused",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 4, updatedReplicas: 1, availableReplicas: 3, conditions: [
                        {type: Progressing, status: 'True', reason: ReplicaSetUpdated}]}}",
                    "Progressing RollingOut: 1 of 3 replicas updated; 3 of 3 replicas available",
                ),
                (
                    "{spec: {replicas: 3, progressDeadlineSeconds: 120}, status: {replicas: 4, updatedReplicas: 1, availableReplicas: 3, conditions: [
                        {type: Progressing, status: 'True', reason: ReplicaSetUpdated, lastTransitionTime: '2024-01-01T10:00:00Z', lastUpdateTime: '2025-03-01T10:00:00Z'}]}}",
                    "Progressing RollingOut: 1 of 3 replicas updated; 3 of 3 replicas available -> 2025-03-01T10:02:00Z Degraded ProgressDeadlineExceeded: for more than 2 minutes: RollingOut: 1 of 3",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, updatedReplicas: 1, availableReplicas: 3, conditions: [
                        {type: Available, status: 'False', lastTransitionTime: '2025-03-01T10:00:00Z'}]}}",
                    "Progressing RollingOut: 1 of 3 replicas updated; 3 of 3 replicas available -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded",
                ),
                (
                    "{spec: {replicas: 1}, status: {replicas: 1, updatedReplicas: 1, availableReplicas: 1, conditions: [{type: Progressing, status: 'False', reason: Odd}]}}",
                    "Progressing Odd: 1 of 1 replicas available",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, updatedReplicas: 3, availableReplicas: 2}}",
                    "Progressing ReplicasUnavailable: 2 of 3 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 5, updatedReplicas: 3, availableReplicas: 5}}",
                    "Progressing RollingOut: 2 old replicas to go; 5 of 3 replicas available -> overdue after 10m",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, updatedReplicas: 3, availableReplicas: 1, conditions: [
                        {type: Progressing, status: 'True', reason: NewReplicaSetAvailable},
                        {type: Available, status: 'False', reason: MinimumReplicasUnavailable}]}}",
                    "Degraded MinimumReplicasUnavailable: 1 of 3 replicas available",
                ),
                (
                    "{spec: {replicas: 3}, status: {replicas: 3, updatedReplicas: 3, availableReplicas: 2, conditions: [
                        {type: Progressing, status: 'True', reason: NewReplicaSetAvailable, lastTransitionTime: '2025-03-01T10:00:00Z'},
                        {type: Available, status: 'True', lastTransitionTime: '2025-03-01T10:05:00Z'}]}}",
                    "Progressing ReplicasUnavailable: 2 of 3 replicas available -> overdue after 10m",
                ),
            ],
        );
    }
}
