//! What decides on the admission of other objects, and what else calls a webhook.

use serde_json::Value;

use super::failing;
use crate::{
    health::{Finding, Subject},
    model::Health,
};

/// What the name of an annotation begins with that asks for a certificate authority to be filled in:
/// those of cert-manager and of OpenShift, in all their forms.
const INJECTORS: [&str; 2] = ["inject-ca", "inject-apiserver-ca"];

/// A line break in base64: some tools need a bundle to stand there from the start.
const PLACEHOLDER: &str = "Cg==";

/// A webhook can't be called before what was asked to fill in its certificate authority has done so.
/// Without such a request, none is needed: the API server then trusts what its system trusts.
pub(super) fn webhooks(subject: Subject) -> Finding {
    let webhooks = subject.object.webhooks.as_array().map(Vec::as_slice).unwrap_or_default();
    let pending = webhooks.iter().find(|webhook| unsealed(webhook.get("clientConfig")));
    match pending {
        Some(webhook) => {
            let name = webhook.get("name").and_then(Value::as_str).unwrap_or_default();
            bundle_pending(subject, name).unwrap_or_else(|| Finding::healthy("Exists"))
        }
        None => Finding::healthy("Exists"),
    }
}

/// The same for the webhook that converts custom resources.
pub(super) fn conversion_pending(subject: Subject) -> Option<Finding> {
    let conversion = subject.spec("conversion");
    let calls = conversion.get("strategy").is_some_and(|strategy| strategy == "Webhook");
    let pending = calls && unsealed(conversion.pointer("/webhook/clientConfig"));
    if pending { bundle_pending(subject, "conversion") } else { None }
}

/// Whether whoever calls this has no certificate authority to trust.
fn unsealed(client: Option<&Value>) -> bool {
    let bundle = client.and_then(|client| client.get("caBundle")).and_then(Value::as_str);
    bundle.is_none_or(|bundle| bundle.is_empty() || bundle == PLACEHOLDER)
}

fn bundle_pending(subject: Subject, webhook: &str) -> Option<Finding> {
    let asks = |(key, value): &&(String, String)| {
        let name = key.rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
        INJECTORS.iter().any(|injector| name.starts_with(injector)) && !value.is_empty() && value != "false"
    };
    let (asked, _) = subject.object.annotations.iter().find(asks)?;
    let finding = Finding::progressing("CABundlePending")
        .message(format!("{webhook} waits for the CA bundle that {asked} asks for"));
    // Whatever is written into it raises its generation: of one that was filled in before nobody
    // knows since when it isn't any more.
    let untouched = subject.object.generation.is_none_or(|generation| generation <= 1);
    let created = subject.object.created.filter(|_| untouched);
    Some(if created.is_some() { finding.since(created).overdue() } else { finding.ages() })
}

/// A policy holds as soon as it exists. What the API server found out about its expressions is worth
/// looking at: one that doesn't fit its kind fails when it is asked, and what then happens is up to
/// `failurePolicy`.
pub(super) fn policy(subject: Subject) -> Finding {
    if let Some(failing) = failing(subject) {
        return Finding::of(Health::Degraded, failing);
    }
    let warnings = subject.status("typeChecking").get("expressionWarnings").and_then(Value::as_array);
    let Some((first, others)) = warnings.and_then(|warnings| warnings.split_first()) else {
        return Finding::healthy("Exists");
    };
    if let Some(lag) = subject.lag() {
        return lag;
    }
    let field = |name: &str| first.get(name).and_then(Value::as_str).unwrap_or_default();
    let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    Finding::degraded("ExpressionWarnings").message(format!(
        "{}{more}: {}",
        field("fieldRef"),
        field("warning")
    ))
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn webhook_configurations() {
        let young = "name: x, creationTimestamp: '2025-03-01T10:00:00Z', annotations: {cert-manager.io/inject-ca-from: lab/cert}";
        let webhooks = "[{name: a.test, clientConfig: {caBundle: LS0t}}, {name: b.test, clientConfig: {service: {name: b}}}]";
        let overdue = "Progressing CABundlePending: b.test waits for the CA bundle that cert-manager.io/inject-ca-from asks for -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded";
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            check(
                "admissionregistration.k8s.io/v1",
                kind,
                &[
                    ("{}", "Healthy Exists"),
                    ("{webhooks: []}", "Healthy Exists"),
                    (&format!("{{webhooks: {webhooks}}}"), "Healthy Exists"),
                    (&format!("{{metadata: {{{young}}}, webhooks: {webhooks}}}"), overdue),
                    (
                        &format!(
                            "{{metadata: {{{young}}}, webhooks: [{{name: b.test, clientConfig: {{caBundle: Cg==}}}}]}}"
                        ),
                        overdue,
                    ),
                    (
                        &format!(
                            "{{metadata: {{{young}}}, webhooks: [{{name: b.test, clientConfig: {{caBundle: LS0t}}}}]}}"
                        ),
                        "Healthy Exists",
                    ),
                    (
                        &format!("{{metadata: {{{young}, generation: 3}}, webhooks: {webhooks}}}"),
                        "Progressing CABundlePending: b.test waits for the CA bundle that cert-manager.io/inject-ca-from asks for -> overdue after 10m",
                    ),
                    (
                        "{metadata: {annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}, webhooks: [{name: b.test, clientConfig: {}}]}",
                        "Progressing CABundlePending: b.test waits for the CA bundle that service.beta.openshift.io/inject-cabundle asks for",
                    ),
                    (
                        "{metadata: {annotations: {service.beta.openshift.io/inject-cabundle: 'false'}}, webhooks: [{name: b.test, clientConfig: {}}]}",
                        "Healthy Exists",
                    ),
                    ("{metadata: {annotations: {a/inject-ca-from: b}}, webhooks: [7, {}]}", "Progressing"),
                ],
            );
        }
    }

    #[test]
    fn policies() {
        check(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            &[
                ("{}", "Healthy Exists"),
                ("{status: {observedGeneration: 1, typeChecking: {}}}", "Healthy Exists"),
                (
                    "{status: {typeChecking: {expressionWarnings: [{fieldRef: 'spec.validations[0].expression', warning: undefined field}]}}}",
                    "Degraded ExpressionWarnings: spec.validations[0].expression: undefined field",
                ),
                (
                    "{status: {typeChecking: {expressionWarnings: [{fieldRef: a, warning: b}, {}, {}]}}}",
                    "Degraded ExpressionWarnings: a (and 2 more): b",
                ),
                (
                    "{metadata: {generation: 2}, status: {observedGeneration: 1, typeChecking: {expressionWarnings: [{}]}}}",
                    "Progressing SpecNotObserved",
                ),
                (
                    "{status: {conditions: [{type: Degraded, status: 'True', reason: Broken}]}}",
                    "Degraded Broken",
                ),
            ],
        );
    }
}
