//! What is taken from the heap: by the verdict on an object that is well its message and nothing else,
//! and for a component what the design grants.
#![allow(clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use addons::{
    health::{Rules, verdict_by},
    model::{Health, Timestamp},
    summary::{Board, Change, Index},
};

#[path = "../benches/summary/components.rs"]
mod components;
#[path = "../benches/verdict/objects.rs"]
mod objects;

/// Bytes for each of 20 components of an add-on: the goal, without what the allocator adds to them and
/// what the watches remember.
const COMPONENT_BYTES: i64 = 400;

#[test]
fn the_verdict_on_what_is_well_is_its_message() {
    let mut judged = 0;
    for object in objects::objects().into_iter().filter(|object| &*object.reference.name == "well") {
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

#[test]
fn a_component_takes_little_room() {
    const ADDONS: i64 = 200;
    let kinds = components::Kinds::default();
    let now: Timestamp = "2026-02-01T00:00:00Z".parse().expect("a time");
    // The rules are read when the first object is judged.
    kinds.observe("another", 0, true);
    let mut index = Index::default();
    let board = Board::default();
    let mut each = Vec::new();
    for part in ["objects", "summaries"] {
        let taken = allocation_counter::measure(|| {
            if part == "objects" {
                for addon in 0..ADDONS {
                    let identifier = format!("addon-{addon:04}");
                    (0..20).for_each(|n| index.upsert(kinds.observe(&identifier, n, true), now));
                }
            } else {
                for change in index.flush(now) {
                    let Change::Show(summary) = change else { panic!("{change:?}") };
                    assert_eq!(summary.status.health, "Healthy", "{}", summary.status.message);
                    board.put(Arc::from(summary));
                }
            }
        });
        each.push(taken.bytes_current / (20 * ADDONS));
    }
    println!("bytes a component, of objects and of summaries: {each:?}");
    assert!(each.iter().sum::<i64>() <= COMPONENT_BYTES, "{each:?} bytes a component");
}
