//! What is generated from the code and committed: a difference fails, `make generate` writes it anew.
#![allow(clippy::expect_used)]

use std::{env, fs, path::Path};

use serde::Serialize;
use serde_json::Value;

/// Set to any value, it makes these tests write the files instead of comparing them.
const UPDATE: &str = "UPDATE_GENERATED";

#[test]
fn crds() {
    check("crds/addons.yaml", &yaml("src/api", &addons::api::crd()));
    check("crds/statusrules.yaml", &yaml("src/api", &addons::api::status_rule_crd()));
}

fn yaml(source: &str, object: &impl Serialize) -> String {
    let mut value = serde_json::to_value(object).expect("an object that can be written as JSON");
    whole_numbers(&mut value);
    let mut text = format!("# Generated from {source} by `make generate`: change it there.\n");
    serde_saphyr::to_fmt_writer(&mut text, &value).expect("an object that can be written as YAML");
    text
}

/// Bounds are floating-point numbers in the type of a schema and whole ones in every schema: `0`
/// reads better than `0.0`.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
                *number = (float as i64).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn check(path: &str, generated: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if env::var_os(UPDATE).is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("the folder can be made");
        fs::write(&file, generated).expect("the file can be written");
        return;
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let differs = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
    assert!(
        committed == generated,
        "{path} isn't what the code generates (first difference in line {}). Run `make generate` and commit it.",
        differs.unwrap_or_else(|| committed.lines().count().min(generated.lines().count())) + 1
    );
}
