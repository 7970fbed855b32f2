use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Word,
    schema::{paths, words},
};

/// What the words of one field mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PhaseTable {
    /// The path to the field.
    #[schemars(length(max = 256))]
    pub at: String,
    /// It does its job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub healthy: Vec<String>,
    /// It moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub progressing: Vec<String>,
    /// It fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub degraded: Vec<String>,
    /// It was stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub suspended: Vec<String>,
    /// It goes away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub terminating: Vec<String>,
    /// It can't be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub unknown: Vec<String>,
    /// What any other word means. Without it the common vocabulary is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Word>,
    /// Where the object says why: the first path that holds text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "paths")]
    pub message_at: Vec<String>,
}

/// What condition types mean. Types that aren't listed mean what they mean everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConditionRoles {
    /// True is the word for the whole object. The first that is there counts most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub summary: Vec<String>,
    /// True is good, and says nothing about the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub positive: Vec<String>,
    /// True is bad.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub negative: Vec<String>,
    /// True: it moves towards what was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub activity: Vec<String>,
    /// True: something is made anew while the old still serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub renewal: Vec<String>,
    /// True: it was stopped on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub pause: Vec<String>,
    /// Says nothing about health.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
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
    #[schemars(schema_with = "words")]
    pub failing: Vec<String>,
    /// It is on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub moving: Vec<String>,
    /// It was stopped on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub paused: Vec<String>,
    /// What was to be done is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words")]
    pub done: Vec<String>,
    /// Any other reason of a summary that is False tells of a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others_failing: bool,
}
