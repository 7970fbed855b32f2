//! What the words mean that controllers put into reasons and into fields such as `phase`.

use crate::{
    health::{conditions::Reading, dialect::Dialect},
    model::Health,
};

/// What a reason tells about a condition that isn't met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::health) enum Tone {
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
const WAITING: &[&str] = &[
    "awaiting",
    "dependencynotready",
    "inprogress",
    "notyet",
    "pending",
    "progressing",
    "reconciling",
    "retrying",
    "waiting",
];

/// What reasons contain that tell of a pause,
const PAUSED: &[&str] = &["paused", "suspended", "hibernat"];

/// or are such a word,
const STOPPED: &[&str] = &["disabled", "halted", "stopped"];

/// of a failure,
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
    "terminal",
    "timedout",
    "timeout",
    "unauthorized",
    "unhealthy",
    "unreachable",
    "unresolv",
    "unsupported",
];

/// of an end,
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

/// of something under way.
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

/// What a condition that isn't met tells. Where the reason tells of no failure, the message may.
pub(super) fn tone_of(condition: &Reading, dialect: &Dialect) -> Tone {
    let begins = |word: &str| {
        condition.message.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    match dialect.tone(&condition.reason) {
        Tone::Neutral | Tone::Moving if begins("error") || begins("failed to ") => Tone::Failing,
        tone => tone,
    }
}

/// What `reason` tells. Failure outranks movement: `UpgradeFailed`, `ReconcileError`.
pub(in crate::health) fn tone(reason: &str) -> Tone {
    // A failover is what saves from a failure.
    let word = reason.to_ascii_lowercase().replace("failover", "").replace("failedover", "");
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    // `ErrRegisterACMEAccount`
    let err = |reason: &str| {
        reason.strip_prefix("Err").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    if WAITING.iter().any(|start| word.starts_with(start)) {
        Tone::Moving
    } else if has(PAUSED) || STOPPED.contains(&&*word) {
        Tone::Paused
    } else if has(FAILING) || err(reason) {
        Tone::Failing
    } else if has(MOVING) {
        Tone::Moving
    } else if has(DONE) {
        Tone::Done
    } else {
        Tone::Neutral
    }
}

/// Words of state, in lower case and without what sets their parts apart: it does its job.
const GOOD: &[&str] = &[
    "accepted",
    "active",
    "applied",
    "available",
    "bound",
    "clusterinhealthystate",
    "complete",
    "completed",
    "compliant",
    "configured",
    "connected",
    "created",
    "current",
    "deployed",
    "done",
    "enabled",
    "established",
    "existing",
    "finished",
    "green",
    "healthok",
    "healthy",
    "idle",
    "installed",
    "insync",
    "listening",
    "normal",
    "ok",
    "online",
    "operating",
    "operational",
    "passed",
    "provisioned",
    "ready",
    "reconciled",
    "released",
    "running",
    "serving",
    "stable",
    "succeed",
    "succeeded",
    "success",
    "successful",
    "synced",
    "synchronized",
    "up",
    "uptodate",
    "valid",
    "validated",
    "watching",
    "working",
];

/// It fails.
const BAD: &[&str] = &[
    "abnormal",
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
    "err",
    "errored",
    "evicted",
    "expired",
    "fail",
    "failedvalidation",
    "failing",
    "faulted",
    "healtherr",
    "inaccessible",
    "invalid",
    "lost",
    "missing",
    "noncompliant",
    "notfound",
    "nothealthy",
    "offline",
    "red",
    "rejected",
    "stalled",
    "timedout",
    "timeout",
    "unavailable",
    "unhealthy",
    "unreachable",
    "unrecoverable",
    "unusable",
];

/// It is on the way, beside every word that ends in `ing`.
const MOVING_STATES: &[&str] = &[
    "applyingchanges",
    "healthwarn",
    "init",
    "inprogress",
    "migratingdata",
    "new",
    "notready",
    "queued",
    "rollingout",
    "scheduled",
    "submitted",
    "yellow",
];

/// It was stopped on purpose.
const PAUSED_STATES: &[&str] =
    &["disabled", "halted", "hibernated", "hibernating", "paused", "scaleddown", "stopped", "suspended"];

/// How words end that tell of a failure.
const BAD_ENDS: &[&str] = &["error", "failed", "failure"];

/// The longest word of state, in bytes. What is longer is a sentence.
const LONGEST: usize = 64;

/// A word in lower case and without what sets its parts apart; empty where it is too long for one.
pub(in crate::health) fn normal(raw: &str) -> String {
    if raw.len() > LONGEST {
        return String::new();
    }
    raw.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What a word of state tells, whatever its case and however its parts are set apart. `None` for a
/// word that isn't known: guessing would be worse.
pub(in crate::health) fn state(raw: &str) -> Option<Health> {
    let word = normal(raw);
    let word = word.as_str();
    if GOOD.contains(&word) {
        Some(Health::Healthy)
    } else if BAD.contains(&word) || BAD_ENDS.iter().any(|end| word.ends_with(end)) {
        Some(Health::Degraded)
    } else if PAUSED_STATES.contains(&word) {
        Some(Health::Suspended)
    // Whatever else is being done, is under way.
    } else if MOVING_STATES.contains(&word) || word.ends_with("ing") {
        Some(Health::Progressing)
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
                "UpgradeFailed ReconcileError SecretSyncedError BackendNotFound Invalid InvalidCertificateRef ErrRegisterACMEAccount",
            ),
            (
                Tone::Moving,
                "WaitingForInfrastructure DependencyNotReady FailoverInProgress Pending ProgressingWithRetry Provisioning RetryingAfterFailure",
            ),
            (Tone::Paused, "ReconcilePaused Stopped"),
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
            ("Promoting", Some(Health::Progressing)),
            ("ConfigError", Some(Health::Degraded)),
            ("Paused", Some(Health::Suspended)),
            ("Zeta", None),
            ("", None),
        ] {
            assert_eq!(state(word), expected, "{word}");
        }
    }
}
