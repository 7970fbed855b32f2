use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema::words;

/// How the components of named add-ons combine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = (
    "has(self.quorums) || has(self.informational)",
    "combine has quorums, informational or both"
))]
pub struct Combine {
    /// The identifiers of the add-ons.
    #[schemars(length(min = 1, max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub identifiers: Vec<String>,
    /// The components of which only some must be healthy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub quorums: Vec<Quorum>,
    /// Components that are shown and never colour the add-on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub informational: Vec<Select>,
}

/// Some of many that are enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = (
    "!(has(self.by) && self.by == 'Install' && has(self.select) && has(self.select.installs)) || \
     size(self.select.installs) == 0 || self.atLeast <= size(self.select.installs)",
    "atLeast is more than the installs that are selected"
))]
pub struct Quorum {
    /// Which components.
    #[serde(default)]
    pub select: Select,
    /// What is counted: components, or installs (the values of the label), each healthy where all
    /// its selected components are.
    #[serde(default)]
    pub by: CountBy,
    /// What messages call what is counted, such as zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub name: Option<String>,
    /// How many healthy ones are enough. Where there are fewer at all, the add-on is Degraded.
    // The API server knows no unsigned numbers.
    #[schemars(range(min = 1, max = 10000), extend("format" = "int32"))]
    pub at_least: u32,
}

/// What a quorum counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CountBy {
    /// Components.
    #[default]
    Component,
    /// Installs.
    Install,
}

/// Which components of an add-on: those that fit everything that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Select {
    /// API group; any where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub group: Option<String>,
    /// Kind; any where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub kind: Option<String>,
    /// Names, with * for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub names: Vec<String>,
    /// Namespaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub namespaces: Vec<String>,
    /// Values of the label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub installs: Vec<String>,
}
