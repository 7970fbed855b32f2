use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Health, Kind, ObjectRef, StatusReporting, text};

/// The types of the conditions of an `Addon`.
pub mod condition {
    /// Summary: every component that counts does its job.
    pub const READY: &str = "Ready";
    /// Something moves towards what was asked for.
    pub const PROGRESSING: &str = "Progressing";
    /// Something fails.
    pub const DEGRADED: &str = "Degraded";
    /// Every kind that holds components could be watched.
    pub const OBSERVED: &str = "Observed";
}

/// How much a component counts.
pub mod importance {
    /// It is shown and never colours.
    pub const INFORMATIONAL: &str = "informational";
    /// It is ill and doesn't colour, as enough others are well.
    pub const SPARE: &str = "spare";
}

/// What names an add-on.
#[allow(clippy::duplicated_attributes, reason = "each printer column has a type of its own")]
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "addons.x-k8s.io",
    version = "v1alpha1",
    kind = "Addon",
    plural = "addons",
    singular = "addon",
    shortname = "addn",
    category = "addon-status",
    status = "AddonStatus",
    derive = "PartialEq",
    doc = "An add-on of the cluster: all objects that carry the label addons.x-k8s.io/<identifier>, and how they are. Written by addon-controller: label objects instead of creating one.",
    selectable = ".status.health",
    printcolumn(
        name = "HEALTH",
        type_ = "string",
        json_path = ".status.health",
        description = "The worst health of the components that count"
    ),
    printcolumn(
        name = "READY",
        type_ = "string",
        json_path = ".status.ready",
        description = "Healthy components of all components"
    ),
    printcolumn(
        name = "REASON",
        type_ = "string",
        json_path = ".status.reason",
        description = "Why, in one word"
    ),
    printcolumn(
        name = "SINCE",
        type_ = "date",
        json_path = ".status.conditions[?(@.type==\"Ready\")].lastTransitionTime",
        description = "When it became ready or stopped being ready"
    ),
    printcolumn(
        name = "AGE",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "Age of this summary"
    ),
    printcolumn(
        name = "COMPONENTS",
        type_ = "integer",
        json_path = ".status.counts.total",
        priority = 1,
        description = "How many components there are"
    ),
    printcolumn(
        name = "VERSION",
        type_ = "string",
        json_path = ".status.version",
        priority = 1,
        description = "What the components say of their version"
    ),
    printcolumn(
        name = "MESSAGE",
        type_ = "string",
        json_path = ".status.message",
        priority = 1,
        description = "Why, in a sentence"
    ),
    printcolumn(
        name = "IDENTIFIER",
        type_ = "string",
        json_path = ".spec.identifier",
        priority = 1,
        description = "The part of the label after the prefix"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct AddonSpec {
    /// The part of the label's key after the prefix. Can't be changed.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"))]
    #[x_kube(validation = Rule::new("self == oldSelf").message("identifier is immutable"))]
    pub identifier: String,
}

impl Addon {
    /// Reads an `Addon` from what a list or a watch gives. A status that can't be read, because somebody
    /// wrote something strange into it, is as if it weren't there; `None` where the rest can't be read.
    pub fn read(mut object: Value) -> Option<Self> {
        let status = object.as_object_mut()?.remove("status");
        let mut addon: Self = serde_json::from_value(object).ok()?;
        addon.status = status.and_then(|status| serde_json::from_value(status).ok());
        Some(addon)
    }
}

/// What the add-on is made of and how it is, as its components were seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonStatus {
    /// Ready (every component that counts does its job), Progressing (something moves), Degraded
    /// (something fails) and Observed (every kind that holds components could be watched).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<AddonCondition>,
    /// The worst health of the components that count: Healthy, Progressing, Degraded, Suspended,
    /// Terminating or Unknown. Read a word that isn't among these as Unknown.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub health: String,
    /// Why, in one CamelCase word: the reason of the worst component.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub reason: String,
    /// Why, in a sentence that names the worst components.
    #[serde(default)]
    #[schemars(length(max = 2048))]
    pub message: String,
    /// Healthy components of all components, such as 12/13.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub ready: String,
    /// How many components there are of each health.
    #[serde(default)]
    pub counts: Counts,
    /// What the components say of their version in the label app.kubernetes.io/version; several are
    /// listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub version: Option<String>,
    /// What rules extracted from the components: a URL, a size, a leader. Where components disagree, all
    /// that they say is listed. Bounded: what doesn't fit is counted in a last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub facts: Vec<Fact>,
    /// The installs that the labels' values tell apart. Left out when no label has a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub installs: Vec<InstallStatus>,
    /// The components, worst first, then by group, kind, namespace and name. Bounded: what doesn't
    /// fit is counted in omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2000), extend("x-kubernetes-list-type" = "atomic"))]
    pub components: Vec<ComponentStatus>,
    /// Components that are left out of the list for its size, never out of the counts.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub omitted: i32,
}

/// One condition of an add-on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddonCondition {
    /// Ready, Progressing, Degraded or Observed.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 316))]
    pub kind: String,
    /// True, False or Unknown.
    #[schemars(length(max = 64))]
    pub status: String,
    /// Why, in one CamelCase word.
    #[schemars(length(min = 1, max = 1024))]
    pub reason: String,
    /// Why, in a sentence. May be empty.
    #[schemars(length(max = 32768))]
    pub message: String,
    /// When the status changed last.
    pub last_transition_time: Time,
    /// The generation of this object that the condition was computed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
}

