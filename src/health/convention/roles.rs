//! What a condition's type means. The API conventions leave polarity to each type, so it can't be
//! inferred from a status: it stands in these tables.

/// What a condition of some type tells about its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::health) enum Role {
    /// True is the word for the whole object. The smaller the number, the more it counts.
    Summary(usize),
    /// True is good, and says nothing about the whole.
    Positive,
    /// True is bad. False is no evidence of anything.
    Negative,
    /// True: it moves towards what was asked for.
    Activity,
    /// True: something is made anew while the old still serves.
    Renewal,
    /// True: it was stopped on purpose.
    Pause,
    /// Says nothing about health, or nobody knows what.
    Neutral,
}

/// Types that speak for the whole object: of those present, the first decides.
const SUMMARIES: [&str; 34] = [
    "Ready",
    "Succeeded",
    "Available",
    "Healthy",
    "Established",
    "Programmed",
    "Accepted",
    "Admitted",
    "Valid",
    "Validated",
    "Reconciled",
    "ReconcileSuccess",
    "ReconcileSucceeded",
    "ReconcileSuccessful",
    "SuccessfullyReconciled",
    "Synced",
    "RemoteSynced",
    "ResourcesUpToDate",
    "Released",
    "Deployed",
    "Installed",
    "Applied",
    "Complete",
    "Completed",
    "Success",
    "Successful",
    "Configured",
    "Provisioned",
    "Bound",
    "Online",
    "Joined",
    "Registered",
    "Initialized",
    "Running",
];

/// The summaries of which each may veto the others unless the object has a Ready of its own:
/// Programmed means little where Accepted is False.
pub(super) const VETOES: std::ops::RangeInclusive<usize> = COMMON + 2..=COMMON + 9;

/// The rank of the first of [`SUMMARIES`]: those that a rule names for a kind count more.
const COMMON: usize = 64;

/// The role of a condition type.
pub(in crate::health) fn role(kind: &str) -> Role {
    if let Some(rank) = SUMMARIES.iter().position(|summary| *summary == kind) {
        return Role::Summary(COMMON + rank);
    }
    match kind {
        "ResolvedRefs" | "Scheduled" | "Launched" | "Attached" | "Connected" | "NamesAccepted" => {
            Role::Positive
        }

        "Aborted" | "Failing" | "Invalid" | "Stalled" | "Degraded" | "Failed" | "Error" | "Errors"
        | "HasErrors" | "ErrorOccurred" | "Conflicted" | "Corrupted" | "Dangling" | "Denied" | "Expired"
        | "Irreconcilable" | "PartiallyInvalid" | "SpecError" | "Stuck" | "Timeout" | "TimedOut"
        | "Unschedulable" | "Unreachable" | "ReadonlyFilesystem" | "KernelDeadlock" | "PipelineNotReady"
        | "TerminalError" | "Offline" => Role::Negative,

        "Progressing" | "Reconciling" | "Updating" | "Upgrading" | "RollingOut" | "RollingUpdate"
        | "ScalingUp" | "ScalingDown" | "Creating" | "Provisioning" | "Installing" | "Deploying"
        | "Migrating" | "Processing" | "Pending" | "Remediating" | "Resizing" | "Restarting"
        | "Restoring" | "Initializing" | "Deleting" => Role::Activity,

        "Issuing" | "Renewing" | "Refreshing" => Role::Renewal,

        "Paused"
        | "Suspended"
        | "ReconciliationPaused"
        | "Hibernated"
        | "Hibernating"
        | "cnpg.io/hibernation" => Role::Pause,

        // True both where some parts work and where some don't.
        "PartiallyReady" => Role::Neutral,

        _ => match (kind.rsplit_once('/'), kind.as_bytes()) {
            (Some((_, name)), _) => role_in_domain(name),
            (None, [first @ b'a'..=b'z', ..]) => {
                role(&format!("{}{}", char::from(first.to_ascii_uppercase()), &kind[1..]))
            }
            _ => role_by_ending(kind),
        },
    }
}

/// The role of a type that belongs to a domain, `example.com/Synced`: somebody adds it to the object
/// of another, and so it never speaks for the whole.
fn role_in_domain(name: &str) -> Role {
    match role(name) {
        Role::Summary(_) => Role::Positive,
        other => other,
    }
}

