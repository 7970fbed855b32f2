//! What a verdict takes from the heap: of an object that is well, its message and nothing else.
#![allow(clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use addons::{
    health::{Rules, verdict_by},
    model::{Health, Kind, Object, StatusReporting, decode::Raw},
};
use serde::Deserialize;
use serde_json::Value;

/// Real objects of each built-in kind; those named `well` are.
const OBJECTS: &str = include_str!("../benches/verdict/objects.yaml");

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

#[test]
fn the_verdict_on_what_is_well_is_its_message() {
    let objects: Vec<Value> = serde_saphyr::from_str(OBJECTS).expect("a list of objects");
    let mut judged = 0;
    for object in objects.iter().map(object_of).filter(|object| &*object.reference.name == "well") {
        let kind = &object.reference.kind;
        let rules = Rules::builtin().of_kind(&kind.group, &kind.kind);
        let verdict = verdict_by(&object, &rules).first;
        assert_eq!(verdict.health, Health::Healthy, "{}: {verdict:?}", kind.kind);
        // The words of another add-on are its own.
        let own = usize::from(kind.kind == "Addon");
        let most = usize::from(!verdict.message.is_empty()) + own;
        let taken = allocation_counter::measure(|| {
            verdict_by(&object, &rules);
        });
        assert!(taken.count_total <= most as u64, "{}: {taken:?}, {most} expected", kind.kind);
        judged += 1;
    }
    assert!(judged > 25, "{judged} kinds");
}
