//! What is listed and what changes is shown.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::{Bench, GRACE, LONG, object};
use crate::{
    api::Identifier,
    model::Health,
    summary::{Combination, WatchState},
    watch::News,
};

#[tokio::test(start_paused = true)]
async fn what_was_listed_is_shown_and_goes_after_the_grace() {
    let mut bench = Bench::new();
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    assert_eq!(bench.published(Duration::from_secs(1)).await, ["a Healthy"]);
    bench.report("gears", News::Gone("a".into())).await;
    assert!(bench.published(Duration::from_secs(1) + GRACE / 2).await.is_empty());
    assert_eq!(bench.published(LONG).await, ["a gone"]);
    assert!(bench.board.get("a").is_none());
}

#[tokio::test(start_paused = true)]
async fn rules_that_combine_hold_from_the_first_summary_on() {
    let mut bench = Bench::new();
    let combine = |informational: &str| {
        let rule = json!({"identifiers": ["dns"], "informational": [{"names": [informational]}]});
        Arc::new(Combination::of([&serde_json::from_value(rule).unwrap()]))
    };
    let mut bad = object("gears", "bad");
    bad.memberships[0].identifier = Identifier::new("dns").unwrap();
    bad.timeline.first.health = Health::Degraded;
    bench.discover(&["gears"]);
    bench.combine.send_replace(combine("bad"));
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "dns"), bad]).await;
    assert_eq!(bench.published(LONG).await, ["dns Healthy"]);
    bench.combine.send_replace(combine("none"));
    assert_eq!(bench.published(LONG * 2).await, ["dns Degraded"]);
    bench.combine.send_replace(Arc::default());
    assert!(bench.published(LONG * 3).await.is_empty(), "it says the same");
}

#[tokio::test(start_paused = true)]
async fn a_last_word_after_the_end_is_not_heard() {
    let mut bench = Bench::new();
    bench.discover(&["gears"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    bench.report("gears", News::Left).await;
    bench.report("gears", News::Changed(Box::new(object("gears", "a")))).await;
    bench.report("gears", News::State(WatchState::Synced)).await;
    let published = bench.published(LONG).await;
    assert_eq!(published.last().map(String::as_str), Some("a gone"), "{published:?}");
    assert!(bench.board.coverage().iter().all(|covered| covered.kind.plural != "gears"));
}
