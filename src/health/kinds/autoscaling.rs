use serde_json::Value;

use super::counted;
use crate::{
    health::{
        Finding, Subject, conditions,
        convention::{Tone, tone},
    },
    model::{ConditionStatus, Health},
};

/// Where `autoscaling/v1` keeps the conditions, as JSON.
const V1_CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

pub(super) fn autoscaler(subject: Subject) -> Finding {
    let annotated = subject.annotation(V1_CONDITIONS).filter(|_| subject.conditions.is_empty());
    let annotated: Option<Value> = annotated.and_then(|json| serde_json::from_str(json).ok());
    let readings = conditions::read(annotated.as_ref());
    let subject = if readings.is_empty() { subject } else { Subject { conditions: &readings, ..subject } };
    let scaled = counted(subject.count("currentReplicas"), "replicas");
    if subject.conditions.is_empty() {
        return match subject.status("currentReplicas").is_null() {
            true => subject.not_yet_observed(),
            false => Finding::healthy("Scaled").message(scaled),
        };
    }
    by_conditions(subject, scaled)
}

fn by_conditions(subject: Subject, scaled: String) -> Finding {
    for kind in ["AbleToScale", "ScalingActive"] {
        let Some(unmet) = subject.denies(kind) else { continue };
        return match tone(&unmet.reason) {
            // Its target is scaled to zero: switched off on purpose.
            _ if unmet.reason == "ScalingDisabled" => Finding::of(Health::Healthy, unmet),
            Tone::Failing => Finding::of(Health::Degraded, unmet),
            _ => Finding::of(Health::Progressing, unmet).overdue(),
        };
    }
    match (subject.holds("AbleToScale"), subject.holds("ScalingActive")) {
        (Some(able), active) => {
            let since = active.unwrap_or(able).last_transition();
            Finding::healthy("Scaling").message(scaled).since(since)
        }
        (None, _) => Finding::progressing("Starting")
            .message("can't scale its target yet")
            .since(subject.object.created)
            .overdue(),
    }
}

pub(super) fn budget(subject: Subject) -> Finding {
    if let Some(lag) = subject.lag() {
        return lag;
    }
    let (current, desired) = (subject.count("currentHealthy"), subject.count("desiredHealthy"));
    let message = format!("{current} pods healthy, {desired} needed");
    match subject.condition("DisruptionAllowed") {
        Some(failed) if failed.reason == "SyncFailed" && failed.status != ConditionStatus::True => {
            Finding::of(Health::Degraded, failed)
        }
        None if subject.status("desiredHealthy").is_null() => subject.not_yet_observed(),
        _ if current >= desired => Finding::healthy("BudgetMet").message(message),
        // What it is for may be scaled to zero, or gone.
        _ if subject.count("expectedPods") == 0 => Finding::progressing("NoPods")
            .message(format!("{message}; it is for none that there are"))
            .since(subject.object.created)
            .then_unknown(subject.object.created),
        // That no disruption is allowed says nothing about since when the budget isn't met.
        _ => Finding::progressing("BudgetNotMet").message(message).ages(),
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn autoscalers() {
        check(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            &[
                ("{}", "Progressing NotYetObserved"),
                ("{status: {currentReplicas: 2}}", "Healthy Scaled: 2 replicas"),
                (
                    "{status: {currentReplicas: 2, conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'True'}]}}",
                    "Healthy Scaling: 2 replicas",
                ),
                (
                    "{status: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False', reason: ScalingDisabled}]}}",
                    "Healthy ScalingDisabled",
                ),
                (
                    "{status: {conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False', reason: FailedGetResourceMetric, message: no metrics}]}}",
                    "Degraded FailedGetResourceMetric: no metrics",
                ),
                (
                    "{status: {conditions: [{type: AbleToScale, status: 'False', reason: FailedGetScale}]}}",
                    "Degraded FailedGetScale",
                ),
                (
                    "{metadata: {annotations: {autoscaling.alpha.kubernetes.io/conditions: '[{\"type\":\"AbleToScale\",\"status\":\"False\",\"reason\":\"FailedGetScale\"}]'}}, status: {currentReplicas: 1}}",
                    "Degraded FailedGetScale",
                ),
                (
                    "{metadata: {annotations: {autoscaling.alpha.kubernetes.io/conditions: 'no json'}}, status: {currentReplicas: 1}}",
                    "Healthy Scaled",
                ),
            ],
        );
    }

    #[test]
    fn budgets() {
        check(
            "policy/v1",
            "PodDisruptionBudget",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{metadata: {generation: 2}, status: {observedGeneration: 1}}",
                    "Progressing SpecNotObserved",
                ),
                (
                    "{status: {currentHealthy: 3, desiredHealthy: 3, conditions: [{type: DisruptionAllowed, status: 'False', reason: InsufficientPods}]}}",
                    "Healthy BudgetMet: 3 pods healthy, 3 needed",
                ),
                (
                    "{status: {currentHealthy: 0, desiredHealthy: 1, expectedPods: 2}}",
                    "Progressing BudgetNotMet: 0 pods healthy, 1 needed -> overdue after 10m",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {currentHealthy: 0, desiredHealthy: 1, expectedPods: 0}}",
                    "Progressing NoPods: 0 pods healthy, 1 needed; it is for none that there are -> 2025-03-01T10:10:00Z Unknown NoPods",
                ),
                (
                    "{status: {currentHealthy: 3, desiredHealthy: 3, conditions: [{type: DisruptionAllowed, status: 'False', reason: SyncFailed, message: no controller}]}}",
                    "Degraded SyncFailed: no controller",
                ),
            ],
        );
    }
}
