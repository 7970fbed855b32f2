#![allow(clippy::expect_used, clippy::unwrap_used)]

mod answers;
mod bounds;
mod hostile;
mod refusals;

use serde_json::{Value, json};

use super::{EvalError, Program};
use crate::{
    health::{conditions, dialect::Dialect, subject::Subject, testing::object_of},
    model::StatusReporting,
};

/// What `ask` says of the object of which `rest` is everything but its kind and name.
fn with<T>(mut rest: Value, ask: impl FnOnce(Subject) -> T) -> T {
    rest["apiVersion"] = "lab.example/v1".into();
    rest["kind"] = "Widget".into();
    if !rest["metadata"].is_object() {
        rest["metadata"] = json!({});
    }
    rest["metadata"]["name"] = "w".into();
    rest["metadata"]["namespace"] = "lab".into();
    let object = object_of(&rest, StatusReporting::Unsaid);
    let readings = conditions::read(object.status.get("conditions"));
    ask(Subject { object: &object, conditions: &readings, dialect: &Dialect::default() })
}

fn program(expression: &str) -> Program {
    Program::compile(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

fn yaml(text: &str) -> Value {
    match serde_saphyr::from_str(text).expect("YAML") {
        Value::Null => json!({}),
        value => value,
    }
}

fn holds(object: &str, expression: &str) -> Result<bool, EvalError> {
    with(yaml(object), |subject| program(expression).holds(subject))
}

fn text(object: &str, expression: &str) -> Result<Option<String>, EvalError> {
    with(yaml(object), |subject| program(expression).text(subject))
}
