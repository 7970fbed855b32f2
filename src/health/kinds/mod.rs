//! What is known of built-in kinds and of our own: a file a family.

mod addon;
mod admission;
mod api;
mod autoscaling;
mod cluster;
mod daemonset;
mod deployment;
mod device;
mod exists;
mod gateway;
mod job;
mod network;
mod pod;
mod replicas;
mod replicaset;
mod request;
mod statefulset;
mod storage;

use std::fmt::Write;

use super::{Finding, Subject, conditions::Reading, convention};

/// How the objects of one kind are judged.
#[derive(Debug)]
pub(super) struct Rule {
    /// Names the rule in a verdict.
    pub(super) name: &'static str,
    pub(super) judge: fn(Subject) -> Finding,
}

/// The rule of a kind, where one is known.
pub(super) fn rule(group: &str, kind: &str) -> Option<Rule> {
    let (name, judge): (&'static str, fn(Subject) -> Finding) = match (group, kind) {
        ("apps" | "extensions", "Deployment") => ("builtin/apps.Deployment", deployment::judge),
        ("apps" | "extensions", "ReplicaSet") => ("builtin/apps.ReplicaSet", replicaset::judge),
        ("apps", "StatefulSet") => ("builtin/apps.StatefulSet", statefulset::judge),
        ("apps" | "extensions", "DaemonSet") => ("builtin/apps.DaemonSet", daemonset::judge),
        ("", "ReplicationController") => ("builtin/ReplicationController", replicaset::controller),
        ("", "Pod") => ("builtin/Pod", pod::judge),
        ("batch", "Job") => ("builtin/batch.Job", job::job),
        ("batch", "CronJob") => ("builtin/batch.CronJob", job::cron_job),
        ("", "Service") => ("builtin/Service", network::service),
        ("networking.k8s.io" | "extensions", "Ingress") => {
            ("builtin/networking.k8s.io.Ingress", network::ingress)
        }
        ("", "PersistentVolumeClaim") => ("builtin/PersistentVolumeClaim", storage::claim),
        ("", "PersistentVolume") => ("builtin/PersistentVolume", storage::volume),
        ("storage.k8s.io", "VolumeAttachment") => {
            ("builtin/storage.k8s.io.VolumeAttachment", storage::attachment)
        }
        ("resource.k8s.io", "ResourceClaim") => ("builtin/resource.k8s.io.ResourceClaim", device::claim),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            ("builtin/apiextensions.k8s.io.CustomResourceDefinition", api::definition)
        }
        ("apiregistration.k8s.io", "APIService") => {
            ("builtin/apiregistration.k8s.io.APIService", api::service)
        }
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => ("builtin/admissionregistration.k8s.io.WebhookConfiguration", admission::webhooks),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => {
            ("builtin/admissionregistration.k8s.io.ValidatingAdmissionPolicy", admission::policy)
        }
        ("autoscaling", "HorizontalPodAutoscaler") => {
            ("builtin/autoscaling.HorizontalPodAutoscaler", autoscaling::autoscaler)
        }
        ("policy", "PodDisruptionBudget") => ("builtin/policy.PodDisruptionBudget", autoscaling::budget),
        ("", "Namespace") => ("builtin/Namespace", cluster::namespace),
        ("", "Node") => ("builtin/Node", cluster::node),
        (crate::api::GROUP, "Addon") => ("builtin/addons.x-k8s.io.Addon", addon::judge),
        _ => {
            return gateway_rule(group, kind)
                .or_else(|| request_rule(group, kind))
                .or_else(|| exists_rule(group, kind));
        }
    };
    Some(Rule { name, judge })
}

fn gateway_rule(group: &str, kind: &str) -> Option<Rule> {
    if !matches!(group, "gateway.networking.k8s.io" | "gateway.networking.x-k8s.io") {
        return None;
    }
    let (name, judge): (&'static str, fn(Subject) -> Finding) = match kind {
        "GatewayClass" => ("builtin/gateway.networking.k8s.io.GatewayClass", gateway::class),
        "XMesh" => ("builtin/gateway.networking.x-k8s.io.XMesh", gateway::class),
        "Gateway" => ("builtin/gateway.networking.k8s.io.Gateway", gateway::gateway),
        "ListenerSet" | "XListenerSet" => ("builtin/gateway.networking.k8s.io.ListenerSet", gateway::gateway),
        "HTTPRoute" => ("builtin/gateway.networking.k8s.io.HTTPRoute", gateway::route),
        "GRPCRoute" => ("builtin/gateway.networking.k8s.io.GRPCRoute", gateway::route),
        "TLSRoute" => ("builtin/gateway.networking.k8s.io.TLSRoute", gateway::route),
        "TCPRoute" => ("builtin/gateway.networking.k8s.io.TCPRoute", gateway::route),
        "UDPRoute" => ("builtin/gateway.networking.k8s.io.UDPRoute", gateway::route),
        "BackendTLSPolicy" => ("builtin/gateway.networking.k8s.io.BackendTLSPolicy", gateway::policy),
        "XBackendTrafficPolicy" => {
            ("builtin/gateway.networking.x-k8s.io.XBackendTrafficPolicy", gateway::policy)
        }
        _ => return None,
    };
    Some(Rule { name, judge })
}

