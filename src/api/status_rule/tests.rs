//! What the API server refuses by the expressions in the schema, as far as another interpreter than its
//! own can tell.
#![allow(clippy::expect_used)]

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::LazyLock};

use cel::{Context, Program};
use serde_json::{Value, json};

use crate::{
    api::status_rule_crd,
    health::{builtin_files, read_text},
};

/// The schema of a spec.
fn schema() -> Value {
    let crd = serde_json::to_value(status_rule_crd()).expect("JSON");
    crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").expect("a schema").clone()
}

/// Each expression is compiled once: that is slow.
fn compiled(source: &str) -> Rc<Program> {
    thread_local! {
        static KNOWN: RefCell<HashMap<String, Rc<Program>>> = RefCell::default();
    }
    let compile = || Rc::new(Program::compile(source).expect("an expression"));
    KNOWN.with_borrow_mut(|known| Rc::clone(known.entry(source.to_owned()).or_insert_with(compile)))
}

/// What the expressions of a schema have against a value, with the places.
fn refusals(schema: &Value, value: &Value, at: &str, refused: &mut Vec<String>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let text = |field: &str| rule[field].as_str().expect("text");
        let program = compiled(text("rule"));
        let mut context = Context::default();
        context.add_variable("self", value).expect("a value");
        match program.execute(&context).expect("an answer") {
            cel::Value::Bool(true) => {}
            cel::Value::Bool(false) => refused.push(format!("{at}: {}", text("message"))),
            other => panic!("{at}: {other:?}"),
        }
    }
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                refusals(&schema["properties"][field], value, &format!("{at}.{field}"), refused);
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                refusals(&schema["items"], item, &format!("{at}[{n}]"), refused);
            }
        }
        _ => {}
    }
}

fn refused(spec: &Value) -> Vec<String> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    let mut refused = Vec::new();
    refusals(&SCHEMA, spec, "spec", &mut refused);
    refused
}

#[test]
fn what_contradicts_itself_is_refused_by_the_api_server() {
    let kind = json!({"group": "lab.example", "kind": "Gear"});
    let with = |field: &str, value: Value| json!({"match": kind, field: value});
    let row = |test: Value| with("rows", json!([{"verdict": "Healthy", "if": [test]}]));
    let combine = |quorum: Value| json!({"combine": {"identifiers": ["a"], "quorums": [quorum]}});
    let items = json!({"at": "status.x", "where": [{"path": "y"}]});
    let one = "spec.rows[0].if[0]: a test has exactly one of condition, path, any, none, some and every";
    for (spec, told) in [
        (json!({}), "spec: a rule has match, combine or both"),
        (json!({"match": kind}), "spec: match names the kinds that "),
        (json!({"match": kind, "combine": {"identifiers": ["a"], "quorums": []}}), "spec: match names "),
        (json!({"deadline": "1h", "combine": {"identifiers": ["a"], "quorums": []}}), "spec: match names "),
        (json!({"match": {"kind": "A", "kinds": ["B"]}, "deadline": "1h"}), "spec.match: give kind or kinds"),
        (row(json!({})), one),
        (row(json!({"condition": "Ready", "path": "status.x"})), one),
        (row(json!({"path": "status.x", "any": [{"path": "status.y"}]})), one),
        (row(json!({"some": items, "every": items})), one),
        (row(json!({"condition": "Ready", "exists": true})), "spec.rows[0].if[0]: exists belongs to a path"),
        (
            with("rows", json!([{"verdict": "Degraded", "deadline": "1h"}])),
            "spec.rows[0]: a deadline is for the verdict Progressing",
        ),
        (with("facts", json!([{"name": "a"}])), "spec.facts[0]: a fact has either at or value"),
        (with("facts", json!([{"name": "a", "at": "x", "value": "y"}])), "spec.facts[0]: a fact has either"),
        (with("causes", json!([{"kind": "Pod"}])), "spec.causes[0]: a cause has at, or named, or owned"),
        (
            with("causes", json!([{"at": "spec.x", "named": true}])),
            "spec.causes[0]: a cause has at, or named",
        ),
        (with("causes", json!([{"owned": true}])), "spec.causes[0]: owned and labels go with a kind"),
        (
            json!({"combine": {"identifiers": ["a"]}}),
            "spec.combine: combine has quorums, informational or both",
        ),
        (
            combine(json!({"by": "Install", "atLeast": 3, "select": {"installs": ["x", "y"]}})),
            "spec.combine.quorums[0]: atLeast is more than the installs that are selected",
        ),
    ] {
        let refused = refused(&spec);
        assert!(
            refused.len() == 1 && refused[0].starts_with(told),
            "{spec}\n  expected {told}\n  actual {refused:?}"
        );
    }
    for sensible in [
        with("deadline", json!("1h")),
        row(json!({"path": "status.x", "exists": false})),
        with("rows", json!([{"verdict": "Progressing", "deadline": "1h"}, {"verdict": "Healthy"}])),
        with(
            "causes",
            json!([{"kind": "Pod", "owned": true, "labels": {"a": "b"}}, {"at": "spec.x", "named": false}]),
        ),
        combine(json!({"atLeast": 3})),
        combine(json!({"by": "Install", "atLeast": 2, "select": {"installs": []}})),
    ] {
        assert!(refused(&sensible).is_empty(), "{sensible}: {:?}", refused(&sensible));
    }
}

#[test]
fn no_built_in_rule_would_be_refused_by_the_api_server() {
    for (file, text) in builtin_files() {
        for written in read_text(file, text).expect("rules") {
            let spec = serde_json::to_value(&written.spec).expect("JSON");
            assert!(refused(&spec).is_empty(), "{file}:{}: {:?}", written.line, refused(&spec));
        }
    }
}
