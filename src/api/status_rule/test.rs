use std::borrow::Cow;

use kube::KubeSchema;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::{any_list, anything, nested, nested_list};

/// A test of one condition, of one field, or of several tests: exactly one of condition, path, any,
/// none, some and every.
// The API server's expressions know no field that may be of several types: the controller checks those.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(
    validation = (
        "(has(self.condition) ? 1 : 0) + (has(self.path) ? 1 : 0) + (has(self.any) ? 1 : 0) + \
         (has(self.none) ? 1 : 0) + (has(self.some) ? 1 : 0) + (has(self.every) ? 1 : 0) == 1",
        "a test has exactly one of condition, path, any, none, some and every: write a test for each"
    ),
    validation = ("!has(self.exists) || has(self.path)", "exists belongs to a path")
)]
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
