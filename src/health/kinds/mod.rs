//! What is known of built-in kinds and of our own: a file a family.

mod addon;
mod api;
mod autoscaling;
mod cluster;
mod daemonset;
mod deployment;
mod exists;
mod job;
mod network;
mod pod;
mod replicas;
mod replicaset;
mod statefulset;
mod storage;

use super::{Finding, Subject};

/// How the objects of one kind are judged.
pub(super) struct Rule {
    /// Names the rule in a verdict.
    pub(super) name: &'static str,
    pub(super) judge: fn(Subject) -> Finding,
}

/// The rule of a kind, where one is known.
pub(super) fn rule(group: &str, kind: &str) -> Option<Rule> {
    let (name, judge): (&'static str, fn(Subject) -> Finding) = match (group, kind) {
        ("apps", "Deployment") => ("builtin/apps.Deployment", deployment::judge),
        ("apps", "ReplicaSet") => ("builtin/apps.ReplicaSet", replicaset::judge),
        ("apps", "StatefulSet") => ("builtin/apps.StatefulSet", statefulset::judge),
        ("apps", "DaemonSet") => ("builtin/apps.DaemonSet", daemonset::judge),
        ("", "ReplicationController") => ("builtin/ReplicationController", replicaset::judge),
        ("", "Pod") => ("builtin/Pod", pod::judge),
        ("batch", "Job") => ("builtin/batch.Job", job::job),
        ("batch", "CronJob") => ("builtin/batch.CronJob", job::cron_job),
        ("", "Service") => ("builtin/Service", network::service),
        ("networking.k8s.io", "Ingress") => ("builtin/networking.k8s.io.Ingress", network::ingress),
        ("", "PersistentVolumeClaim") => ("builtin/PersistentVolumeClaim", storage::claim),
        ("", "PersistentVolume") => ("builtin/PersistentVolume", storage::volume),
        ("storage.k8s.io", "VolumeAttachment") => {
            ("builtin/storage.k8s.io.VolumeAttachment", storage::attachment)
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            ("builtin/apiextensions.k8s.io.CustomResourceDefinition", api::definition)
        }
        ("apiregistration.k8s.io", "APIService") => {
            ("builtin/apiregistration.k8s.io.APIService", api::service)
        }
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            ("builtin/certificates.k8s.io.CertificateSigningRequest", api::signing_request)
        }
        ("autoscaling", "HorizontalPodAutoscaler") => {
            ("builtin/autoscaling.HorizontalPodAutoscaler", autoscaling::autoscaler)
        }
        ("policy", "PodDisruptionBudget") => ("builtin/policy.PodDisruptionBudget", autoscaling::budget),
        ("", "Namespace") => ("builtin/Namespace", cluster::namespace),
        ("", "Node") => ("builtin/Node", cluster::node),
        (crate::api::GROUP, "Addon") => ("builtin/addons.x-k8s.io.Addon", addon::judge),
        (group, kind) if exists::listed(group, kind) => (exists::RULE, exists::judge),
        _ => return None,
    };
    Some(Rule { name, judge })
}
