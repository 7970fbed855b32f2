//! What `Addon` objects remember, until the kinds of their components were seen.

use std::{sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{Bench, LONG, addon, object};
use crate::{
    controller::addons::AddonNews,
    discover::Catalogue,
    model::{Health, SignedDuration, Timestamp},
    summary::{Observation, Summary, WatchState},
    watch::News,
};

#[tokio::test(start_paused = true)]
async fn an_addon_list_that_comes_late_deletes_nothing() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.forbid("gears").await;
    bench.list("cogs", vec![object("cogs", "b")]).await;
    assert!(bench.published(Duration::from_secs(30)).await.is_empty(), "it isn't known what there was");
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    assert_eq!(bench.published(LONG).await, ["a Unknown", "b Healthy"]);
}

#[tokio::test(start_paused = true)]
async fn addons_that_cannot_be_listed_hold_up_only_what_is_written() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.forbid("gears").await;
    bench.list("cogs", vec![object("cogs", "b")]).await;
    bench.addons.send(AddonNews::State(WatchState::Failing("down".into()))).await.unwrap();
    assert_eq!(bench.published(Duration::from_secs(30)).await, ["b Healthy"]);
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    let published = bench.published(LONG * 2).await;
    assert!(published.contains(&"a Unknown".to_owned()), "{published:?}");
    assert!(!published.iter().any(|what| what.ends_with("gone")), "{published:?}");
}

#[tokio::test(start_paused = true)]
async fn a_kind_of_the_catalogue_that_is_not_followed_yet_keeps_what_is_remembered() {
    let mut bench = Bench::new();
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    bench.discover(&["gears"]);
    assert_eq!(bench.published(LONG).await, ["a Healthy"]);
    bench.list("gears", Vec::new()).await;
    assert_eq!(bench.published(LONG * 2).await, ["a gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_takes_its_remembered_components_along() {
    let mut bench = Bench::new();
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    bench.discover(&[]);
    assert_eq!(
        bench.published(Duration::from_secs(5)).await,
        ["a Healthy"],
        "the document may be incomplete"
    );
    assert_eq!(bench.published(LONG).await, ["a gone"]);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_not_ready_may_serve_more_in_a_moment() {
    let mut bench = Bench::new();
    bench.list_addons(vec![addon("gears", "a", 0)]).await;
    let starting = Catalogue { is_preliminary: true, ..Catalogue::default() };
    bench.catalogue.send_replace(Some(Arc::new(starting)));
    assert_eq!(bench.published(LONG).await.last().map(String::as_str), Some("a Unknown"));
    bench.discover(&["gears"]);
    bench.list("gears", vec![object("gears", "a")]).await;
    assert_eq!(bench.published(LONG * 2).await, ["a Healthy"]);
}

#[tokio::test(start_paused = true)]
async fn a_cut_addon_goes_once_its_components_were_seen_to_go() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.forbid("cogs").await;
    bench.list_addons(vec![addon("gears", "a", 0), addon("gears", "b", 1)]).await;
    bench.list("gears", Vec::new()).await;
    // Where not all were named, the rest may be of the kind that can't be listed.
    assert_eq!(bench.published(LONG).await, ["a gone"]);
    bench.list("cogs", Vec::new()).await;
    assert_eq!(bench.published(LONG * 2).await, ["b gone"]);
}

#[tokio::test(start_paused = true)]
async fn a_cut_addon_keeps_its_count_until_all_kinds_were_listed() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.list_addons(vec![addon("gears", "a", 7)]).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    bench.report("cogs", News::State(WatchState::Syncing)).await;
    let ready = |summary: Option<Arc<Summary>>| summary.map(|shown| shown.status.ready.clone());
    assert_eq!(ready(bench.last_shown(LONG).await).as_deref(), Some("8/8"), "what was known holds");
    bench.report("cogs", News::State(WatchState::Failing("down".into()))).await;
    let shown = bench.last_shown(LONG * 2).await.expect("it is shown anew");
    assert_eq!(
        (&*shown.status.health, &*shown.status.ready, shown.status.counts.total),
        ("Unknown", "1/8", 8)
    );
    assert_eq!(shown.whole().omitted, 7);
    bench.list("cogs", Vec::new()).await;
    assert_eq!(ready(bench.last_shown(LONG * 3).await).as_deref(), Some("1/1"));
}

#[tokio::test(start_paused = true)]
async fn a_new_catalogue_is_heard_whatever_else_comes_with_it() {
    for _ in 0..8 {
        let mut bench = Bench::new();
        bench.list_addons(vec![addon("gears", "a", 0)]).await;
        bench.discover_nothing();
        assert_eq!(bench.published(Duration::from_secs(30)).await, ["a Unknown"]);
        let coverage = bench.board.coverage();
        let unserved = coverage.iter().filter(|kind| kind.state.as_str() == "unserved");
        assert_eq!(unserved.map(|kind| &*kind.kind.plural).collect::<Vec<_>>(), ["gears"]);
        bench.discover(&[]);
        bench.report("cogs", News::State(WatchState::Syncing)).await;
        let published = bench.published(LONG).await;
        assert_eq!(published.last().map(String::as_str), Some("a gone"), "{published:?}");
    }
}

/// An object that waits and doesn't say since when.
fn waiting(plural: &str, name: &str) -> Observation {
    let mut waiting = object(plural, name);
    waiting.timeline.first.health = Health::Progressing;
    waiting.timeline.patience = Some(SignedDuration::from_mins(10));
    waiting
}

#[tokio::test(start_paused = true)]
async fn a_restart_counts_on_from_what_was_written() {
    let since = |minutes: i64| {
        let time = Timestamp::now() - SignedDuration::from_mins(minutes);
        Time(Timestamp::from_second(time.as_second()).unwrap())
    };
    for (minutes, health, reason, message) in [
        (4, "Progressing", "Fine", ""),
        (40, "Degraded", "ProgressDeadlineExceeded", "for more than 10 minutes: Fine"),
    ] {
        let mut written = addon("gears", "a", 0);
        let components = {
            let status = written.status.as_mut().unwrap();
            let component = &mut status.components[0];
            (component.health, component.reason) = (health.to_owned(), reason.to_owned());
            component.message = message.to_owned();
            component.since = Some(since(minutes));
            status.components.clone()
        };
        for addons_come in ["first", "last", "late"] {
            let mut bench = Bench::new();
            bench.discover(&["gears"]);
            if addons_come == "first" {
                bench.list_addons(vec![written.clone()]).await;
            }
            bench.list("gears", vec![waiting("gears", "a")]).await;
            if addons_come == "late" {
                bench.addons.send(AddonNews::State(WatchState::Failing("down".into()))).await.unwrap();
                let early = bench.last_shown(LONG).await.expect("what is known so far");
                assert_eq!(early.status.health, "Progressing");
            }
            if addons_come != "first" {
                bench.list_addons(vec![written.clone()]).await;
            }
            let shown = bench.last_shown(LONG * 2).await.expect("an add-on");
            assert_eq!(shown.whole().components, components, "{addons_come}");
        }
    }
}
