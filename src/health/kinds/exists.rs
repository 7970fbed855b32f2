use super::failing;
use crate::{
    health::{Finding, Subject},
    model::Health,
};

pub(super) const RULE: &str = "builtin/exists";

/// Built-in kinds that are well because they exist: they report nothing, or a status that stays
/// empty in practice although discovery names a status subresource.
pub(super) fn listed(group: &str, kind: &str) -> bool {
    let kinds: &[&str] = match group {
        "" => &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "PodTemplate",
            "ResourceQuota",
            "Secret",
            "ServiceAccount",
        ],
        "admissionregistration.k8s.io" => {
            &["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"]
        }
        "apps" => &["ControllerRevision"],
        "certificates.k8s.io" => &["ClusterTrustBundle"],
        "coordination.k8s.io" => &["Lease", "LeaseCandidate"],
        "discovery.k8s.io" => &["EndpointSlice"],
        "events.k8s.io" => &["Event"],
        "flowcontrol.apiserver.k8s.io" => &["FlowSchema", "PriorityLevelConfiguration"],
        "gateway.networking.k8s.io" | "gateway.networking.x-k8s.io" => &["ReferenceGrant"],
        "internal.apiserver.k8s.io" => &["StorageVersion"],
        "metrics.k8s.io" => &["NodeMetrics", "PodMetrics"],
        "networking.k8s.io" => &["IPAddress", "IngressClass", "NetworkPolicy"],
        "node.k8s.io" => &["RuntimeClass"],
        "policy" => &["PodSecurityPolicy"],
        "rbac.authorization.k8s.io" => &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        "resource.k8s.io" => &["DeviceClass", "DeviceTaintRule", "ResourceClaimTemplate", "ResourceSlice"],
        "scheduling.k8s.io" => &["CompositePodGroup", "PodGroup", "PriorityClass", "Workload"],
        "storage.k8s.io" => {
            &["CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttributesClass"]
        }
        _ => return false,
    };
    kinds.contains(&kind)
}

/// Healthy, unless one of its conditions reports a failure.
pub(super) fn judge(subject: Subject) -> Finding {
    match failing(subject) {
        Some(condition) => Finding::of(Health::Degraded, condition),
        None => Finding::healthy("Exists"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        health::{
            judge,
            testing::{check, object_of},
        },
        model::{Health, StatusReporting},
    };

    #[test]
    fn kinds_without_a_say_are_well_whatever_discovery_claims() {
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("v1", "ResourceQuota"),
            ("v1", "ServiceAccount"),
            ("networking.k8s.io/v1", "NetworkPolicy"),
            ("networking.k8s.io/v1", "IngressClass"),
            ("storage.k8s.io/v1", "CSIDriver"),
            ("scheduling.k8s.io/v1", "PriorityClass"),
            ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ] {
            let object =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "status": {}});
            let verdict = judge(&object_of(&object, StatusReporting::Yes), &crate::health::Rules::builtin())
                .timeline
                .first;
            assert_eq!((verdict.health, &*verdict.reason), (Health::Healthy, "Exists"), "{kind}");
        }
    }

    #[test]
    fn a_flow_schema_may_dangle() {
        check(
            "flowcontrol.apiserver.k8s.io/v1",
            "FlowSchema",
            &[
                (
                    "{status: {conditions: [{type: Dangling, status: 'False', reason: Found}]}}",
                    "Healthy Exists",
                ),
                (
                    "{status: {conditions: [{type: Dangling, status: 'True', reason: NotFound, message: no such level}]}}",
                    "Degraded NotFound: no such level",
                ),
            ],
        );
    }
}
