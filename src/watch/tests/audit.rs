//! What a watch told, compared with a list.

use std::time::Duration;

use super::{Answer, QUIET, start};

/// Longer than a kind goes without a check.
const CHECKED: Duration = Duration::from_secs(3700);

/// Gears, each with its version and whether it is labelled, as a list of the API server.
fn list(gears: &[(&str, u32, bool)], version: u32) -> Answer {
    let item = |(name, version, label): &(&str, u32, bool)| {
        let labels = if *label { r#"{"addons.x-k8s.io/a":""}"# } else { "{}" };
        format!(
            r#"{{"metadata":{{"name":"{name}","uid":"{name}","resourceVersion":"{version}","labels":{labels}}}}}"#
        )
    };
    let items: Vec<String> = gears.iter().map(item).collect();
    super::list_of(&items, version, "")
}

/// A watch that stays open, with a bookmark a minute as the API server sends them.
fn watched() -> Answer {
    Answer::Beating(Vec::new())
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_told_all_goes_on() {
    let all = [("a", 1, true), ("plain", 2, false)];
    let mut bench = start(vec![list(&all, 5), watched(), list(&all, 5)]);
    assert_eq!(bench.reported(CHECKED).await, ["listed a", "synced "]);
    let asked = bench.queries();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(asked[2].contains("resourceVersion=5&resourceVersionMatch=Exact"), "{asked:?}");
    assert_eq!(bench.drift(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_it_missed_is_counted_and_listed_anew() {
    let first = [("bare", 4, true), ("changed", 1, true), ("lost", 2, true), ("same", 3, true)];
    let now = [("bare", 5, false), ("changed", 4, true), ("new", 5, true), ("same", 3, true)];
    let again = [("new", 5, true), ("same", 3, true)];
    let mut bench = start(vec![list(&first, 5), watched(), list(&now, 5), list(&again, 6), watched()]);
    assert_eq!(bench.reported(QUIET).await, ["listed bare,changed,lost,same", "synced "]);
    assert_eq!(bench.reported(CHECKED).await[0], "listed new,same");
    assert_eq!(bench.drift(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_changes_nothing() {
    for refusal in [Answer::Whole(500, "{}".into()), Answer::Whole(200, "<html>".into())] {
        let mut bench = start(vec![list(&[("a", 1, true)], 5), watched(), refusal]);
        assert_eq!(bench.reported(CHECKED).await, ["listed a", "synced "]);
        assert_eq!((bench.drift(), bench.queries().len()), (0, 3));
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_server_has_forgotten_is_listed_anew() {
    let forgotten = Answer::Whole(410, "{}".into());
    let again = list(&[("a", 1, true), ("b", 2, true)], 5);
    let mut bench = start(vec![list(&[("a", 1, true)], 5), watched(), forgotten, again, watched()]);
    assert_eq!(bench.reported(CHECKED).await, ["listed a", "synced ", "listed a,b"]);
    assert_eq!(bench.drift(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_by_itself_may_be_newer_than_the_watch() {
    let mut bench = start(vec![list(&[("a", 9, true)], 5), watched(), list(&[("a", 4, true)], 5)]);
    assert_eq!(bench.reported(CHECKED).await, ["listed a", "synced "]);
    assert_eq!((bench.drift(), bench.queries().len()), (0, 3));
}