/// How many components there are of each health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// All of them.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub total: i32,
    /// Those that do their job.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub healthy: i32,
    /// Those that move towards what was asked for.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub progressing: i32,
    /// Those that fail.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub degraded: i32,
    /// Those that were stopped on purpose. They don't colour the whole.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub suspended: i32,
    /// Those that are being deleted.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub terminating: i32,
    /// Those that nobody can tell.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub unknown: i32,
    /// Those among all that are shown and don't colour the whole.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub informational: i32,
}

impl Counts {
    /// The count of those of a health.
    pub fn of(&mut self, health: Health) -> &mut i32 {
        match health {
            Health::Healthy => &mut self.healthy,
            Health::Suspended => &mut self.suspended,
            Health::Terminating => &mut self.terminating,
            Health::Progressing => &mut self.progressing,
            Health::Unknown => &mut self.unknown,
            Health::Degraded => &mut self.degraded,
        }
    }
}

/// Something that a rule read from a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is, such as url.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// What it says.
    #[schemars(length(max = 2048))]
    pub value: String,
}

/// One install of an add-on that is there more than once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallStatus {
    /// The label's value. Empty for the components whose label has none.
    #[schemars(length(max = 256))]
    pub name: String,
    /// The worst health of its components.
    #[schemars(length(max = 64))]
    pub health: String,
    /// Healthy components of all its components.
    #[schemars(length(max = 64))]
    pub ready: String,
}

/// One component: an object that carries the label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentStatus {
    /// API group, empty for the core group.
    #[serde(default)]
    #[schemars(length(max = 512))]
    pub group: String,
    /// The kind, such as Deployment.
    #[schemars(length(max = 512))]
    pub kind: String,
    /// The resource, such as deployments.
    #[schemars(length(max = 512))]
    pub resource: String,
    /// API version.
    #[schemars(length(max = 512))]
    pub version: String,
    /// Empty for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 512))]
    pub namespace: String,
    /// The object's name.
    #[schemars(length(max = 512))]
    pub name: String,
    /// The object's uid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 512))]
    pub uid: String,
    /// The install that it belongs to: the label's value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 256))]
    pub install: String,
    /// How it is.
    #[schemars(length(max = 64))]
    pub health: String,
    /// Why, in one CamelCase word.
    #[schemars(length(max = 256))]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 2048))]
    pub message: String,
    /// Since when, where the object says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// The rule that decided.
    #[schemars(length(max = 512))]
    pub rule: String,
    /// normal; informational: shown, and doesn't colour the whole; or spare: ill, and doesn't colour the
    /// whole, as a StatusRule says how many of its sort are enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub importance: Option<String>,
    /// It changed to and fro between well and ill, at least 4 times within 10 minutes. It stands until
    /// a change that comes later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flapping: Option<ComponentFlapping>,
    /// The object's own conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<ComponentCondition>,
    /// The object further down that explains a bad health.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<ComponentCause>,
}

/// That a component went to and fro.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentFlapping {
    /// How many times it changed between well and ill, 16 at most.
    #[schemars(range(min = 0))]
    pub changes: i32,
    /// When it changed the first of these times.
    pub first: Time,
    /// When it changed last.
    pub last: Time,
}

impl ComponentStatus {
    /// Which object it is. Text in it was cleaned when it was written, and is cleaned again, since
    /// anybody may edit an `Addon`.
    pub fn reference(&self) -> ObjectRef {
        use text::name;
        let kind = Kind {
            group: name(&self.group),
            version: name(&self.version),
            kind: name(&self.kind),
            plural: name(&self.resource),
            namespaced: !self.namespace.is_empty(),
            status: StatusReporting::Unsaid,
        };
        ObjectRef {
            kind: Arc::new(kind),
            namespace: name(&self.namespace).into(),
            name: name(&self.name).into(),
            uid: name(&self.uid).into(),
        }
    }
}

/// A condition of a component, as the object itself reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentCondition {
    /// The condition's type.
    #[serde(rename = "type")]
    #[schemars(length(max = 512))]
    pub kind: String,
    /// True, False or Unknown; another word stands as the object spells it.
    #[schemars(length(max = 512))]
    pub status: String,
    /// Why, in one word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 512))]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 2048))]
    pub message: String,
    /// When the status changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}

/// The object further down that explains the health of a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentCause {
    /// The kind, such as Pod.
    #[schemars(length(max = 512))]
    pub kind: String,
    /// Empty for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 512))]
    pub namespace: String,
    /// The object's name.
    #[schemars(length(max = 512))]
    pub name: String,
    /// Why, in one CamelCase word.
    #[schemars(length(max = 256))]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 2048))]
    pub message: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_strange_status_is_as_if_it_were_not_there() {
        let addon = |status: Value| json!({"metadata": {"name": "dns"}, "spec": {"identifier": "dns"}, "status": status});
        assert_eq!(
            Addon::read(addon(json!({"health": "Healthy"}))).unwrap().status.unwrap().health,
            "Healthy"
        );
        for strange in [json!({"counts": {"total": 1_u64 << 40}}), json!({"components": [{}]}), json!(null)] {
            let read = Addon::read(addon(strange)).unwrap();
            assert_eq!((read.spec.identifier.as_str(), read.status), ("dns", None));
        }
    }

    #[test]
    fn what_is_no_addon_is_not_read() {
        for other in [json!({}), json!(1), json!({"metadata": {"name": "dns"}, "spec": {}})] {
            assert!(Addon::read(other).is_none());
        }
    }

    #[test]
    fn nothing_empty_is_sent() {
        let addon = Addon::new("dns", AddonSpec { identifier: "dns".into() });
        assert!(serde_json::to_value(&addon).unwrap().get("status").is_none());
        let status = serde_json::to_value(AddonStatus::default()).unwrap();
        assert!(status.as_object().unwrap().values().all(|value| !value.is_null() && !value.is_array()));
    }
}
