use serde_json::Value;

use super::counted;
use crate::{
    health::{Finding, Subject, conditions::Reading, subject::int},
    model::Health,
};

pub(super) fn job(subject: Subject) -> Finding {
    if let Some(complete) = subject.holds("Complete") {
        let done = counted(subject.count("succeeded"), "succeeded");
        return Finding::healthy("Completed").message(done).since(complete.last_transition()).superseded();
    }
    if let Some(failed) = subject.holds("Failed") {
        return Finding::of(Health::Degraded, failed).superseded();
    }
    if let Some(failing) = subject.holds("FailureTarget") {
        return Finding::of(Health::Degraded, failing);
    }
    let suspended = subject.holds("Suspended");
    if suspended.is_some() || *subject.spec("suspend") == Value::Bool(true) {
        return Finding::suspended("JobSuspended")
            .message("stopped by spec.suspend")
            .since(suspended.and_then(Reading::last_transition));
    }
    if subject.unreported() {
        return subject.not_yet_observed();
    }
    let completions = int(subject.spec("completions"));
    if subject.count("active") == 0 && subject.count("succeeded") >= completions.unwrap_or(1) {
        // The condition follows in a moment, or this comes from a file that never had one.
        return Finding::healthy("Completed").message(counted(subject.count("succeeded"), "succeeded"));
    }
    let (active, failed) = (subject.count("active"), subject.count("failed"));
    if active == 0 && int(subject.spec("backoffLimit")).is_some_and(|limit| failed > limit) {
        // Likewise.
        return Finding::degraded("BackoffLimitExceeded").message(format!("{failed} failed"));
    }
    let mut message = format!("{active} active, {} succeeded", subject.count("succeeded"));
    if let Some(completions) = completions {
        message = format!("{message} of {completions}");
    }
    if failed > 0 {
        message = format!("{message}, {failed} failed");
    }
    let finding = Finding::progressing("Running").message(message).since(subject.time("startTime"));
    // How long a Job may run is its own affair (spec.activeDeadlineSeconds), but its pods have to get
    // there.
    let waits = active > 0 && int(subject.status("ready")) == Some(0);
    match (waits, failed == 0 && subject.count("succeeded") == 0) {
        (false, _) => finding,
        (true, true) => finding.overdue(),
        (true, false) => finding.ages(),
    }
}

pub(super) fn cron_job(subject: Subject) -> Finding {
    if *subject.spec("suspend") == Value::Bool(true) {
        return Finding::suspended("CronJobSuspended").message("stopped by spec.suspend");
    }
    let active = subject.status("active").as_array().map_or(0, Vec::len);
    let (scheduled, succeeded) = (subject.time("lastScheduleTime"), subject.time("lastSuccessfulTime"));
    match scheduled {
        None => Finding::healthy("NotYetScheduled").message("no run was due yet"),
        Some(_) if active > 0 => {
            Finding::healthy("Running").message(format!("{active} active")).since(scheduled)
        }
        // Before Kubernetes 1.21 it isn't told how runs end.
        Some(_) if succeeded.is_none() && subject.object.reference.kind.version != "v1" => {
            Finding::healthy("Scheduled").since(scheduled)
        }
        Some(last) if succeeded.is_none_or(|succeeded| succeeded < last) => {
            Finding::degraded("LastRunFailed").message("the last run ended without success").since(scheduled)
        }
        Some(_) => Finding::healthy("LastRunSucceeded").since(succeeded),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::health::testing::{check, judged};

    #[test]
    fn jobs() {
        check(
            "batch/v1",
            "Job",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{spec: {completions: 3}, status: {startTime: '2025-03-01T10:00:00Z', active: 1, failed: 2}}",
                    "Progressing Running: 1 active, 0 succeeded of 3, 2 failed",
                ),
                (
                    "{status: {startTime: '2025-03-01T10:00:00Z', active: 1, ready: 0}}",
                    "Progressing Running: 1 active, 0 succeeded -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: Running: 1 active",
                ),
                (
                    "{status: {startTime: '2025-03-01T10:00:00Z', active: 1, ready: 0, failed: 1}}",
                    "Progressing Running: 1 active, 0 succeeded, 1 failed -> overdue after 10m",
                ),
                (
                    "{spec: {backoffLimit: 1, completions: 1}, status: {failed: 2}}",
                    "Degraded BackoffLimitExceeded: 2 failed",
                ),
                ("{spec: {backoffLimit: 2, completions: 1}, status: {failed: 2}}", "Progressing Running"),
                (
                    "{status: {active: 1, conditions: [{type: Suspended, status: 'False', reason: JobResumed}]}}",
                    "Progressing Running",
                ),
                (
                    "{status: {conditions: [{type: Suspended, status: 'True', reason: JobSuspended}]}}",
                    "Suspended JobSuspended",
                ),
                ("{spec: {suspend: true}}", "Suspended JobSuspended"),
                (
                    "{spec: {suspend: true}, status: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}}",
                    "Healthy Completed: 1 succeeded",
                ),
                (
                    "{status: {conditions: [{type: FailureTarget, status: 'True', reason: PodFailurePolicy, message: exit 42}]}}",
                    "Degraded PodFailurePolicy: exit 42",
                ),
                (
                    "{status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: too often}]}}",
                    "Degraded BackoffLimitExceeded: too often",
                ),
            ],
        );
    }

    #[test]
    fn cron_jobs() {
        check(
            "batch/v1",
            "CronJob",
            &[
                ("{}", "Healthy NotYetScheduled"),
                ("{status: {}}", "Healthy NotYetScheduled"),
                (
                    "{spec: {suspend: true}, status: {lastScheduleTime: '2025-03-01T10:00:00Z'}}",
                    "Suspended CronJobSuspended",
                ),
                (
                    "{status: {active: [{name: a}], lastScheduleTime: '2025-03-01T10:00:00Z'}}",
                    "Healthy Running: 1 active",
                ),
                ("{status: {lastScheduleTime: '2025-03-01T10:00:00Z'}}", "Degraded LastRunFailed"),
                (
                    "{status: {lastScheduleTime: '2025-03-01T10:00:00Z', lastSuccessfulTime: '2025-03-01T09:59:59Z'}}",
                    "Degraded LastRunFailed",
                ),
                (
                    "{status: {lastScheduleTime: '2025-03-01T10:00:00Z', lastSuccessfulTime: '2025-03-01T10:00:30Z'}}",
                    "Healthy LastRunSucceeded",
                ),
            ],
        );
    }

    #[test]
    fn finished_jobs_are_superseded() {
        for (condition, superseded) in [("Complete", true), ("Failed", true), ("FailureTarget", false)] {
            let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"},
                "status": {"conditions": [{"type": condition, "status": "True"}]}});
            assert_eq!(judged(&job).superseded, superseded, "{condition}");
        }
    }
}