/// Kinds that ask for something once.
fn request_rule(group: &str, kind: &str) -> Option<Rule> {
    let (name, judge): (&'static str, fn(Subject) -> Finding) = match (group, kind) {
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            ("builtin/certificates.k8s.io.CertificateSigningRequest", request::signing)
        }
        ("certificates.k8s.io", "PodCertificateRequest") => {
            ("builtin/certificates.k8s.io.PodCertificateRequest", request::certificate)
        }
        ("storagemigration.k8s.io", "StorageVersionMigration") => {
            ("builtin/storagemigration.k8s.io.StorageVersionMigration", request::migration)
        }
        ("resource.k8s.io", "ResourcePoolStatusRequest") => {
            ("builtin/resource.k8s.io.ResourcePoolStatusRequest", request::pool)
        }
        ("lifecycle.k8s.io", "Eviction" | "EvictionRequest") => {
            ("builtin/lifecycle.k8s.io.EvictionRequest", request::eviction)
        }
        _ => return None,
    };
    Some(Rule { name, judge })
}

fn exists_rule(group: &str, kind: &str) -> Option<Rule> {
    exists::listed(group, kind).then_some(Rule { name: exists::RULE, judge: exists::judge })
}

/// `3 replicas`, in one piece: what `format!` begins with a number grows several times.
fn counted(count: i64, what: &str) -> String {
    let mut text = String::with_capacity(what.len().saturating_add(21));
    // Writing to a String can't fail.
    let _ = write!(text, "{count} {what}");
    text
}

/// The first condition that reports a failure by itself.
fn failing<'a>(subject: Subject<'a>) -> Option<&'a Reading<'a>> {
    convention::failing_condition(subject.conditions, subject.dialect)
}

#[cfg(test)]
mod tests {
    use super::rule;

    /// The kinds of Kubernetes 1.37 that can be listed, but those whose conditions say it all.
    const KINDS: &[(&str, &str)] = &[
        ("", "ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume"),
        ("", "PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service"),
        ("", "ServiceAccount"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("apps", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("batch", "CronJob Job"),
        ("certificates.k8s.io", "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest"),
        ("coordination.k8s.io", "Lease LeaseCandidate"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("events.k8s.io", "Event"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema PriorityLevelConfiguration"),
        ("internal.apiserver.k8s.io", "StorageVersion"),
        ("lifecycle.k8s.io", "Eviction EvictionRequest"),
        ("networking.k8s.io", "IPAddress Ingress IngressClass NetworkPolicy"),
        ("node.k8s.io", "RuntimeClass"),
        ("policy", "PodDisruptionBudget"),
        ("rbac.authorization.k8s.io", "ClusterRole ClusterRoleBinding Role RoleBinding"),
        ("resource.k8s.io", "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate"),
        ("resource.k8s.io", "ResourcePoolStatusRequest ResourceSlice"),
        ("scheduling.k8s.io", "CompositePodGroup PodGroup PriorityClass Workload"),
        ("storage.k8s.io", "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment"),
        ("storage.k8s.io", "VolumeAttributesClass"),
        ("storagemigration.k8s.io", "StorageVersionMigration"),
        ("gateway.networking.k8s.io", "BackendTLSPolicy GRPCRoute Gateway GatewayClass HTTPRoute"),
        ("gateway.networking.k8s.io", "ListenerSet ReferenceGrant TCPRoute TLSRoute UDPRoute"),
    ];

    #[test]
    fn every_built_in_kind_has_a_rule() {
        for (group, kinds) in KINDS {
            for kind in kinds.split(' ') {
                let rule = rule(group, kind).unwrap_or_else(|| panic!("{group} {kind}"));
                assert!(rule.name.starts_with("builtin/"), "{}", rule.name);
            }
        }
    }
}
