//! Kinds that extend the API itself.

use super::admission::conversion_pending;
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
        return conversion_pending(subject)
            .unwrap_or_else(|| Finding::healthy("Established").since(established.last_transition()));
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
            Some(_) if STARTING.contains(&&*available.reason) => {
                Finding::of(Health::Progressing, available).overdue()
            }
            Some(_) => Finding::of(Health::Degraded, available),
            None if subject.holds("Available").is_some() => {
                Finding::healthy("Available").since(available.last_transition())
            }
            None => Finding::of(Health::Progressing, available).overdue(),
        },
        None => subject.not_yet_observed(),
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
                    "{metadata: {annotations: {cert-manager.io/inject-ca-from: a/b}}, spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {}}}}, status: {conditions: [{type: Established, status: 'True'}]}}",
                    "Progressing CABundlePending: conversion waits for the CA bundle that cert-manager.io/inject-ca-from asks for -> overdue after 10m",
                ),
                (
                    "{metadata: {annotations: {cert-manager.io/inject-ca-from: a/b}}, spec: {conversion: {strategy: None}}, status: {conditions: [{type: Established, status: 'True'}]}}",
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
}
