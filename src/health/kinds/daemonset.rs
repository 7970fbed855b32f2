use crate::health::{Finding, Subject, subject::int};

pub(super) fn judge(subject: Subject) -> Finding {
    // Written as soon as the controller looked, also where it is zero.
    if subject.status("desiredNumberScheduled").is_null() {
        return subject.not_yet_observed();
    }
    if let Some(lag) = subject.lag() {
        return lag;
    }
    let desired = subject.count("desiredNumberScheduled");
    let updated = subject.count("updatedNumberScheduled");
    let available = available(subject, desired);
    if desired == 0 {
        return Finding::healthy("NoNodes").message("no node asks for a pod");
    }
    let message = format!("{available} of {desired} pods available");
    let on_delete = subject.spec("updateStrategy").get("type").is_some_and(|kind| kind == "OnDelete");
    // It says no times: what is missing counts from when it was seen to begin, but where nothing ever
    // ran from its creation.
    if updated < desired && !on_delete {
        return Finding::progressing("RollingOut")
            .message(format!("{updated} of {desired} pods updated; {message}"))
            .ages();
    }
    if available < desired {
        let finding = Finding::progressing("PodsUnavailable").message(message);
        return if available == 0 { finding.then_degraded(subject.object.created) } else { finding.ages() };
    }
    Finding::healthy("PodsAvailable").message(if updated < desired {
        format!("{message}; {} wait to be deleted to be updated", desired.saturating_sub(updated))
    } else {
        message
    })
}

/// How many of the pods are available. Counters that are zero are left out, and so are those that
/// nobody wrote; one of the others tells which it was.
fn available(subject: Subject, desired: i64) -> i64 {
    let counted = |field: &str| int(subject.status(field));
    let ready = counted("numberReady").unwrap_or(i64::MAX);
    let available = counted("numberAvailable")
        .or_else(|| counted("numberUnavailable").map(|unavailable| desired.saturating_sub(unavailable)));
    match (available, ready) {
        (None, i64::MAX) => 0,
        (available, ready) => available.unwrap_or(ready).min(ready),
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn daemon_sets() {
        check(
            "apps/v1",
            "DaemonSet",
            &[
                ("{spec: {}}", "Progressing NotYetObserved"),
                (
                    "{metadata: {generation: 3}, status: {desiredNumberScheduled: 0, observedGeneration: 2}}",
                    "Progressing SpecNotObserved",
                ),
                ("{status: {desiredNumberScheduled: 0}}", "Healthy NoNodes"),
                // Kinds of partial statuses that other controllers and old clusters write.
                (
                    "{status: {desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberUnavailable: 0}}",
                    "Healthy PodsAvailable: 3 of 3",
                ),
                (
                    "{status: {desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberReady: 1}}",
                    "Healthy PodsAvailable: 1 of 1",
                ),
                (
                    "{status: {desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberUnavailable: 2}}",
                    "Progressing PodsUnavailable: 0 of 2",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {desiredNumberScheduled: 2, updatedNumberScheduled: 2}}",
                    "Progressing PodsUnavailable: 0 of 2 pods available -> 2025-03-01T10:10:00Z Degraded PodsUnavailable",
                ),
                (
                    "{status: {desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 4, numberAvailable: 4, numberReady: 4, numberMisscheduled: 29}}",
                    "Healthy PodsAvailable: 4 of 4 pods available",
                ),
                (
                    "{status: {desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 1, numberAvailable: 3, numberReady: 3}}",
                    "Progressing RollingOut: 1 of 4 pods updated; 3 of 4 pods available -> overdue after 10m",
                ),
                (
                    "{spec: {updateStrategy: {type: OnDelete}}, status: {desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 1, numberAvailable: 4, numberReady: 4}}",
                    "Healthy PodsAvailable: 4 of 4 pods available; 3 wait to be deleted to be updated",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1, numberReady: 1}}",
                    "Progressing PodsUnavailable: 1 of 2 pods available -> overdue after 10m",
                ),
            ],
        );
    }
}
