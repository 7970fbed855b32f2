//! What an API server, or what is between it and us, is known to do wrong: each as it was reported for
//! other controllers.

use std::time::Duration;

use tokio::time::Instant;

use super::{Answer, Bench, QUIET, error, event, list, page, start};
use crate::watch::News;

/// Longer than anything here waits for.
const ALL: Duration = Duration::from_secs(300);

fn one() -> Answer {
    list(&["a"], 5)
}

/// A watch of which nothing comes.
fn silence() -> Answer {
    Answer::Open(Vec::new())
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_dead_is_left_within_two_minutes() {
    let began = Instant::now();
    let mut bench = start(vec![one(), silence(), Answer::Open(vec![event("ADDED", "b", 6, true)])]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
    assert_eq!(bench.reported(ALL / 3).await, ["changed b"]);
    assert!(began.elapsed() - ALL / 3 < Duration::from_secs(120));
    assert!(bench.queries()[2].ends_with("resourceVersion=5"), "nothing is listed anew");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_any_answer_is_made_again() {
    let mut bench = start(vec![Answer::Never, one()]);
    let reported = bench.reported(ALL / 3).await;
    assert_eq!(reported[0], "failing the API server did not answer within 30 s");
    assert_eq!(reported[1..3], ["listed a", "synced "]);
}

#[tokio::test(start_paused = true)]
async fn that_nobody_answers_any_more_is_said_within_two_minutes() {
    let began = Instant::now();
    let mut bench = start(vec![one(), silence(), Answer::Never, Answer::Never]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
    let told = tokio::time::timeout(ALL, bench.news.recv()).await.expect("it is said").expect("news");
    assert!(matches!(told.news, News::State(state) if state.as_str() == "failing"));
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_begins_and_never_ends_is_asked_for_in_pages() {
    let began = Instant::now();
    let mut bench = start(vec![Answer::Open(vec![r#"{"kind":"GearList","#.into()]), one()]);
    let reported = bench.reported(ALL / 3).await;
    assert_eq!(
        reported,
        ["failing the API server's answer broke off: nothing came for 30 s", "listed a", "synced "]
    );
    assert!(began.elapsed() - ALL / 3 < Duration::from_secs(120));
    let queries = bench.queries();
    assert!(queries[0].starts_with("limit=0&") && queries[1].starts_with("limit=500&"), "{queries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_breaks_off_is_asked_for_in_pages_and_the_next_one_at_once() {
    let cut = Answer::Whole(200, r#"{"kind":"GearList","items":[{"#.into());
    let answers =
        vec![cut, page(&["a"], 5, "next"), page(&["b"], 5, ""), Answer::Whole(410, "{}".into()), one()];
    let mut bench = start(answers);
    let reported = bench.reported(Duration::from_secs(5)).await;
    assert_eq!(reported[1..], ["listed a,b", "synced ", "listed a"], "{reported:?}");
    let queries = bench.queries();
    let limits: Vec<&str> = queries.iter().filter_map(|query| query.split('&').next()).collect();
    assert_eq!(limits[..3], ["limit=0", "limit=500", "limit=500"]);
    assert_eq!(limits[4], "limit=0");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_has_expired_begins_the_list_anew() {
    let answers = vec![
        page(&["a", "gone"], 9, "next"),
        Answer::Whole(410, r#"{"message":"the token has expired"}"#.into()),
        page(&["a"], 10, "next"),
        page(&["b"], 10, ""),
    ];
    let mut bench = start(answers);
    let reported = bench.reported(Duration::from_secs(20)).await;
    assert!(reported.ends_with(&["listed a,b".into(), "synced ".into()]), "{reported:?}");
    assert!(bench.queries()[2].ends_with("continue="), "{:?}", bench.queries());
    assert_eq!(bench.asked(), ["page", "page", "page", "page", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_fails_is_asked_for_again_and_not_the_whole_list() {
    for failed in [Answer::Whole(500, "{}".into()), Answer::Later(429, 3)] {
        let answers = vec![page(&["a"], 9, "next"), failed, page(&["b"], 9, "")];
        let mut bench = start(answers);
        assert_eq!(bench.reported(Duration::from_secs(10)).await, ["listed a,b", "synced "]);
        assert_eq!(bench.asked(), ["page", "page", "page", "watch"]);
        let asked = bench.queries();
        assert_eq!(asked[1], asked[2]);
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_lead_nowhere_are_no_busy_loop() {
    let mut bench = start((0..1000).map(|_| page(&["a"], 9, "next")).collect());
    let reported = bench.reported(Duration::from_secs(60)).await;
    assert_eq!(reported, ["failing the API server's answer can't be read: the pages of a list never end"]);
    assert!(bench.asked().len() < 30, "{}", bench.asked().len());
}

#[tokio::test(start_paused = true)]
async fn a_version_that_has_expired_is_listed_anew_in_both_forms() {
    let too_large = r#"{"message":"Too large resource version: 9, current: 2"}"#;
    for expired in [
        Answer::Whole(410, "{}".into()),
        Answer::Closed(vec![error(410, "too old resource version")]),
        Answer::Whole(504, too_large.into()),
    ] {
        let mut bench = start(vec![one(), expired, list(&["b"], 8)]);
        assert_eq!(bench.reported(Duration::from_secs(5)).await, ["listed a", "synced ", "listed b"]);
        assert_eq!(bench.asked(), ["page", "watch", "page", "watch"]);
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_to_wait_is_not_asked_before() {
    for code in [429, 503] {
        let began = Instant::now();
        let mut bench = start(vec![Answer::Later(code, 20), one()]);
        let reported = bench.reported(Duration::from_secs(30)).await;
        assert!(reported.ends_with(&["listed a".into(), "synced ".into()]), "{reported:?}");
        let waited = began.elapsed() - Duration::from_secs(30);
        assert!(waited >= Duration::from_secs(20) && waited < Duration::from_secs(25), "{waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_no_busy_loop() {
    let mut answers = vec![one()];
    answers.extend((0..1000).map(|_| Answer::Closed(Vec::new())));
    let mut bench = start(answers);
    bench.reported(ALL).await;
    let asked = bench.asked().len();
    assert!(asked < 30, "{asked} requests in {ALL:?}");
}

#[tokio::test(start_paused = true)]
async fn lists_that_fail_are_asked_for_less_and_less_often() {
    for body in ["{}", "<html>502 Bad Gateway</html>", ""] {
        let mut bench = start((0..1000).map(|_| Answer::Whole(502, body.into())).collect());
        bench.reported(ALL).await;
        let asked = bench.asked().len();
        assert!((8..30).contains(&asked), "{asked} requests in {ALL:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_object_that_makes_no_sense_keeps_back_no_other() {
    let odd = r#"{"type":"ADDED","object":{"metadata":{"name":["x"],"labels":"addons.x-k8s.io/a"}}}"#;
    let nameless =
        r#"{"type":"ADDED","object":{"kind":"Gear","metadata":{"labels":{"addons.x-k8s.io/a":""}}}}"#;
    let deep = format!(
        r#"{{"type":"ADDED","object":{{"metadata":{{"name":"deep","labels":{{"addons.x-k8s.io/a":""}}}},"spec":{}{}}}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    let lines = vec![nameless.into(), deep, event("ADDED", "b", 3, true)];
    let mut bench = start(vec![list(&[], 2), Answer::Open(lines)]);
    assert_eq!(bench.reported(QUIET).await, ["listed ", "synced ", "changed deep", "changed b"]);

    // What isn't even named breaks the watch; a list passes over it.
    let listed = r#"{"kind":"GearList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":["x"]}},
        {"metadata":{"name":"b","uid":"b","labels":{"addons.x-k8s.io/a":""}}}]}"#;
    let mut bench = start(vec![
        Answer::Whole(200, listed.into()),
        Answer::Open(vec![odd.into()]),
        Answer::Open(vec![event("ADDED", "c", 10, true)]),
    ]);
    assert_eq!(bench.reported(Duration::from_secs(5)).await, ["listed b", "synced ", "changed c"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_busy_does_not_starve_a_new_list() {
    let busy = Answer::Endless(event("MODIFIED", "a", 10, true));
    let mut bench = start(vec![one(), busy, list(&["b"], 11)]);
    let next = async |bench: &mut Bench| {
        let report = tokio::time::timeout(QUIET, bench.news.recv()).await;
        report.expect("in time").expect("news").news
    };
    // The list, that it is synced, and events without end.
    for _ in 0..100 {
        next(&mut bench).await;
    }
    bench.rules.replace(crate::health::Rules::with([]), |_| true);
    let mut later = 0;
    while !matches!(next(&mut bench).await, News::Listed(..)) {
        later += 1;
        // So many are on their way already.
        assert!(later < 100, "it isn't listed anew");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_kind_is_followed_anew_and_nothing_is_wrong_with_it() {
    // No bookmark comes of a kind in which nothing has changed since the watch began.
    let mut answers = vec![one()];
    answers.extend((0..3).map(|_| silence()));
    let mut bench = start(answers);
    assert_eq!(bench.reported(ALL).await, ["listed a", "synced "]);
    // After 85 s one of 15 s, which ends, and then one each 75 s.
    assert_eq!(bench.asked(), ["page", "watch", "watch", "watch", "watch", "watch"]);
    assert_eq!(bench.errors(), 0);
    let seconds = |query: &str| query.split_once("timeoutSeconds=").map(|(_, rest)| rest[..2].to_owned());
    let asked: Vec<_> = bench.queries()[2..].iter().filter_map(|query| seconds(query)).collect();
    assert_eq!(asked, ["15", "75", "75", "75"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_quiet_no_more_is_watched_for_long() {
    let moved = Answer::Open(vec![event("ADDED", "b", 6, true)]);
    let mut bench = start(vec![one(), silence(), silence(), moved]);
    assert_eq!(bench.reported(ALL / 3 * 2).await, ["listed a", "synced ", "changed b"]);
    let queries = bench.queries();
    assert!(
        queries[3].contains("timeoutSeconds=75&") && queries[4].ends_with("resourceVersion=6"),
        "{queries:?}"
    );
    assert!(!queries[4].contains("timeoutSeconds=75&"), "{queries:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_opens_and_passes_on_nothing_is_replaced_by_lists_every_two_minutes() {
    // As behind a gateway that collects answers, or of a watch cache that stands still.
    let stuck = || Answer::Stuck(Vec::new());
    let began = Instant::now();
    let two = || list(&["a", "b"], 9);
    let mut bench = start(vec![one(), stuck(), stuck(), two(), stuck(), stuck(), one()]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
    let told = tokio::time::timeout(ALL, bench.news.recv()).await.expect("a list").expect("news");
    assert!(matches!(told.news, News::Listed(objects, _) if objects.len() == 2));
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    assert!(bench.errors() > 0, "it is counted");
    assert_eq!(bench.reported(Duration::from_secs(130)).await, ["listed a"]);
}

#[tokio::test(start_paused = true)]
async fn that_quiet_kinds_are_not_heard_of_any_more_is_found_out_within_two_minutes() {
    // Three watches that ended by themselves go before the one that doesn't.
    let mut answers = vec![one()];
    answers.extend((0..3).map(|_| silence()));
    answers.extend([Answer::Stuck(Vec::new()), Answer::Never, Answer::Never]);
    let mut bench = start(answers);
    bench.reported(Duration::from_secs(85 + 15 + 75 + 2)).await;
    let began = Instant::now();
    assert_eq!(bench.asked().len(), 5);
    let told = tokio::time::timeout(ALL, bench.news.recv()).await.expect("it is said").expect("news");
    assert!(matches!(told.news, News::State(state) if state.as_str() == "failing"));
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn that_nobody_answers_any_more_is_said_within_two_minutes_of_a_quiet_kind_too() {
    // The second watch is one that took the place of a silent one.
    let stuck = Answer::Stuck(Vec::new());
    let mut bench = start(vec![one(), silence(), stuck, Answer::Never, Answer::Never]);
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
    bench.reported(Duration::from_secs(90)).await;
    let began = Instant::now();
    assert_eq!(bench.asked().len(), 3);
    let told = tokio::time::timeout(ALL, bench.news.recv()).await.expect("it is said").expect("news");
    assert!(matches!(told.news, News::State(state) if state.as_str() == "failing"));
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_can_not_be_followed_is_not_made_again_and_again() {
    for code in [400, 404, 405, 422] {
        let began = Instant::now();
        let answers = (0..30).flat_map(|_| [one(), Answer::Whole(code, "{}".into())]);
        let mut bench = start(answers.collect());
        let reported = bench.reported(ALL).await;
        assert!(reported.iter().any(|said| said.starts_with("failing")), "{reported:?}");
        assert_eq!(reported.iter().filter(|said| *said == "synced ").count(), 1, "at first");
        let took = began.elapsed() - ALL;
        assert!(took > Duration::from_secs(10) * 30, "30 lists in {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_makes_no_sense_each_time_is_passed_over_by_a_list() {
    let poison = || Answer::Open(vec!["<html>".into()]);
    let next = Answer::Open(vec![event("ADDED", "c", 10, true)]);
    let mut bench = start(vec![one(), poison(), poison(), list(&["a", "b"], 9), next]);
    let reported = bench.reported(Duration::from_secs(8)).await;
    assert_eq!(reported, ["listed a", "synced ", "listed a,b", "changed c"]);
    assert!(bench.queries()[4].ends_with("resourceVersion=9"));
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_is_made_anew_where_its_watch_ends() {
    let unversioned = |name: &str| {
        let body = format!(
            r#"{{"kind":"GearList","items":[{{"metadata":{{"name":"{name}","uid":"{name}","labels":{{"addons.x-k8s.io/a":""}}}}}}]}}"#
        );
        Answer::Whole(200, body)
    };
    let ended = Answer::Slow(Duration::from_secs(20), Box::new(Answer::Closed(Vec::new())));
    let mut bench = start(vec![unversioned("a"), ended, unversioned("b")]);
    assert_eq!(bench.reported(Duration::from_secs(30)).await, ["listed a", "synced ", "listed b"]);
}

#[tokio::test(start_paused = true)]
async fn who_asks_to_wait_is_left_alone_although_others_are_hurried() {
    let began = Instant::now();
    let mut bench = start(vec![Answer::Later(429, 30), one()]);
    for _ in 0..20 {
        assert!(bench.reported(QUIET).await.is_empty());
        bench.turns.hurry();
    }
    assert_eq!(bench.asked().len(), 1);
    bench.reported(Duration::from_secs(20)).await;
    assert_eq!(bench.asked().len(), 3, "it is listed and followed in the end");
    drop(bench);

    // Refused four times, it would wait for 8 to 16 s.
    let mut answers: Vec<Answer> = (0..4).map(|_| Answer::Whole(403, "{}".into())).collect();
    answers.push(one());
    let mut bench = start(answers);
    while bench.asked().len() < 4 {
        bench.reported(QUIET / 4).await;
        assert!(began.elapsed() < ALL, "{:?}", bench.asked());
    }
    bench.turns.hurry();
    assert_eq!(bench.reported(QUIET).await, ["listed a", "synced "]);
}
