//! `StatusRule`: how to read the health of a kind, which facts to extract from it, where its cause
//! is found, and how the components of named add-ons combine.
//!
//! The built-in rules under `rules/` are lists of the same specs, without the resource around them.

mod combine;
mod schema;
mod tables;
mod test;
#[cfg(test)]
mod tests;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::schema::paths;
pub use self::{
    combine::{Combine, CountBy, Quorum, Select},
    tables::{ConditionRoles, PhaseTable, ReasonTones},
    test::{Items, OneOrMany, Test},
};
use super::AddonCondition;
use crate::model::Health;

/// The words of the condition of a `StatusRule`.
pub mod accepted {
    /// The type: whether the rule is in force.
    pub const TYPE: &str = "Accepted";
    /// It is.
    pub const ACCEPTED: &str = "Accepted";
    /// It makes no sense.
    pub const INVALID: &str = "Invalid";
    /// An older one decides the same.
    pub const CONFLICT: &str = "Conflict";
    /// There are too many older ones.
    pub const TOO_MANY: &str = "TooMany";
    /// It was slow or failed again and again.
    pub const SWITCHED_OFF: &str = "SwitchedOff";
}

/// How to judge a kind, and how the components of add-ons combine.
#[allow(clippy::duplicated_attributes, reason = "each printer column has a type of its own")]
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "addons.x-k8s.io",
    version = "v1alpha1",
    kind = "StatusRule",
    plural = "statusrules",
    singular = "statusrule",
    shortname = "strule",
    category = "addon-status",
    status = "StatusRuleStatus",
    derive = "PartialEq",
    doc = "How addon-controller reads the health of a kind, which facts it extracts, and how the components of named add-ons combine. It goes before the built-in rule of the same kind.",
    printcolumn(
        name = "GROUP",
        type_ = "string",
        json_path = ".spec.match.group",
        description = "The API group of the kinds"
    ),
    printcolumn(name = "KIND", type_ = "string", json_path = ".spec.match.kind", description = "The kind"),
    printcolumn(
        name = "ACCEPTED",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].status",
        description = "Whether the rule is in force"
    ),
    printcolumn(
        name = "REASON",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].reason",
        description = "Why, in one word"
    ),
    printcolumn(
        name = "AGE",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "Age of this rule"
    ),
    printcolumn(
        name = "MESSAGE",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].message",
        priority = 1,
        description = "Why, in a sentence"
    )
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(
    validation = ("has(self.match) || has(self.combine)", "a rule has match, combine or both"),
    validation = (
        "has(self.match) == (has(self.deadline) || has(self.observedGeneration) || has(self.empty) || \
         has(self.suspension) || has(self.rows) || has(self.phases) || has(self.conditions) || \
         has(self.reasons) || has(self.facts) || has(self.causes))",
        "match names the kinds that deadline, observedGeneration, empty, suspension, rows, phases, \
         conditions, reasons, facts and causes are of: none of them goes without match, nor it without any"
    )
)]
pub struct StatusRuleSpec {
    /// The kinds that the rule is for. Left out where it only combines.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<KindMatch>,
    /// How long an object may be Progressing before it is Degraded, such as 30m or 2h, or never.
    /// 10 minutes by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub deadline: Option<String>,
    /// Where the status says which generation it is of; none where it can't be told.
    /// status.observedGeneration by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub observed_generation: Option<String>,
    /// The verdict on an object without a status. Progressing by default, then Unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Word>,
    /// Whether the flags, annotations and conditions that stop objects of many kinds stop this one:
    /// spec.suspend, spec.paused and the like. They go before the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Verdicts in order: the first whose tests all hold decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub rows: Vec<Row>,
    /// Words of state, where no row decides. A Healthy word doesn't hide a condition that fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub phases: Vec<PhaseTable>,
    /// What the condition types of this kind mean, where neither a row nor a phase decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<ConditionRoles>,
    /// What the reasons in the conditions of this kind tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<ReasonTones>,
    /// What to show of the objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub facts: Vec<FactRule>,
    /// Where to look for the cause of a bad health, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub causes: Vec<CauseRule>,
    /// How the components of named add-ons combine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combine: Option<Combine>,
}

