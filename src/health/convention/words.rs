//! What the words mean that controllers put into reasons and into fields such as `phase`.

use crate::model::Health;

/// What a reason tells about a condition that isn't met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Something was tried and failed.
    Failing,
    /// It is on the way.
    Moving,
    /// It was stopped on purpose.
    Paused,
    /// What was to be done is done.
    Done,
    /// The word tells nothing.
    Neutral,
}

/// Reasons that begin so tell of waiting, whatever is waited for.
const WAITING: &[&str] =
    &["waiting", "pending", "progressing", "awaiting", "inprogress", "retrying", "reconciling", "notyet"];

const PAUSED: &[&str] = &["paused", "suspended", "hibernat"];

const FAILING: &[&str] = &[
    "abort",
    "backoff",
    "broken",
    "cannot",
    "conflict",
    "crash",
    "degraded",
    "denied",
    "deadline",
    "dependencynotready",
    "disallowed",
    "duplicate",
    "error",
    "exceeded",
    "exhausted",
    "expired",
    "fail",
    "forbidden",
    "illegal",
    "incompatible",
    "invalid",
    "lost",
    "malformed",
    "mismatch",
    "misconfigur",
    "missing",
    "nomatching",
    "notaccepted",
    "notallowed",
    "notfound",
    "notpermitted",
    "notsupported",
    "outofsync",
    "problem",
    "refused",
    "rejected",
    "stalled",
    "timedout",
    "timeout",
    "unauthorized",
    "unhealthy",
    "unreachable",
    "unresolv",
    "unsupported",
];

const DONE: &[&str] = &[
    "asexpected",
    "available",
    "complete",
    "finished",
    "newreplicasetavailable",
    "succeeded",
    "success",
    "uptodate",
    "reconciled",
];

const MOVING: &[&str] = &[
    "bootstrap",
    "building",
    "connecting",
    "creating",
    "deploying",
    "downloading",
    "initializ",
    "installing",
    "issuing",
    "migrating",
    "pending",
    "processing",
    "progress",
    "provisioning",
    "pulling",
    "reconcil",
    "rolling",
    "running",
    "scaling",
    "starting",
    "updating",
    "upgrading",
];

/// What `reason` tells. Failure outranks movement: `UpgradeFailed`, `ReconcileError`.
pub(super) fn tone(reason: &str) -> Tone {
    let word = reason.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    if WAITING.iter().any(|start| word.starts_with(start)) {
        Tone::Moving
    } else if has(PAUSED) {
        Tone::Paused
    } else if has(FAILING) {
        Tone::Failing
    } else if has(MOVING) {
        Tone::Moving
    } else if has(DONE) {
        Tone::Done
    } else {
        Tone::Neutral
    }
}

const GOOD: &[&str] = &[
    "accepted",
    "active",
    "applied",
    "available",
    "bound",
    "complete",
    "completed",
    "compliant",
    "configured",
    "connected",
    "created",
    "deployed",
    "done",
    "enabled",
    "established",
    "finished",
    "green",
    "healthok",
    "healthy",
    "insync",
    "installed",
    "normal",
    "ok",
    "online",
    "operational",
    "passed",
    "provisioned",
    "ready",
    "reconciled",
    "released",
    "running",
    "serving",
    "stable",
    "succeeded",
    "success",
    "successful",
    "synced",
    "synchronized",
    "up",
    "uptodate",
    "valid",
    "validated",
    "clusterinhealthystate",
];

const BAD: &[&str] = &[
    "aborted",
    "bad",
    "broken",
    "crashed",
    "crashloopbackoff",
    "critical",
    "degraded",
    "denied",
    "disconnected",
    "down",
    "error",
    "errored",
    "expired",
    "fail",
    "failed",
    "failedvalidation",
    "failure",
    "faulted",
    "healtherr",
    "inaccessible",
    "invalid",
    "lost",
    "noncompliant",
    "notready",
    "offline",
    "partiallyfailed",
    "red",
    "rejected",
    "stalled",
    "submissionfailed",
    "timedout",
    "timeout",
    "unavailable",
    "unhealthy",
    "unreachable",
    "unusable",
    "unrecoverable",
];

const MOVING_STATES: &[&str] = &[
    "applyingchanges",
    "binding",
    "bootstrapping",
    "building",
    "cloning",
    "connecting",
    "creating",
    "deleting",
    "deploying",
    "deprovisioning",
    "downloading",
    "finalizing",
    "healthwarn",
    "importing",
    "inprogress",
    "initializing",
    "installing",
    "joining",
    "migrating",
    "new",
    "pending",
    "planning",
    "preparing",
    "processing",
    "progressing",
    "provisioning",
    "queued",
    "rebalancing",
    "reconciling",
    "recovering",
    "replacing",
    "restarting",
    "restoring",
    "rolling",
    "rollingout",
    "scaling",
    "scheduled",
    "resizing",
    "scheduling",
    "starting",
    "submitted",
    "syncing",
    "terminating",
    "updating",
    "upgrading",
    "waiting",
    "warning",
    "yellow",
];

const PAUSED_STATES: &[&str] =
    &["disabled", "halted", "hibernated", "hibernating", "paused", "stopped", "stopping", "suspended"];

/// What a word of state tells, whatever its case and however its parts are set apart. `None` for a
/// word that isn't known: guessing would be worse.
pub(super) fn state(raw: &str) -> Option<Health> {
    const LONGEST: usize = 32;
    if raw.len() > 2 * LONGEST {
        return None;
    }
    let word: String =
        raw.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let word = word.as_str();
    if GOOD.contains(&word) {
        Some(Health::Healthy)
    } else if BAD.contains(&word) {
        Some(Health::Degraded)
    } else if MOVING_STATES.contains(&word) {
        Some(Health::Progressing)
    } else if PAUSED_STATES.contains(&word) {
        Some(Health::Suspended)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_outranks_movement_and_waiting_outranks_failure() {
        let rows = [
            (
                Tone::Failing,
                "UpgradeFailed ReconcileError SecretSyncedError BackendNotFound Invalid InvalidCertificateRef DependencyNotReady",
            ),
            (
                Tone::Moving,
                "WaitingForInfrastructure Pending ProgressingWithRetry Provisioning RetryingAfterFailure",
            ),
            (Tone::Paused, "ReconcilePaused"),
            (Tone::Done, "NewReplicaSetAvailable AsExpected"),
            (Tone::Neutral, "NotReady DoesNotExist"),
        ];
        for (expected, reasons) in rows {
            for reason in reasons.split(' ') {
                assert_eq!(tone(reason), expected, "{reason}");
            }
        }
    }

    #[test]
    fn states_are_known_in_any_spelling() {
        for (word, expected) in [
            ("Running", Some(Health::Healthy)),
            ("HEALTH_OK", Some(Health::Healthy)),
            ("up-to-date", Some(Health::Healthy)),
            ("HEALTH_ERR", Some(Health::Degraded)),
            ("PartiallyFailed", Some(Health::Degraded)),
            ("ApplyingChanges", Some(Health::Progressing)),
            ("yellow", Some(Health::Progressing)),
            ("Paused", Some(Health::Suspended)),
            ("Zeta", None),
            ("", None),
        ] {
            assert_eq!(state(word), expected, "{word}");
        }
    }
}
