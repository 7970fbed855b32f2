//! Metadata, single reads and whole objects, and the switches between them.

use std::time::Duration;

use super::{Answer, Bench, Feed, QUIET, error, event, list_end, page, start_with};

fn start(answers: Vec<Answer>) -> Bench {
    start_with(answers, Feed::as_needed)
}

impl Bench {
    /// What was asked for, and of how much.
    fn sorts(&self) -> Vec<String> {
        let metadata: Vec<bool> =
            self.server.asked.lock().unwrap().iter().map(|(_, metadata)| *metadata).collect();
        let detail = |metadata| if metadata { "metadata" } else { "whole" };
        self.asked()
            .iter()
            .zip(metadata)
            .map(|(sort, metadata)| format!("{sort} {}", detail(metadata)))
            .collect()
    }
}

/// A list of so many objects without a label, and then of these.
fn among(plain: usize, labelled: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> =
        (0..plain).map(|n| event("ADDED", &format!("plain-{n}"), 1, false)).collect();
    lines.extend(labelled.iter().map(|name| event("ADDED", name, 2, true)));
    lines.push(list_end(5));
    lines
}

fn bookmark(version: u32) -> String {
    format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"Gear","metadata":{{"resourceVersion":"{version}"}}}}}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn of_a_kind_without_wanted_objects_only_metadata_is_asked_for() {
    let mut lines = among(3, &[]);
    lines.push(event("MODIFIED", "plain-1", 6, false));
    let mut bench = start(vec![Answer::Closed(lines), Answer::Open(Vec::new())]);
    assert_eq!(bench.reported(QUIET).await, ["listed ", "synced "]);
    assert_eq!(bench.sorts(), ["stream metadata", "watch metadata"]);
}

#[tokio::test(start_paused = true)]
async fn few_wanted_objects_are_read_one_by_one() {
    let mut lines = among(50, &["a", "b"]);
    lines.push(event("MODIFIED", "a", 6, true));
    lines.push(event("MODIFIED", "b", 7, false));
    let mut bench = start(vec![Answer::Open(lines), page(&["a"], ""), page(&["b"], ""), page(&["a"], "")]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced ", "changed a", "gone b"]);
    assert_eq!(bench.sorts(), ["stream metadata", "read whole", "read whole", "read whole"]);
    let queries = bench.queries();
    assert!(queries[1].ends_with("metadata.name%3Da&resourceVersion=5&resourceVersionMatch=NotOlderThan"));
    assert!(queries[3].ends_with("metadata.name%3Da&resourceVersion=6&resourceVersionMatch=NotOlderThan"));
}

#[tokio::test(start_paused = true)]
async fn a_kind_of_which_many_objects_are_wanted_is_asked_for_whole() {
    let mut bench = start(vec![Answer::Open(among(5, &["a", "b"])), Answer::Open(among(5, &["a", "b"]))]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced "]);
    assert_eq!(bench.sorts(), ["stream metadata", "stream whole"]);
}

#[tokio::test(start_paused = true)]
async fn pages_are_of_metadata_too_where_that_is_enough() {
    let none = || Answer::Whole(200, r#"{"kind":"GearList","metadata":{"resourceVersion":"9"}}"#.into());
    let mut bench = start(vec![Answer::Whole(422, "{}".into()), none()]);
    assert_eq!(bench.reported(QUIET).await, ["listed ", "synced "]);
    assert_eq!(bench.sorts(), ["stream metadata", "page metadata", "watch metadata"]);

    let mut bench = start(vec![Answer::Whole(422, "{}".into()), page(&["a"], ""), page(&["a"], "")]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
    assert_eq!(bench.sorts(), ["stream metadata", "page metadata", "page whole", "watch whole"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_which_most_events_are_wanted_goes_on_whole_and_misses_none() {
    let mut lines = among(50, &["a"]);
    lines.extend((0..17).map(|n| event("MODIFIED", "a", 10 + n, true)));
    let mut answers = vec![Answer::Open(lines)];
    answers.extend((0..17).map(|_| page(&["a"], "")));
    answers.push(Answer::Open(vec![event("MODIFIED", "a", 26, true)]));
    let mut bench = start(answers);
    let reported = bench.reported(QUIET).await;
    assert_eq!(reported.len(), 2 + 17, "{reported:?}");
    assert_eq!(bench.sorts().last().map(String::as_str), Some("watch whole"));
    let queries = bench.queries();
    assert!(queries.last().is_some_and(|query| query.ends_with("resourceVersion=25")), "{queries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_is_made_again_with_its_event() {
    let mut lines = among(50, &[]);
    lines.push(event("MODIFIED", "plain-1", 6, true));
    let mut bench = start(vec![
        Answer::Open(lines),
        Answer::Whole(500, "{}".into()),
        Answer::Open(vec![event("MODIFIED", "plain-1", 6, true)]),
        page(&["plain-1"], ""),
    ]);
    assert_eq!(bench.reported(Duration::from_secs(5)).await, ["listed ", "synced ", "changed plain-1"]);
    assert_eq!(bench.sorts(), ["stream metadata", "read whole", "watch metadata", "read whole"]);
    assert!(bench.queries()[2].ends_with("resourceVersion=5"));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_which_a_read_fails_shows_nothing_and_is_made_again() {
    let mut bench = start(vec![
        Answer::Open(among(50, &["a"])),
        Answer::Whole(500, "{}".into()),
        Answer::Open(among(50, &["a"])),
        page(&["a"], ""),
    ]);
    let reported = bench.reported(Duration::from_secs(5)).await;
    assert_eq!(reported[1..], ["listed a", "synced "], "{reported:?}");
    assert!(reported[0].starts_with("failing"));
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_before_it_is_read_is_gone() {
    let none = || Answer::Whole(200, r#"{"kind":"GearList","metadata":{"resourceVersion":"9"}}"#.into());
    let mut lines = among(50, &["a", "b"]);
    lines.push(event("DELETED", "a", 6, true));
    lines.push(event("MODIFIED", "b", 7, true));
    lines.push(event("DELETED", "b", 8, true));
    let mut bench = start(vec![Answer::Open(lines), none(), page(&["b"], ""), none()]);
    assert_eq!(bench.reported(QUIET).await, ["listed b", "synced ", "gone b"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_last_wanted_object_goes_is_metadata_again() {
    let whole = Answer::Open(vec![
        event("ADDED", "a", 2, true),
        list_end(5),
        bookmark(6),
        event("DELETED", "a", 7, true),
        bookmark(8),
    ]);
    let mut bench = start(vec![Answer::Open(among(0, &["a"])), whole, Answer::Open(vec![error(410, "old")])]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced ", "gone a"]);
    assert_eq!(bench.sorts(), ["stream metadata", "stream whole", "watch metadata", "stream metadata"]);
    assert!(bench.queries()[2].ends_with("resourceVersion=8"));
}