/// Which kinds a rule is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("!(has(self.kind) && has(self.kinds))", "give kind or kinds, not both"))]
pub struct KindMatch {
    /// API group, empty for the core group. `*.example.org` is every group that ends so.
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub group: String,
    /// The kind. All of the group where neither kind nor kinds is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub kind: Option<String>,
    /// The kinds, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "atomic"))]
    pub kinds: Vec<String>,
}

/// A word for health in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Word {
    /// It does its job.
    #[serde(alias = "Ready")]
    Healthy,
    /// It moves towards what was asked for.
    Progressing,
    /// It fails.
    Degraded,
    /// It was stopped on purpose.
    Suspended,
    /// It goes away.
    Terminating,
    /// It can't be told.
    Unknown,
}

impl From<Word> for Health {
    fn from(word: Word) -> Self {
        match word {
            Word::Healthy => Self::Healthy,
            Word::Progressing => Self::Progressing,
            Word::Degraded => Self::Degraded,
            Word::Suspended => Self::Suspended,
            Word::Terminating => Self::Terminating,
            Word::Unknown => Self::Unknown,
        }
    }
}

/// Whether the flags that stop objects of many kinds count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Suspension {
    /// They do.
    #[default]
    Common,
    /// They don't: what stops this kind stands in rows.
    Rows,
}

/// One verdict, and when it is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = (
    "!has(self.deadline) || self.verdict == 'Progressing'",
    "a deadline is for the verdict Progressing"
))]
pub struct Row {
    /// The verdict.
    pub verdict: Word,
    /// Tests that must all hold. Without any, and without when, the row always decides.
    #[serde(default, rename = "if", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub tests: Vec<Test>,
    /// A CEL expression that must be true, for what tests can't say. It knows metadata, spec and
    /// status, cond(type), phase() and gen().
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub when: Option<String>,
    /// Why, in one CamelCase word. By default the reason of the condition or the word that was
    /// tested first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub reason: Option<String>,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub message: Option<String>,
    /// Where the object says why: the first path that holds text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "paths")]
    pub message_at: Vec<String>,
    /// Where the object says since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub since_at: Option<String>,
    /// How long this may last before it is Degraded, in place of the rule's own deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub deadline: Option<String>,
}

/// Something to show of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("has(self.at) != has(self.value)", "a fact has either at or value"))]
pub struct FactRule {
    /// What it is, such as url.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The path to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub at: Option<String>,
    /// A CEL expression that gives it, where no path does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub value: Option<String>,
}

/// Other objects in which the cause of a bad health is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(
    validation = (
        "(has(self.at) ? 1 : 0) + (has(self.named) && self.named ? 1 : 0) + \
         ((has(self.owned) && self.owned) || (has(self.labels) && size(self.labels) > 0) ? 1 : 0) == 1",
        "a cause has at, or named, or owned and labels"
    ),
    validation = (
        "has(self.kind) || !((has(self.owned) && self.owned) || (has(self.labels) && size(self.labels) > 0))",
        "owned and labels go with a kind"
    )
)]
pub struct CauseRule {
    /// API group of the other object, empty for the core group. A reference that names its own goes
    /// before.
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub group: String,
    /// Kind of the other object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub kind: Option<String>,
    /// The path to a reference (an object with a name, and maybe kind, apiVersion or group and
    /// namespace), to a list of them, or to a name or namespace/name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub at: Option<String>,
    /// Objects of the kind in the same namespace whose controller this one is; the newest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owned: bool,
    /// Labels that such objects have; {name} and {namespace} stand for this object's.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub labels: std::collections::BTreeMap<String, String>,
    /// The objects that the conditions' messages name, such as Deployment/lab/web.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
}

/// Whether the rule is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusRuleStatus {
    /// Accepted: the rule is in force, or why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<AddonCondition>,
}
