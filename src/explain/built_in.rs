//! Where the cause lies for the kinds of Kubernetes itself.

use serde_json::Value;

use super::{
    State,
    lead::{Bond, DefaultReference, Lead, Listing, Named, Pick, Target, is_name},
    selector::Selector,
};
use crate::model::{GroupKind, Health, Object, ObjectRef, Verdict, decode::text_at};

const API_SERVICES: &str = "apiregistration.k8s.io";
const GATEWAY: &str = "gateway.networking.k8s.io";

/// The objects in which the cause may lie that `object` is as `verdict` says.
pub(super) fn leads(object: &Object, state: State<'_>) -> Vec<Lead> {
    let reference = &object.reference;
    match (&*reference.kind.group, &*reference.kind.kind) {
        ("apps", "Deployment") => {
            vec![Lead::made("its ReplicaSet", "apps", "ReplicaSet", reference, selector(object))]
        }
        ("apps", "ReplicaSet" | "StatefulSet" | "DaemonSet") => {
            vec![Lead::made("its pod", "", "Pod", reference, selector(object))]
        }
        ("", "ReplicationController") => {
            let selector = Selector::of_labels(object.spec.get("selector")).unwrap_or_default();
            vec![Lead::made("its pod", "", "Pod", reference, selector)]
        }
        ("batch", "Job") => {
            vec![Lead { pick: Pick::Ended, ..Lead::made("its pod", "", "Pod", reference, selector(object)) }]
        }
        ("batch", "CronJob") => vec![Lead {
            pick: Pick::Ended,
            ..Lead::made("its Job", "batch", "Job", reference, Selector::default())
        }],
        ("", "Pod") => pod(object, state),
        ("", "PersistentVolumeClaim") => claim(object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler(object, state),
        ("policy", "PodDisruptionBudget") => {
            Selector::of(object.spec.get("selector")).map(|by| selected(reference, by)).into_iter().collect()
        }
        (API_SERVICES, "APIService") => {
            object.spec.get("service").and_then(|service| behind(service, reference)).into_iter().collect()
        }
        // Whether it has an address doesn't depend on its pods.
        ("", "Service") if state.health() != Health::Healthy => Vec::new(),
        ("", "Service") => {
            let selector = Selector::of_labels(object.spec.get("selector")).filter(|by| !by.is_empty());
            selector.map(|by| selected(reference, by)).into_iter().collect()
        }
        (GATEWAY, "Gateway") => {
            let class = text_at(&object.spec, "gatewayClassName").filter(|class| is_name(class));
            let lead = |class| Lead::needs("its class", Named::new(GATEWAY, "GatewayClass", "", class));
            class.map(lead).into_iter().collect()
        }
        (GATEWAY, _) => parents(object),
        _ => Vec::new(),
    }
}

/// Whether what controllers reported in events may be the cause.
pub(super) fn asks_events(object: &Object, state: State<'_>) -> bool {
    let kind = &object.reference.kind;
    match (&*kind.group, &*kind.kind) {
        // The scheduler's reason is a condition.
        ("", "Pod") => is_stuck(state) && !is_unscheduled(state),
        ("apps", "ReplicaSet" | "StatefulSet" | "DaemonSet")
        | ("", "ReplicationController" | "PersistentVolumeClaim")
        | ("batch", "Job") => true,
        // What fails says why itself.
        _ => state.health() != Health::Degraded,
    }
}

/// Whether an object in this state is only a link to what lies behind it, and explains nothing by
/// itself: what it says is what its owner says already, or what any start looks like.
pub(super) fn is_link(object: &ObjectRef, state: State<'_>) -> bool {
    match (&*object.kind.group, &*object.kind.kind) {
        ("apps", "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job") => {
            state.health() != Health::Degraded
        }
        ("", "Pod") => state.health() != Health::Degraded && !is_unscheduled(state),
        _ => is_guess(object, state.verdict),
    }
}

/// Whether `object` doesn't tell by itself whether anything is wrong, and this is the better case: a
/// claim may wait for its first consumer, or for a class that isn't there.
pub(super) fn is_guess(object: &ObjectRef, verdict: &Verdict) -> bool {
    (&*object.kind.group, &*object.kind.kind) == ("", "PersistentVolumeClaim")
        && verdict.reason == "WaitingForConsumer"
}

/// A pod that waits, other than for a container that can't start or crashes: that is the last cause.
fn is_stuck(state: State<'_>) -> bool {
    const REASONS: [&str; 6] = [
        "ContainersNotInitialized",
        "ContainersNotReady",
        "NotReady",
        "NotYetObserved",
        "ReadinessGatesNotReady",
        "Ready",
    ];
    state.health() == Health::Unknown || is_unscheduled(state) || REASONS.contains(&state.reason)
}

fn is_unscheduled(state: State<'_>) -> bool {
    matches!(state.reason, "Unschedulable" | "SchedulingGated" | "SchedulerError")
}

fn selector(object: &Object) -> Selector {
    Selector::of(object.spec.get("selector")).unwrap_or_default()
}

/// The pods that something selects without owning them.
fn selected(by: &ObjectRef, selector: Selector) -> Lead {
    let listing = Listing {
        kind: GroupKind { group: String::new(), kind: "Pod".to_owned() },
        namespace: by.namespace.to_string(),
        selector,
        owner: None,
    };
    let lacking = Some("no pod has the labels that it selects");
    Lead { lacking, ..Lead::new("a pod that it selects", Target::Many(listing), Bond::Made) }
}

fn pod(pod: &Object, state: State<'_>) -> Vec<Lead> {
    if !is_stuck(state) {
        return Vec::new();
    }
    let reference = &pod.reference;
    let namespace = &reference.namespace;
    let volumes = pod.spec.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let claims = volumes.filter_map(|volume| match volume.get("persistentVolumeClaim") {
        Some(claim) => Some(text_at(claim, "claimName")?.to_owned()),
        None => volume
            .get("ephemeral")
            .and_then(|_| Some(format!("{}-{}", reference.name, text_at(volume, "name")?))),
    });
    let mut leads: Vec<Lead> = claims
        .filter(|claim| is_name(claim))
        .map(|claim| Lead::needs("its claim", Named::new("", "PersistentVolumeClaim", namespace, &claim)))
        .collect();
    if let Some(node) = text_at(&pod.spec, "nodeName").filter(|node| is_name(node)) {
        leads.push(Lead::needs("its node", Named::new("", "Node", "", node)));
    }
    leads
}

fn claim(claim: &Object) -> Vec<Lead> {
    let field = |name: &str| text_at(&claim.spec, name).filter(|name| is_name(name));
    let class = field("storageClassName").map(|class| {
        Lead::needs("its storage class", Named::new("storage.k8s.io", "StorageClass", "", class))
    });
    let volume = field("volumeName")
        .map(|volume| Lead::needs("its volume", Named::new("", "PersistentVolume", "", volume)));
    class.into_iter().chain(volume).collect()
}

/// The APIs that serve metrics: what a message or a reason says of each, and the APIService.
const METRICS: [(&str, &str, &[&str]); 3] = [
    (
        "custom metrics API",
        "FailedGetPodsMetric FailedGetObjectMetric",
        &["v1beta2.custom.metrics.k8s.io", "v1beta1.custom.metrics.k8s.io"],
    ),
    ("external metrics API", "FailedGetExternalMetric", &["v1beta1.external.metrics.k8s.io"]),
    (
        "resource metrics API",
        "FailedGetResourceMetric FailedGetContainerResourceMetric",
        &["v1beta1.metrics.k8s.io"],
    ),
];

fn autoscaler(autoscaler: &Object, state: State<'_>) -> Vec<Lead> {
    let reference = &autoscaler.reference;
    let default = DefaultReference { group: "", kind: None, namespace: &reference.namespace };
    let target =
        autoscaler.spec.get("scaleTargetRef").and_then(|target| Named::of_reference(target, &default));
    let target = target.map(|target| Lead::needs("what it scales", target));
    let by_message = METRICS.iter().find(|(name, ..)| state.verdict.message.contains(name));
    let by_reason = || METRICS.iter().find(|(_, reasons, _)| reasons.split(' ').any(|r| r == state.reason));
    let metrics = by_message.or_else(by_reason).map(|(_, _, names)| {
        let mut named = Named::new(API_SERVICES, "APIService", "", "");
        named.names = names.iter().map(|name| (*name).to_owned()).collect();
        Lead::needs("the API of its metrics", named)
    });
    metrics.into_iter().chain(target).collect()
}

/// What a route or a set of listeners is attached to.
fn parents(object: &Object) -> Vec<Lead> {
    let default =
        DefaultReference { group: GATEWAY, kind: Some("Gateway"), namespace: &object.reference.namespace };
    let references = object.spec.get("parentRefs").and_then(Value::as_array).into_iter().flatten();
    let references = references.chain(object.spec.get("parentRef"));
    references
        .filter_map(|parent| Named::of_reference(parent, &default))
        .map(|parent| Lead::new("what it is attached to", Target::One(parent), Bond::Refers))
        .collect()
}

/// The Service that a `{namespace, name}` names.
fn behind(service: &Value, of: &ObjectRef) -> Option<Lead> {
    let default = DefaultReference { group: "", kind: Some("Service"), namespace: &of.namespace };
    let named = Named::of_reference(service, &default).filter(|_| service.is_object())?;
    Some(Lead::new("the Service behind it", Target::One(named), Bond::Through))
}