const NEGATIVE_STARTS: [&str; 9] =
    ["Invalid", "Corrupt", "Failed", "Frequent", "Missing", "NonStructural", "Not", "OutOf", "Un"];

const NEGATIVE_ENDS: [&str; 32] = [
    "Broken",
    "Conflict",
    "Corruption",
    "CrashLooping",
    "Crashed",
    "Degraded",
    "Denied",
    "Disconnected",
    "Error",
    "Errors",
    "Exceeded",
    "Expired",
    "Failed",
    "Failing",
    "Failure",
    "Flapping",
    "Hung",
    "Invalid",
    "Lost",
    "Missing",
    "Pressure",
    "Problem",
    "Rejected",
    "Stalled",
    "Terminal",
    "TimedOut",
    "Unavailable",
    "Unhealthy",
    "Unknown",
    "Unreachable",
    "Unready",
    "Unsynced",
];

/// What may be had and isn't needed.
const OFFERS: [&str; 5] =
    ["UpdateAvailable", "UpdatesAvailable", "UpgradeAvailable", "UpgradesAvailable", "VersionAvailable"];

/// As operators write that have several activities: `NodeInstallerProgressing`, `UpdateInProgress`.
const ACTIVITY_ENDS: [&str; 6] =
    ["Creating", "InProgress", "Progressing", "Resyncing", "Updating", "Upgrading"];

const POSITIVE_ENDS: [&str; 16] = [
    "Accepted",
    "Available",
    "Complete",
    "Configured",
    "Created",
    "Deployed",
    "Established",
    "Healthy",
    "Initialized",
    "Installed",
    "Provisioned",
    "Ready",
    "Reconciled",
    "Succeeded",
    "Synced",
    "Valid",
];

fn role_by_ending(kind: &str) -> Role {
    if OFFERS.iter().any(|end| kind.ends_with(end)) {
        Role::Neutral
    } else if ACTIVITY_ENDS.iter().any(|end| kind.ends_with(end)) {
        Role::Activity
    } else if is_absence_of_bad(kind) {
        Role::Positive
    } else if starts(kind) || NEGATIVE_ENDS.iter().any(|end| kind.ends_with(end)) {
        Role::Negative
    } else if POSITIVE_ENDS.iter().any(|end| kind.ends_with(end)) {
        Role::Positive
    } else {
        Role::Neutral
    }
}

/// `NoDiskPressure`.
fn is_absence_of_bad(kind: &str) -> bool {
    let new_word = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    kind.strip_prefix("No").filter(new_word).is_some_and(|rest| role(rest) == Role::Negative)
}

/// A negative beginning counts only where a new word follows: `NotReady`, never `Notified`.
fn starts(kind: &str) -> bool {
    let new_word = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    NEGATIVE_STARTS.iter().filter_map(|start| kind.strip_prefix(start)).any(new_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polarity_is_told_by_type() {
        let rows = [
            (
                Role::Negative,
                "MemoryPressure ReplicaFailure HasErrors CatalogSourcesUnhealthy NotReady OutOfDisk FailedCreatePod ReleaseFailed Irreconcilable NetworkUnavailable Stalled example.com/SyncFailed LicenseExpired BackupFailing QuorumLost Unready",
            ),
            (
                Role::Positive,
                "InfrastructureReady ContainersReady DeploymentsAvailable InstallSucceeded ResolvedRefs NoDiskPressure example.com/Ready",
            ),
            (Role::Activity, "Progressing Reconciling RollingOut UpdateInProgress EKSControlPlaneUpdating"),
            (Role::Pause, "Paused Suspended paused"),
            (
                Role::Neutral,
                "Upgradeable Drifted Consolidatable ScalingLimited Warning Notified Active Fallback DisruptionAllowed Nominated NoReplicas example.com/ a/b/c UpdateAvailable NewVersionAvailable",
            ),
        ];
        for (expected, kinds) in rows {
            for kind in kinds.split(' ') {
                assert_eq!(role(kind), expected, "{kind}");
            }
        }
    }

    #[test]
    fn ready_is_the_first_summary() {
        assert_eq!(role("Ready"), Role::Summary(COMMON));
        assert!(matches!(role("Running"), Role::Summary(rank) if rank > COMMON + 20));
    }
}
