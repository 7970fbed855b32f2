//! What can't be seen any more.

use std::time::Duration;

use super::{Bench, COMMANDS, LONG, object};
use crate::{controller::addons::AddonNews, publish::Command, summary::WatchState, watch::News};

#[tokio::test(start_paused = true)]
async fn the_kind_that_can_not_be_seen_is_named_before_its_add_ons_are_unknown() {
    let mut bench = Bench::new();
    bench.discover(&["gears"]);
    // More than the publisher takes at once.
    let gears = (0..3 * COMMANDS).map(|n| object("gears", &format!("a{n}"))).collect();
    bench.list("gears", gears).await;
    bench.list_addons(Vec::new()).await;
    assert_eq!(bench.published(LONG).await.len(), 3 * COMMANDS);
    bench.report("gears", News::State(WatchState::Failing("down".into()))).await;
    let first = bench.commands.recv().await;
    assert!(
        matches!(&first, Some(Command::Show(summary)) if summary.status.health == "Unknown"),
        "{first:?}"
    );
    let coverage = bench.board.coverage();
    let named = coverage.iter().any(|covered| covered.state == WatchState::Failing("down".into()));
    assert!(named, "{coverage:?}");
}

#[tokio::test(start_paused = true)]
async fn what_follows_from_an_outage_is_shown_and_not_published() {
    let mut bench = Bench::new();
    bench.discover(&["gears", "cogs"]);
    bench.list_addons(Vec::new()).await;
    bench.list("gears", vec![object("gears", "a")]).await;
    bench.list("cogs", Vec::new()).await;
    assert_eq!(bench.published(LONG).await, ["a Healthy"]);
    let down = || WatchState::Failing("down".into());
    bench.addons.send(AddonNews::State(down())).await.unwrap();
    // That is heard before anything else is.
    assert!(bench.published(LONG + Duration::from_secs(1)).await.is_empty());
    bench.report("cogs", News::State(down())).await;
    bench.report("gears", News::State(down())).await;
    assert_eq!(bench.published(LONG * 5).await, ["hold", "a Unknown"]);
    bench.addons.send(AddonNews::State(WatchState::Synced)).await.unwrap();
    bench.report("gears", News::State(WatchState::Synced)).await;
    assert_eq!(bench.published(LONG * 5 + Duration::from_secs(10)).await, ["a Healthy"]);
    // What still fails then holds up nobody.
    assert_eq!(bench.published(LONG * 5 + Duration::from_secs(40)).await, ["release"]);
}
