//! Real objects of each built-in kind; those named `well` are.

use std::sync::Arc;

use addons::model::{Kind, Object, decode::Raw};
use serde::Deserialize;
use serde_json::Value;

const OBJECTS: &str = include_str!("objects.yaml");

pub fn objects() -> Vec<Object> {
    let objects: Vec<Value> = serde_saphyr::from_str(OBJECTS).expect("a list of objects");
    objects.iter().map(object_of).collect()
}

pub fn object_of(value: &Value) -> Object {
    let raw = Raw::deserialize(value).expect("an object");
    let api_version = raw.api_version.clone().expect("apiVersion");
    let kind = Kind::named(&api_version, &raw.kind.clone().expect("kind"));
    raw.into_object(Arc::new(kind)).expect("an object with a name")
}
