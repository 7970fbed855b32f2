//! What a verdict takes from the heap: of an object that is well, its message and nothing else.
#![allow(clippy::expect_used, clippy::panic)]

use addons::{
    health::{Rules, verdict_by},
    model::Health,
};

#[path = "../benches/verdict/objects.rs"]
mod objects;

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
