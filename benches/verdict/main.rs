//! What a verdict costs: one for each built-in kind, of an object that is well and of one that isn't,
//! one by a table rule, one by an expression, and 100,000 of mixed kinds.
//!
//! `verdict` is the verdict alone; `judgement` also gives the object's conditions in the form in which
//! an add-on keeps them.
#![allow(clippy::expect_used, missing_docs)]

mod objects;

use std::{hint::black_box, sync::Arc, time::Duration};

use addons::{
    health::{KindRules, Rules, judge, judge_by, read_text, verdict_by},
    model::Object,
};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::Value;

use self::objects::{object_of, objects};

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

/// A rule that says all in tables, and one that says the same in an expression.
const RULES: &str = r#"
- match: {group: bench.test, kind: Table}
  rows:
  - {verdict: Degraded, if: [{condition: Stalled}]}
  - {verdict: Progressing, if: [{path: status.phase, in: [Creating, Updating]}]}
  - {verdict: Healthy, if: [{condition: Ready}, {path: status.ready, atLeast: spec.size}]}
- match: {group: bench.test, kind: Expression}
  rows:
  - {verdict: Healthy, when: 'cond("Ready").status == "True" && status.phase in ["Running", "Done"]'}
"#;

const RULED: &str = r#"
- apiVersion: bench.test/v1
  kind: KIND
  metadata: {name: well, namespace: lab, generation: 3}
  spec: {size: 3, image: registry.example/thing:1}
  status:
    observedGeneration: 3
    phase: Running
    ready: 3
    conditions:
    - {type: Ready, status: "True", reason: AllGood, message: every part is ready, lastTransitionTime: "2025-03-01T10:00:00Z"}
    - {type: Progressing, status: "False", reason: Idle, lastTransitionTime: "2025-03-01T10:00:00Z"}
"#;

fn rules_as_data(criterion: &mut Criterion) {
    let written = read_text("bench.yaml", RULES).expect("rules");
    let rules = Rules::with(written.iter().map(|rule| Arc::new(rule.compile().expect("a rule"))));
    for kind in ["Table", "Expression"] {
        let text = RULED.replace("KIND", kind);
        let values: Vec<Value> = serde_saphyr::from_str(&text).expect("a list of objects");
        let object = object_of(&values[0]);
        let rules = rules.of_kind("bench.test", kind);
        criterion.bench_function(&format!("rule/{kind}"), |bencher| {
            bencher.iter(|| verdict_by(black_box(&object), &rules));
        });
    }
}

/// What `addonctl health` and a first list do: each object's rules are looked up, too.
fn mixed(criterion: &mut Criterion) {
    let objects: Vec<Object> = objects().into_iter().cycle().take(100_000).collect();
    let rules = Rules::builtin();
    let mut group = criterion.benchmark_group("mixed");
    group.sample_size(10);
    group.bench_function("100k judgements", |bencher| {
        bencher.iter(|| objects.iter().filter(|object| !judge(object, &rules).superseded).count());
    });
    group.finish();
}

criterion_group!(benches, built_in_kinds, rules_as_data, mixed);
criterion_main!(benches);
