use crate::health::{Finding, Subject};

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
    let available = subject.count("numberAvailable").min(subject.count("numberReady"));
    if desired == 0 {
        return Finding::healthy("NoNodes").message("no node asks for a pod");
    }
    let message = format!("{available} of {desired} pods available");
    let on_delete = subject.spec("updateStrategy").get("type").is_some_and(|kind| kind == "OnDelete");
    let rolling = updated < desired && !on_delete;
    if rolling && available > 0 {
        return Finding::progressing("RollingOut")
            .message(format!("{updated} of {desired} pods updated; {message}"));
    }
    if subject.count("currentNumberScheduled") < desired || available < desired {
        let finding = Finding::progressing("PodsUnavailable").message(message);
        // One node that restarts is no failure; it says no times.
        return if available == 0 { finding.then_degraded(subject.object.created) } else { finding.ages() };
    }
    Finding::healthy("PodsAvailable").message(if updated < desired {
        format!("{message}; {} wait to be deleted to be updated", desired.saturating_sub(updated))
    } else {
        message
    })
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
                (
                    "{status: {desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 4, numberAvailable: 4, numberReady: 4, numberMisscheduled: 29}}",
                    "Healthy PodsAvailable: 4 of 4 pods available",
                ),
                (
                    "{status: {desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 1, numberAvailable: 3, numberReady: 3}}",
                    "Progressing RollingOut: 1 of 4 pods updated; 3 of 4 pods available",
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
