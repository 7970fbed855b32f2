//! What holds for any object.

use addons::{
    dump::Reader,
    health::{Judgement, Rules, judge},
    model::{Health, Object, StatusReporting, text},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{
    arbitrary::{conditions, json_value, kind},
    fixtures::object_of,
};

fn document(kind: &(String, String), spec: &Value, status: &Value) -> Value {
    json!({"apiVersion": kind.0, "kind": kind.1, "spec": spec, "status": status,
        "metadata": {"name": "x", "generation": 2, "creationTimestamp": "2025-03-01T10:00:00Z"}})
}

fn judged(document: &Value) -> Judgement {
    judge(&object_of(document, StatusReporting::Yes), &Rules::builtin())
}

fn sound(judgement: &Judgement) {
    let timeline = &judgement.timeline;
    for verdict in std::iter::once(&timeline.first).chain(timeline.later.as_ref().map(|later| &later.verdict))
    {
        assert!(!verdict.reason.is_empty() && !verdict.rule.is_empty(), "{verdict:?}");
        assert!(!verdict.reason.contains(char::is_whitespace), "{verdict:?}");
        assert!(verdict.message.len() <= text::MESSAGE_BYTES, "{verdict:?}");
        let shown = verdict.reason.chars().chain(verdict.message.chars());
        assert!(!shown.into_iter().any(char::is_control), "{verdict:?}");
    }
    assert!(judgement.conditions.is_sorted_by(|a, b| a.kind < b.kind), "{:?}", judgement.conditions);
}

/// Status of many kinds at once around these conditions, which a list somewhere inside has, too.
fn status(conditions: &[Value], inner: &[Value], replicas: i64, phase: &str) -> Value {
    json!({"observedGeneration": 2, "replicas": replicas, "availableReplicas": replicas, "updatedReplicas": 2,
        "desiredNumberScheduled": 2, "phase": phase, "conditions": conditions, "parents": inner,
        "listeners": inner, "ancestors": inner, "containerStatuses": inner, "resources": inner})
}

/// What stands in a list inside a status: a parent, a listener or a container.
fn inner() -> impl Strategy<Value = Vec<Value>> {
    let state = prop::sample::select(vec![
        json!({"running": {}}),
        json!({"waiting": {"reason": "CrashLoopBackOff"}}),
        json!({"waiting": {"reason": "ContainerCreating"}}),
        json!({"terminated": {"exitCode": 1, "reason": "Error"}}),
    ]);
    let one = (conditions(), state, any::<bool>(), 0_i64..3).prop_map(|(conditions, state, ready, restarts)| {
        json!({"conditions": conditions, "state": state, "ready": ready, "restartCount": restarts})
    });
    prop::collection::vec(one, 0..4).prop_map(|mut all| {
        for (n, one) in all.iter_mut().enumerate() {
            one["name"] = format!("n{n}").into();
            one["parentRef"] = json!({"name": format!("n{n}")});
        }
        all
    })
}

fn phase() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "Running", "Pending", "Failed", "Ready", "Deleting", "Novel"])
}

/// JSON text of `value` with the keys of every object in their order or against it.
fn text_of(value: &Value, forwards: bool) -> String {
    match value {
        Value::Object(fields) => {
            let pair = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(key.as_str()), text_of(value, forwards))
            };
            let mut pairs: Vec<String> = fields.iter().map(pair).collect();
            if !forwards {
                pairs.reverse();
            }
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| text_of(item, forwards)).collect();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// Everything that reading `text` gives, judged.
fn read(text: &str) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    let mut reader = Reader::each(|object: Object| judgements.push(judge(&object, &Rules::builtin())));
    reader.stream("a text", text.as_bytes());
    drop(reader);
    judgements
}

/// Where an object says which generation it is, and which was seen.
#[derive(Clone, Copy, Debug)]
enum Evidence {
    Metadata,
    Status,
    Conditions,
}

fn remove(document: &mut Value, evidence: Evidence) {
    fn drop_from(value: &mut Value, key: &str) {
        value.as_object_mut().map(|fields: &mut Map<_, _>| fields.remove(key));
    }
    match evidence {
        Evidence::Metadata => drop_from(&mut document["metadata"], "generation"),
        Evidence::Status => drop_from(&mut document["status"], "observedGeneration"),
        Evidence::Conditions => {
            let conditions = document["status"]["conditions"].as_array_mut();
            conditions.into_iter().flatten().for_each(|condition| drop_from(condition, "observedGeneration"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_object_gets_one_answer(kind in kind(), spec in json_value(), status in json_value()) {
        let document = document(&kind, &spec, &status);
        let judgement = judged(&document);
        sound(&judgement);
        prop_assert_eq!(format!("{judgement:?}"), format!("{:?}", judged(&document)));
    }

    #[test]
    fn any_document_gets_one_answer(
        kind in kind(), metadata in json_value(), spec in json_value(), status in json_value(),
    ) {
        let document = json!({"apiVersion": kind.0, "kind": kind.1, "metadata": metadata, "spec": spec,
            "status": status, "items": [1], "data": spec});
        let judgements = read(&document.to_string());
        prop_assert_eq!(judgements.len(), 1);
        judgements.iter().for_each(sound);
        prop_assert_eq!(format!("{judgements:?}"), format!("{:?}", read(&document.to_string())));
    }

    #[test]
    fn the_order_of_conditions_does_not_matter(
        kind in kind(),
        (listed, shuffled) in conditions().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        inner in inner(), replicas in 0_i64..4, phase in phase(),
    ) {
        let spec = json!({"replicas": 2, "service": {}});
        let judgement = judged(&document(&kind, &spec, &status(&listed, &inner, replicas, phase)));
        sound(&judgement);
        let other = judged(&document(&kind, &spec, &status(&shuffled, &inner, replicas, phase)));
        prop_assert_eq!(judgement, other);
    }

    #[test]
    fn the_order_of_what_a_list_holds_by_name_does_not_matter(
        kind in kind(), conditions in conditions(),
        (listed, shuffled) in inner().prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle())),
        phase in phase(),
    ) {
        let spec = json!({"replicas": 2});
        let one = judged(&document(&kind, &spec, &status(&conditions, &listed, 2, phase))).timeline;
        let other = judged(&document(&kind, &spec, &status(&conditions, &shuffled, 2, phase))).timeline;
        prop_assert_eq!(one.first.health, other.first.health, "{:?} {:?}", one, other);
    }

    #[test]
    fn the_order_of_keys_does_not_matter(kind in kind(), spec in json_value(), status in json_value()) {
        let document = document(&kind, &spec, &status);
        prop_assert_eq!(read(&text_of(&document, true)), read(&text_of(&document, false)));
    }

    #[test]
    fn what_fails_is_not_well_for_lack_of_generations(
        kind in kind(), conditions in conditions(), inner in inner(), replicas in 0_i64..4, phase in phase(),
        removed in prop::sample::subsequence(vec![Evidence::Metadata, Evidence::Status, Evidence::Conditions], 1..=3),
    ) {
        let spec = json!({"replicas": 2});
        let mut document = document(&kind, &spec, &status(&conditions, &inner, replicas, phase));
        let before = judged(&document).timeline.first;
        removed.iter().for_each(|evidence| remove(&mut document, *evidence));
        let after = judged(&document).timeline.first;
        prop_assert!(
            before.health != Health::Degraded || after.health != Health::Healthy,
            "{:?} without {:?} is {:?}", before, removed, after
        );
    }
}
