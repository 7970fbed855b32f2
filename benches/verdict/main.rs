//! What a verdict costs: one for each built-in kind, of an object that is well and of one that isn't.
//!
//! `verdict` is the verdict alone; `judgement` also gives the object's conditions in the form in which
//! an add-on keeps them.
#![allow(clippy::expect_used, missing_docs)]

use std::{hint::black_box, sync::Arc, time::Duration};

use addons::{
    health::{KindRules, Rules, judge_by, verdict_by},
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

fn rules_of(object: &Object) -> Arc<KindRules> {
    let kind = &object.reference.kind;
    Rules::builtin().of_kind(&kind.group, &kind.kind)
}

fn built_in_kinds(criterion: &mut Criterion) {
    for object in objects() {
        let rules = rules_of(&object);
        let name = format!("{} {}", object.reference.kind.kind, object.reference.name);
        let mut group = criterion.benchmark_group(name);
        group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(500));
        group.bench_function("verdict", |bencher| bencher.iter(|| verdict_by(black_box(&object), &rules)));
        group.bench_function("judgement", |bencher| bencher.iter(|| judge_by(black_box(&object), &rules)));
    }
}

criterion_group!(benches, built_in_kinds);
criterion_main!(benches);
