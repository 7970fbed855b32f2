//! `StatusRule`: how to read the health of a kind, which facts to extract from it, where its cause
//! is found, and how the components of named add-ons combine.
//!
//! The built-in rules under `rules/` are lists of the same specs, without the resource around them.

use std::borrow::Cow;

use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"))]
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

/// A test of one condition or one field, or of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Test {
    /// A condition type that must be there. It must be True unless status says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 316))]
    pub condition: Option<String>,
    /// The statuses that the condition may have.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub status: OneOrMany,
    /// The reasons that the condition may have.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub reason: OneOrMany,
    /// Reasons that the condition must not have.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub reason_not: OneOrMany,
    /// Text of which the message of the condition must contain one, in any case.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub message: OneOrMany,
    /// A path to a field, such as status.phase, metadata.annotations[example.org/x] or
    /// status.items[0].name. Without any of the tests below the field must be there and not be
    /// empty, false or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub path: Option<String>,
    /// The values that the field may have.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_list")]
    pub one_of: Option<Vec<Value>>,
    /// Text of which the field must contain one, in any case.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub contains: OneOrMany,
    /// Whether the field must be there (anything but null) or must not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// A number, or the path to one, that the field must reach. A field that isn't there is 0;
    /// a path that leads nowhere fails the test, unless it is written with the number that holds
    /// then: {path: spec.replicas, or: 1}.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "anything")]
    pub at_least: Option<Value>,
    /// A number, or the path to one, that the field must stay below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "anything")]
    pub below: Option<Value>,
    /// Tests of which one must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "nested_list")]
    pub any: Vec<Test>,
    /// Tests of which none may hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "nested_list")]
    pub none: Vec<Test>,
    /// A list or a map of which one item passes all tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "nested")]
    pub some: Option<Box<Items>>,
    /// A list or a map that isn't empty and of which every item passes all tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "nested")]
    pub every: Option<Box<Items>>,
}

/// The items of a list or a map in an object. Within the tests conditions and paths are those of
/// the item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Items {
    /// The path to the list or map.
    pub at: String,
    /// What an item must pass.
    #[serde(default, rename = "where")]
    pub tests: Vec<Test>,
}

/// One word, or several of which one is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "must be text or a list of texts: True, False and numbers stand in quotes")]
pub enum OneOrMany {
    /// None.
    #[default]
    #[serde(skip)]
    None,
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// Whether no word is given.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// The words.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(word) => std::slice::from_ref(word),
            Self::Many(words) => words,
        }
    }
}

impl JsonSchema for OneOrMany {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"x-kubernetes-preserve-unknown-fields": true})
    }
}

/// What the words of one field mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PhaseTable {
    /// The path to the field.
    #[schemars(length(max = 256))]
    pub at: String,
    /// It does its job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub healthy: Vec<String>,
    /// It moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub progressing: Vec<String>,
    /// It fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub degraded: Vec<String>,
    /// It was stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub suspended: Vec<String>,
    /// It goes away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub terminating: Vec<String>,
    /// It can't be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub unknown: Vec<String>,
    /// What any other word means. Without it the common vocabulary is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Word>,
    /// Where the object says why: the first path that holds text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"))]
    pub message_at: Vec<String>,
}

/// What condition types mean. Types that aren't listed mean what they mean everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConditionRoles {
    /// True is the word for the whole object. The first that is there counts most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub summary: Vec<String>,
    /// True is good, and says nothing about the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub positive: Vec<String>,
    /// True is bad.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub negative: Vec<String>,
    /// True: it moves towards what was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub activity: Vec<String>,
    /// True: something is made anew while the old still serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub renewal: Vec<String>,
    /// True: it was stopped on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub pause: Vec<String>,
    /// Says nothing about health.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub neutral: Vec<String>,
    /// Whether every type that isn't listed is neutral.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
}

/// What reasons tell about a condition that isn't met. Reasons that aren't listed are read as words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReasonTones {
    /// Something was tried and failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub failing: Vec<String>,
    /// It is on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub moving: Vec<String>,
    /// It was stopped on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub paused: Vec<String>,
    /// What was to be done is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub done: Vec<String>,
    /// Any other reason of a summary that is False tells of a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others_failing: bool,
}

/// Something to show of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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

/// How the components of named add-ons combine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub names: Vec<String>,
    /// Namespaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub namespaces: Vec<String>,
    /// Values of the label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub installs: Vec<String>,
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

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

fn any_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "maxItems": 64, "items": {"x-kubernetes-preserve-unknown-fields": true}, "x-kubernetes-list-type": "atomic"})
}

// A schema of a resource can't refer to itself: what is nested is checked by the controller.
fn nested(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn nested_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "maxItems": 16, "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}, "x-kubernetes-list-type": "atomic"})
}
