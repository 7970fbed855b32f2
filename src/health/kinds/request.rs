//! Kinds that ask for something once, and are done when it was given.

use crate::{
    health::{Finding, Subject},
    model::Health,
};

pub(super) fn signing(subject: Subject) -> Finding {
    if let Some(failed) = subject.holds("Failed").or_else(|| subject.holds("Denied")) {
        return Finding::of(Health::Degraded, failed);
    }
    if !subject.word("certificate").is_empty() {
        return Finding::healthy("Issued");
    }
    match subject.holds("Approved") {
        Some(approved) => Finding::of(Health::Progressing, approved).overdue(),
        // Whoever approves is a person, and may take their time.
        None => Finding::progressing("ApprovalPending").message("nobody has approved or denied it yet"),
    }
}

pub(super) fn certificate(subject: Subject) -> Finding {
    if let Some(failed) = subject.holds("Failed").or_else(|| subject.holds("Denied")) {
        return Finding::of(Health::Degraded, failed);
    }
    if subject.holds("Issued").is_some() || !subject.word("certificateChain").is_empty() {
        return Finding::healthy("Issued");
    }
    Finding::progressing("Pending")
        .message("no certificate was issued yet")
        .since(subject.object.created)
        .overdue()
}

pub(super) fn pool(subject: Subject) -> Finding {
    if let Some(failed) = subject.holds("Failed") {
        return Finding::of(Health::Degraded, failed);
    }
    match subject.holds("Complete") {
        Some(done) => Finding::healthy("Complete").since(done.last_transition()),
        None => subject.not_yet_observed(),
    }
}

/// What is stored may be much: a migration takes as long as it takes.
pub(super) fn migration(subject: Subject) -> Finding {
    if let Some(failed) = subject.holds("Failed") {
        return Finding::of(Health::Degraded, failed);
    }
    if let Some(done) = subject.holds("Succeeded") {
        return Finding::healthy("Succeeded").since(done.last_transition());
    }
    match subject.holds("Running") {
        Some(running) => Finding::of(Health::Progressing, running),
        None => subject.not_yet_observed(),
    }
}

/// How long a target may take to go is the affair of those that see to it.
pub(super) fn eviction(subject: Subject) -> Finding {
    if let Some(failed) = subject.holds("Failed") {
        return Finding::of(Health::Degraded, failed);
    }
    match subject.holds("TargetEvicted") {
        Some(done) => Finding::healthy("TargetEvicted").since(done.last_transition()),
        None if subject.unreported() => subject.not_yet_observed(),
        None => Finding::progressing("Evicting").message("its target isn't gone yet"),
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn signing_requests() {
        check(
            "certificates.k8s.io/v1",
            "CertificateSigningRequest",
            &[
                ("{}", "Progressing ApprovalPending"),
                (
                    "{status: {conditions: [{type: Approved, status: 'True', reason: AutoApproved}]}}",
                    "Progressing AutoApproved",
                ),
                (
                    "{status: {certificate: LS0t, conditions: [{type: Approved, status: 'True'}]}}",
                    "Healthy Issued",
                ),
                (
                    "{status: {conditions: [{type: Denied, status: 'True', reason: NoThanks}]}}",
                    "Degraded NoThanks",
                ),
            ],
        );
    }

    #[test]
    fn certificate_requests() {
        check(
            "certificates.k8s.io/v1",
            "PodCertificateRequest",
            &[
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}}",
                    "Progressing Pending: no certificate was issued yet -> 2025-03-01T10:10:00Z Degraded",
                ),
                ("{status: {certificateChain: LS0t}}", "Healthy Issued"),
                ("{status: {conditions: [{type: Issued, status: 'True'}]}}", "Healthy Issued"),
                (
                    "{status: {conditions: [{type: Denied, status: 'True', reason: UnsupportedKeyType}]}}",
                    "Degraded UnsupportedKeyType",
                ),
            ],
        );
    }

    #[test]
    fn pool_requests() {
        check(
            "resource.k8s.io/v1alpha3",
            "ResourcePoolStatusRequest",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{status: {poolCount: 0, conditions: [{type: Complete, status: 'True'}]}}",
                    "Healthy Complete",
                ),
                (
                    "{status: {conditions: [{type: Failed, status: 'True', reason: Timeout}]}}",
                    "Degraded Timeout",
                ),
            ],
        );
    }

    #[test]
    fn migrations() {
        check(
            "storagemigration.k8s.io/v1",
            "StorageVersionMigration",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{status: {conditions: [{type: Running, status: 'True', reason: InProgress, lastTransitionTime: '2025-03-01T10:00:00Z'}]}}",
                    "Progressing InProgress",
                ),
                (
                    "{status: {conditions: [{type: Running, status: 'False'}, {type: Succeeded, status: 'True'}]}}",
                    "Healthy Succeeded",
                ),
                (
                    "{status: {conditions: [{type: Failed, status: 'True', reason: Conflict}]}}",
                    "Degraded Conflict",
                ),
            ],
        );
    }

    #[test]
    fn evictions() {
        check(
            "lifecycle.k8s.io/v1alpha1",
            "EvictionRequest",
            &[
                ("{}", "Progressing NotYetObserved"),
                ("{status: {observedGeneration: 1}}", "Progressing Evicting"),
                ("{status: {conditions: [{type: TargetEvicted, status: 'True'}]}}", "Healthy TargetEvicted"),
                (
                    "{status: {conditions: [{type: Failed, status: 'True', reason: NoResponder}]}}",
                    "Degraded NoResponder",
                ),
            ],
        );
    }
}
