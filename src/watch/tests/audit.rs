//! What a watch told, compared with a list.

use std::time::Duration;

use super::{Answer, QUIET, event, list_end, start};

/// Longer than a kind goes without a check.
const CHECKED: Duration = Duration::from_secs(3700);

/// The metadata of gears, each with its version, as a list of the API server.
fn list(gears: &[(&str, u32, bool)]) -> Answer {
    let item = |(name, version, label): &(&str, u32, bool)| {
        let labels = if *label { r#"{"addons.x-k8s.io/a":""}"# } else { "{}" };
        format!(
            r#"{{"metadata":{{"name":"{name}","uid":"{name}","resourceVersion":"{version}","labels":{labels}}}}}"#
        )
    };
    let items: Vec<String> = gears.iter().map(item).collect();
    let meta = r#""metadata":{"resourceVersion":"9"}"#;
    Answer::Whole(
        200,
        format!(r#"{{"kind":"PartialObjectMetadataList",{meta},"items":[{}]}}"#, items.join(",")),
    )
}

/// A watch that stays open, with a bookmark a minute as the API server sends them.
fn watched(events: &[String]) -> Answer {
    Answer::Beating(events.to_vec())
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_told_all_goes_on() {
    let first = [event("ADDED", "a", 1, true), event("ADDED", "plain", 2, false), list_end(5)];
    let mut bench = start(vec![watched(&first), list(&[("a", 1, true), ("plain", 2, false)])]);
    assert_eq!(bench.reported(CHECKED).await, ["listed a", "synced "]);
    let asked = bench.queries();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[1].contains("resourceVersion=5&resourceVersionMatch=Exact"), "{asked:?}");
    assert_eq!(bench.drift(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_it_missed_is_counted_and_listed_anew() {
    let first = [
        event("ADDED", "changed", 1, true),
        event("ADDED", "lost", 2, true),
        event("ADDED", "same", 3, true),
        event("ADDED", "bare", 4, true),
        list_end(5),
    ];
    let now = [("bare", 5, false), ("changed", 4, true), ("new", 5, true), ("same", 3, true)];
    let again = [event("ADDED", "new", 5, true), event("ADDED", "same", 3, true), list_end(6)];
    let mut bench = start(vec![watched(&first), list(&now), watched(&again)]);
    assert_eq!(bench.reported(QUIET).await, ["listed bare,changed,lost,same", "synced "]);
    assert_eq!(bench.reported(CHECKED).await[0], "listed new,same");
    assert_eq!(bench.drift(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_changes_nothing() {
    let first = [event("ADDED", "a", 1, true), list_end(5)];
    for refusal in [Answer::Whole(410, "{}".into()), Answer::Whole(200, "<html>".into())] {
        let mut bench = start(vec![watched(&first), refusal]);
        assert_eq!(bench.reported(CHECKED).await, ["listed a", "synced "]);
        assert_eq!((bench.drift(), bench.queries().len()), (0, 2));
    }
}
