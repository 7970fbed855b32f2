//! Causes of what is ill.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Bench, LONG, object};
use crate::{model::Health, summary::Observation, watch::News};

/// A gear that waits, and an event about it.
fn waiting_gear(path: &str) -> Option<Value> {
    let about = json!({"kind": "gear", "name": "a", "uid": "a"});
    let gear = json!({
        "metadata": {"name": "a", "uid": "a"},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "Waiting"}]},
    });
    match path {
        "/apis/lab.example/v1/gears?limit=500&fieldSelector=metadata.name%3Da" => {
            Some(json!({"kind": "gearList", "items": [gear]}))
        }
        "/api/v1/namespaces/default/events?limit=500&fieldSelector=involvedObject.uid%3Da" => Some(json!({
            "kind": "EventList",
            "items": [{"type": "Warning", "reason": "NoOil", "message": "dry", "involvedObject": about}],
        })),
        _ => None,
    }
}

fn ill(name: &str) -> Observation {
    let mut gear = object("gears", name);
    gear.timeline.first.health = Health::Progressing;
    gear
}

#[tokio::test(start_paused = true)]
async fn a_cause_is_looked_for_while_a_component_is_ill() {
    let mut bench = Bench::asking(waiting_gear);
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![ill("a"), object("gears", "b")]).await;
    let hour = Duration::from_secs(3600);
    assert_eq!(
        bench.published(hour).await,
        ["a Progressing", "b Healthy", "a Progressing"],
        "once without and once with the cause, however often it is found"
    );
    let shown = bench.board.get("a").unwrap();
    assert_eq!(shown.status.message, "1 of 1 not healthy: gear a: NoOil: dry");
    assert_eq!(shown.whole().components[0].cause.as_ref().unwrap().reason, "NoOil");
    let looks = bench.asked.lock().unwrap().iter().filter(|path| path.contains("/gears?")).count();
    // After 1, 6, 16, 36, 76, 156 and 316 seconds, and then every five minutes.
    assert!((15..=18).contains(&looks), "{looks}");

    bench.report("gears", News::Changed(Box::new(object("gears", "a")))).await;
    assert_eq!(bench.published(hour * 2).await, ["a Healthy"]);
    let after = bench.asked.lock().unwrap().iter().filter(|path| path.contains("/gears?")).count();
    assert_eq!(looks, after, "what is well isn't looked at");
}

#[tokio::test(start_paused = true)]
async fn a_cause_that_can_not_be_asked_for_stays_as_it_was_found() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let mut bench = Bench::asking(|path| {
        let first = !path.contains("/gears?") || ASKED.fetch_add(1, Ordering::Relaxed) == 0;
        // Later the server answers something that is no list.
        if first { waiting_gear(path) } else { Some(json!({"kind": "Status"})) }
    });
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![ill("a")]).await;
    assert_eq!(bench.published(LONG).await, ["a Progressing", "a Progressing"]);
    assert!(ASKED.load(Ordering::Relaxed) > 3);
    assert!(bench.board.get("a").unwrap().status.message.ends_with("NoOil: dry"));
}
