//! What a verdict costs: one for each built-in kind, of an object that is well and of one that isn't.
//!
//! `judge` gives the verdict and the object's conditions in the form in which an add-on shows them.
#![allow(clippy::expect_used, missing_docs)]

use std::{hint::black_box, sync::Arc};

use addons::{
    health::{Rules, judge},
    model::{Kind, Object, StatusReporting, decode::Raw},
};
use criterion::{Criterion, criterion_group, criterion_main};
use serde::Deserialize;
use serde_json::Value;

const OBJECTS: &str = include_str!("objects.yaml");

fn objects() -> Vec<Object> {
    let objects: Vec<Value> = serde_saphyr::from_str(OBJECTS).expect("a list of objects");
    objects.iter().map(object_of).collect()
}

fn object_of(value: &Value) -> Object {
    let raw = Raw::deserialize(value).expect("an object");
    let api_version = raw.api_version.clone().expect("apiVersion");
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
    let kind = Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: raw.kind.clone().expect("kind"),
        plural: String::new(),
        namespaced: true,
        status: StatusReporting::Unsaid,
    };
    raw.into_object(Arc::new(kind)).expect("an object with a name")
}

fn built_in_kinds(criterion: &mut Criterion) {
    let rules = Rules::builtin();
    let mut group = criterion.benchmark_group("built-in");
    for object in objects() {
        let name = format!("{}/{}", object.reference.kind.kind, object.reference.name);
        group.bench_function(name, |bencher| bencher.iter(|| judge(black_box(&object), &rules)));
    }
}

criterion_group!(benches, built_in_kinds);
criterion_main!(benches);
