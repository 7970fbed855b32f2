//! Kinds that extend the API itself.

use crate::{
    health::{Finding, Subject},
    model::Health,
};

pub(super) fn definition(subject: Subject) -> Finding {
    if let Some(names) = subject.denies("NamesAccepted") {
        return Finding::of(Health::Degraded, names);
    }
    if let Some(structure) = subject.holds("NonStructuralSchema") {
        return Finding::of(Health::Degraded, structure);
    }
    if let Some(established) = subject.holds("Established") {
        return Finding::healthy("Established").since(established.last_transition);
    }
    match subject.denies("Established") {
        Some(installing) if installing.reason == "Installing" => {
            Finding::of(Health::Progressing, installing).overdue()
        }
        Some(established) => Finding::of(Health::Degraded, established),
        None => subject.not_yet_observed(),
    }
}

/// Reasons for an API service to be unavailable that pass when what stands behind it starts.
const STARTING: [&str; 3] = ["ServiceNotFound", "EndpointsNotFound", "MissingEndpoints"];

pub(super) fn service(subject: Subject) -> Finding {
    match subject.condition("Available") {
        Some(_) if subject.spec("service").is_null() => Finding::healthy("Local"),
        Some(available) => match subject.denies("Available") {
            Some(_) if STARTING.contains(&available.reason.as_str()) => {
                Finding::of(Health::Progressing, available).overdue()
            }
            Some(_) => Finding::of(Health::Degraded, available),
            None if subject.holds("Available").is_some() => {
                Finding::healthy("Available").since(available.last_transition)
            }
            None => Finding::of(Health::Progressing, available).overdue(),
        },
        None => subject.not_yet_observed(),
    }
}

pub(super) fn signing_request(subject: Subject) -> Finding {
    if let Some(failed) = subject.holds("Failed").or_else(|| subject.holds("Denied")) {
        return Finding::of(Health::Degraded, failed);
    }
    if !subject.word("certificate").is_empty() {
        return Finding::healthy("Issued");
    }
    match subject.holds("Approved") {
        Some(approved) => Finding::of(Health::Progressing, approved).overdue(),
        None => Finding::progressing("ApprovalPending").message("nobody has approved or denied it yet"),
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn definitions() {
        check(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{status: {conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}}",
                    "Healthy Established",
                ),
                (
                    "{status: {conditions: [{type: NamesAccepted, status: 'False', reason: PluralConflict, message: in use}, {type: Established, status: 'False', reason: NotAccepted}]}}",
                    "Degraded PluralConflict: in use",
                ),
                (
                    "{status: {conditions: [{type: Established, status: 'False', reason: Installing}]}}",
                    "Progressing Installing",
                ),
                (
                    "{status: {conditions: [{type: Established, status: 'False', reason: NotAccepted}]}}",
                    "Degraded NotAccepted",
                ),
            ],
        );
    }

    #[test]
    fn services() {
        let unavailable = "{spec: {service: {name: m}}, status: {conditions: [{type: Available, status: 'False', lastTransitionTime: '2025-03-01T10:00:00Z', reason: ";
        check(
            "apiregistration.k8s.io/v1",
            "APIService",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{status: {conditions: [{type: Available, status: 'True', reason: Local}]}}",
                    "Healthy Local",
                ),
                (
                    "{spec: {service: {name: m}}, status: {conditions: [{type: Available, status: 'True', reason: Passed}]}}",
                    "Healthy Available",
                ),
                (
                    &format!("{unavailable}FailedDiscoveryCheck, message: no response}}]}}}}"),
                    "Degraded FailedDiscoveryCheck: no response",
                ),
                (
                    &format!("{unavailable}MissingEndpoints}}]}}}}"),
                    "Progressing MissingEndpoints -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: MissingEndpoints",
                ),
            ],
        );
    }

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
}
