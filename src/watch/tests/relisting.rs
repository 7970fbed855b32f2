//! Rules that change while a kind is followed.

use std::time::Duration;

use tokio::time::timeout;

use super::{Answer, Bench, QUIET, item, list, list_of, page, start};
use crate::{
    health::{Rule, Rules},
    model::{Health, Timestamp},
    summary::Observation,
    watch::News,
};

/// Rules by which every gear is so.
fn rules(word: &str) -> Rules {
    let spec = serde_json::json!({
        "match": {"group": "lab.example", "kind": "Gear"},
        "rows": [{"verdict": word}],
    });
    let spec = serde_json::from_value(spec).expect("a spec");
    Rules::with([Rule::compile("StatusRule/gears", &spec).expect("a rule").into()])
}

impl Bench {
    /// The next list that is reported: what was read, and how many known objects couldn't be.
    async fn next_list(&mut self) -> (Vec<Observation>, usize) {
        loop {
            let report = timeout(Duration::from_secs(60), self.news.recv()).await;
            if let News::Listed(observations, unread) = report.expect("in time").expect("news").news {
                return (observations, unread.len());
            }
        }
    }

    /// The healths of the next list that is reported.
    async fn listed(&mut self) -> Vec<Health> {
        let (observations, _) = self.next_list().await;
        observations.iter().map(|o| o.timeline.at(Timestamp::UNIX_EPOCH).health).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn known_objects_are_judged_by_new_rules_in_one_whole_list() {
    let mut bench = start(vec![list(&["a", "b"], 5), silence(), list(&["a", "b"], 6)]);
    assert_eq!(bench.reported(QUIET).await, ["listed a,b", "synced "]);
    assert_eq!(bench.rules.replace(rules("Degraded"), |kind| kind.kind == "Gear"), 1);
    assert_eq!(bench.listed().await, [Health::Degraded; 2]);
    assert!(bench.reported(QUIET).await.is_empty(), "nothing but the list is told");
    assert_eq!(bench.asked(), ["page", "watch", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn rules_for_other_kinds_list_nothing_anew() {
    let mut bench = start(vec![list(&["a"], 5)]);
    bench.reported(QUIET).await;
    assert_eq!(bench.rules.replace(rules("Degraded"), |kind| kind.kind == "Lever"), 0);
    assert!(bench.reported(QUIET).await.is_empty());
    assert_eq!(bench.asked(), ["page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn many_changes_before_a_list_begins_are_one_list() {
    let mut bench = start(vec![list(&["a"], 5), silence(), list(&["a"], 6)]);
    bench.reported(QUIET).await;
    for word in ["Degraded", "Suspended", "Progressing", "Unknown"] {
        bench.rules.replace(rules(word), |_| true);
    }
    assert_eq!(bench.listed().await, [Health::Unknown]);
    assert!(bench.reported(QUIET).await.is_empty());
    assert_eq!(bench.asked(), ["page", "watch", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn a_change_during_a_list_is_one_list_more() {
    let slow = Answer::Slow(QUIET * 5, Box::new(page(&["b"], 5, "")));
    let mut bench = start(vec![page(&["a"], 5, "next"), slow, silence(), list(&["a", "b"], 6)]);
    assert!(bench.reported(QUIET).await.is_empty());
    bench.rules.replace(rules("Degraded"), |_| true);
    assert_eq!(bench.listed().await.len(), 2, "judged partly by the old rules");
    assert_eq!(bench.listed().await, [Health::Degraded; 2]);
    assert!(bench.reported(QUIET).await.is_empty());
    assert_eq!(bench.asked(), ["page", "page", "watch", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_begins_after_the_change_is_enough() {
    // The first list fails, and the next one isn't due yet.
    let mut bench = start(vec![Answer::Later(503, 20), list(&["a"], 5)]);
    bench.reported(QUIET).await;
    bench.rules.replace(rules("Degraded"), |_| true);
    assert_eq!(bench.listed().await, [Health::Degraded]);
    assert!(bench.reported(QUIET).await.iter().all(|said| !said.starts_with("listed")));
    assert_eq!(bench.asked(), ["page", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_list_that_fails_takes_nothing_away_and_is_tried_again() {
    let mut bench = start(vec![
        list(&["a"], 5),
        silence(),
        Answer::Whole(500, "{}".into()),
        page(&[], 6, "next"),
        Answer::Whole(500, "{}".into()),
        list(&["a"], 7),
    ]);
    bench.reported(QUIET).await;
    bench.rules.replace(rules("Degraded"), |_| true);
    assert_eq!(bench.listed().await, [Health::Degraded]);
    assert!(bench.reported(QUIET).await.is_empty(), "it is never called failing");
    assert_eq!(bench.asked(), ["page", "watch", "page", "page", "page", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_and_cannot_be_read_in_a_new_list_is_not_gone() {
    // Nobody can tell which of both holds.
    let broken = |name| item(name, true).replacen('{', r#"{"spec":{},"spec":{},"#, 1);
    let mut bench = start(vec![
        list(&["a", "b"], 5),
        silence(),
        list_of(&[item("b", true), broken("a"), broken("new")], 6, ""),
        silence(),
        list_of(&[broken("a")], 7, ""),
    ]);
    bench.reported(QUIET).await;
    for names in [&["b"][..], &[]] {
        bench.rules.replace(rules("Degraded"), |_| true);
        let (observations, unread) = bench.next_list().await;
        assert_eq!(observations.iter().map(|o| &*o.object.name).collect::<Vec<_>>(), names);
        // `a` in both lists; what was never known may have no label.
        assert_eq!(unread, 1);
    }
}

/// A watch of which nothing comes.
fn silence() -> Answer {
    Answer::Open(Vec::new())
}
