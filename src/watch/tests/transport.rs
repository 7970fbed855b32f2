//! Metadata, single reads and whole objects, and the switches between them.

use std::time::Duration;

use super::{Answer, Bench, Feed, QUIET, error, event, item, list, list_of, start_with};

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

/// A page of so many objects without a label and of these, which have one; `token` asks for the next.
fn page(plain: usize, labelled: &[&str], token: &str) -> Answer {
    let mut items: Vec<String> = (0..plain).map(|n| item(&format!("plain-{n}"), false)).collect();
    items.extend(labelled.iter().map(|name| item(name, true)));
    list_of(&items, 5, token)
}

/// A server that holds reads up for longer than anybody waits.
fn stalls(reads: usize) -> Vec<Answer> {
    (0..reads).flat_map(|_| [Answer::Open(vec![event("MODIFIED", "a", 6, true)]), Answer::Never]).collect()
}

fn among(plain: usize, labelled: &[&str]) -> Answer {
    page(plain, labelled, "")
}

fn bookmark(version: u32) -> String {
    format!(
        r#"{{"type":"BOOKMARK","object":{{"kind":"Gear","metadata":{{"resourceVersion":"{version}"}}}}}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn of_a_kind_without_wanted_objects_only_metadata_is_asked_for() {
    let changed = Answer::Open(vec![event("MODIFIED", "plain-1", 6, false)]);
    let mut bench = start(vec![among(3, &[]), changed]);
    assert_eq!(bench.reported(QUIET).await, ["listed ", "synced "]);
    assert_eq!(bench.sorts(), ["page metadata", "watch metadata"]);
}

#[tokio::test(start_paused = true)]
async fn few_wanted_objects_are_read_one_by_one() {
    let changes = vec![event("MODIFIED", "a", 6, true), event("MODIFIED", "b", 7, false)];
    let mut bench = start(vec![
        among(50, &["a", "b"]),
        list(&["a"], 5),
        list(&["b"], 5),
        Answer::Open(changes),
        list(&["a"], 6),
    ]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced ", "changed a", "gone b"]);
    assert_eq!(bench.sorts(), ["page metadata", "read whole", "read whole", "watch metadata", "read whole"]);
    let queries = bench.queries();
    assert!(queries[1].ends_with("metadata.name%3Da&resourceVersion=5&resourceVersionMatch=NotOlderThan"));
    assert!(queries[4].ends_with("metadata.name%3Da&resourceVersion=6&resourceVersionMatch=NotOlderThan"));
}

#[tokio::test(start_paused = true)]
async fn a_change_that_can_not_be_read_is_not_called_seen() {
    let mut answers = vec![among(50, &["a"]), list(&["a"], 5)];
    answers.extend(stalls(8));
    let mut bench = start(answers);
    let reported = bench.reported(Duration::from_secs(100)).await;
    let failing = "failing the API server did not answer within 30 s";
    assert_eq!(reported, ["listed a", "synced ", failing]);
}

#[tokio::test(start_paused = true)]
async fn one_read_that_fails_costs_a_list_nothing_but_time() {
    let mut bench = start(vec![among(50, &["a"]), Answer::Later(429, 1), list(&["a"], 5)]);
    assert_eq!(bench.reported(QUIET * 3).await, ["listed a", "synced "]);
    assert_eq!(bench.sorts()[..3], ["page metadata", "read whole", "read whole"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_of_which_many_objects_are_wanted_is_asked_for_whole() {
    let mut bench = start(vec![among(5, &["a", "b"]), among(5, &["a", "b"])]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced "]);
    assert_eq!(bench.sorts(), ["page metadata", "page whole", "watch whole"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_objects_tell_how_all_are_asked_for() {
    // Many of the first ones are wanted, and few of all.
    let mut bench = start(vec![page(9, &["a"], "more"), among(90, &["a", "b"])]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced "]);
    assert_eq!(bench.sorts(), ["page metadata", "page whole", "watch metadata"]);
    assert!(bench.queries()[0].starts_with("limit=100&"), "{:?}", bench.queries());
    assert_eq!(bench.queries()[1], "limit=0&continue=", "all at once, and nothing of what came");

    // Few of the first ones are wanted, and many of all.
    let all = || among(9, &["a", "b"]);
    let mut bench = start(vec![page(40, &["a"], "more"), all(), all()]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced "]);
    assert_eq!(bench.sorts(), ["page metadata", "page metadata", "page whole", "watch whole"]);

    // Few in both.
    let mut bench = start(vec![page(40, &["a"], "more"), among(90, &["a"]), list(&["a"], 5)]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
    assert_eq!(bench.sorts(), ["page metadata", "page metadata", "read whole", "watch metadata"]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_in_pages_is_chosen_too() {
    let cut = || Answer::Whole(200, r#"{"kind":"GearList","items":[{"#.into());
    // The sample, the list that breaks off, and its pages.
    let mut bench = start(vec![
        page(40, &["a"], "more"),
        cut(),
        page(40, &["a"], "two"),
        page(40, &[], ""),
        list(&["a"], 5),
    ]);
    assert_eq!(bench.reported(QUIET * 3).await[1..], ["listed a", "synced "]);
    let sorts = bench.sorts();
    assert_eq!(sorts[..4], vec!["page metadata"; 4]);
    assert_eq!(sorts[4..], ["read whole", "watch metadata"]);
    let queries = bench.queries();
    let limits: Vec<&str> = queries.iter().filter_map(|query| query.split('&').next()).take(4).collect();
    assert_eq!(limits, ["limit=100", "limit=0", "limit=500", "limit=500"]);
    assert!(queries[3].ends_with("continue=two"), "{queries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_knows_no_selector_of_fields_is_understood() {
    let others = || list(&["other", "a", "another"], 5);
    let changed = Answer::Open(vec![event("MODIFIED", "a", 6, true), event("MODIFIED", "b", 7, true)]);
    let mut bench = start(vec![among(50, &["a"]), others(), changed, others(), others()]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced ", "changed a"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_which_most_events_are_wanted_goes_on_whole_and_misses_none() {
    let events = (0..17).map(|n| event("MODIFIED", "a", 10 + n, true)).collect();
    let mut answers = vec![among(50, &["a"]), list(&["a"], 5), Answer::Open(events)];
    answers.extend((0..16).map(|n| list(&["a"], 10 + n)));
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
    let changed = || Answer::Open(vec![event("MODIFIED", "plain-1", 6, true)]);
    let mut bench = start(vec![
        among(50, &[]),
        changed(),
        Answer::Whole(500, "{}".into()),
        changed(),
        list(&["plain-1"], 6),
    ]);
    assert_eq!(bench.reported(Duration::from_secs(5)).await, ["listed ", "synced ", "changed plain-1"]);
    assert_eq!(
        bench.sorts(),
        ["page metadata", "watch metadata", "read whole", "watch metadata", "read whole"]
    );
    assert!(bench.queries()[3].ends_with("resourceVersion=5"));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_which_a_read_fails_shows_nothing_and_is_made_again() {
    let fails = |code| Answer::Whole(code, "{}".into());
    for read in [vec![fails(403)], vec![fails(500), fails(500), fails(500)]] {
        let mut answers = vec![among(50, &["a"])];
        answers.extend(read);
        answers.extend([among(50, &["a"]), list(&["a"], 5)]);
        let mut bench = start(answers);
        let reported = bench.reported(Duration::from_secs(10)).await;
        assert_eq!(reported[1..], ["listed a", "synced "], "{reported:?}");
        assert!(reported[0].starts_with("failing") || reported[0].starts_with("forbidden"), "{reported:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_before_it_is_read_is_gone() {
    let none = || list(&[], 9);
    let changes = vec![event("MODIFIED", "b", 7, true), event("DELETED", "b", 8, true)];
    let mut bench =
        start(vec![among(50, &["a", "b"]), none(), list(&["b"], 5), Answer::Open(changes), none()]);
    assert_eq!(bench.reported(QUIET).await, ["listed b", "synced ", "gone b"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_last_wanted_object_goes_is_metadata_again() {
    let whole = Answer::Open(vec![bookmark(6), event("DELETED", "a", 7, true), bookmark(8)]);
    let mut bench =
        start(vec![among(0, &["a"]), among(0, &["a"]), whole, Answer::Open(vec![error(410, "old")])]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced ", "gone a"]);
    assert_eq!(
        bench.sorts(),
        ["page metadata", "page whole", "watch whole", "watch metadata", "page metadata"]
    );
    assert!(bench.queries()[3].ends_with("resourceVersion=8"));
}
