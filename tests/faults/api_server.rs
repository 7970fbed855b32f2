//! F1, F2: the API server is gone, or stands still.

use std::time::{Duration, Instant};

use addons_testbed::{Program, When, eventually};

use crate::{
    stage::{Kind, Stage, lasts},
    support::LONG,
};

/// Kills the API server, leaves it down, and changes things as soon as it is back.
async fn down_for(stage: &Stage, down: Duration) {
    stage.put(Kind::Widget, "gone", "gone", Some(true)).await;
    stage.shows("gone", LONG, |status| status["health"] == "Healthy").await;
    stage.cluster.kill(Program::ApiServer).expect("it is killed");
    lasts(down.as_secs()).await;
    stage.cluster.start_again(Program::ApiServer).await.expect("it is up again");
    stage.delete(Kind::Widget, "gone").await;
    stage.put(Kind::Widget, "new", "new", Some(false)).await;
    stage.shows("new", LONG, |status| status["health"] == "Degraded").await;
    stage.lacks("gone", LONG).await;
    stage.agrees(LONG).await;
}

#[tokio::test]
async fn f01_the_api_server_is_killed_and_comes_back() {
    let stage = Stage::with_cast("f01-short").await;
    let recorder = stage.record().await;
    down_for(&stage, Duration::from_secs(1)).await;
    recorder.finish().await.is_undisturbed("f01-short");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f01_the_api_server_is_down_for_half_a_minute() {
    let stage = Stage::with_cast("f01-half").await;
    let recorder = stage.record().await;
    down_for(&stage, Duration::from_secs(30)).await;
    recorder.finish().await.is_undisturbed("f01-half");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f01_the_api_server_is_down_for_five_minutes() {
    let stage = Stage::with_cast("f01-five").await;
    let recorder = stage.record().await;
    let before = stage.proxy.count(&When::any());
    let outage = async {
        let down = Duration::from_secs(300);
        down_for(&stage, down).await;
    };
    let honest = async {
        // It was up for a moment when this began.
        lasts(5).await;
        eventually(Duration::from_secs(120), "it is said that widgets aren't seen", || stage.gap("widgets"))
            .await;
    };
    tokio::join!(outage, honest);
    // Of some 75 watches each tries every 30 s in the end.
    let asked = stage.proxy.count(&When::any()) - before;
    assert!(asked < 75 * 30, "{asked} requests");
    let history = recorder.finish().await;
    history.is_honest("f01-five");
    for what in ["well", "ill", "other"] {
        history.never_wrote(&stage.id(what), "Unknown");
    }
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f01_the_api_server_is_killed_ten_times() {
    let stage = Stage::with_cast("f01-ten").await;
    let recorder = stage.record().await;
    for n in 0..10 {
        stage.cluster.kill(Program::ApiServer).expect("it is killed");
        stage.cluster.start_again(Program::ApiServer).await.expect("it is up again");
        stage.put(Kind::Widget, &format!("n{n}"), "ten", Some(true)).await;
    }
    stage.shows("ten", LONG, |status| status["ready"] == "10/10").await;
    stage.agrees(LONG).await;
    // A server that is up for a moment again and again may be missed by a watch for a minute.
    recorder.finish().await.is_honest("f01-ten");
}

#[tokio::test]
async fn f02_the_api_server_stands_still_for_a_while() {
    let stage = Stage::with_cast("f02-short").await;
    let recorder = stage.record().await;
    let paused = stage.cluster.pause(Program::ApiServer).expect("it stands still");
    lasts(8).await;
    drop(paused);
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f02-short");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f02_that_the_api_server_stands_still_is_said_within_two_minutes() {
    let stage = Stage::with_cast("f02-long").await;
    let recorder = stage.record().await;
    let started = Instant::now();
    let paused = stage.cluster.pause(Program::ApiServer).expect("it stands still");
    eventually(Duration::from_secs(240), "it is said that widgets aren't seen", || stage.gap("widgets"))
        .await;
    let said = started.elapsed();
    drop(paused);
    stage.agrees(Duration::from_secs(180)).await;
    recorder.finish().await.is_honest("f02-long");
    assert!(said < Duration::from_secs(120), "it was said after {said:?}");
}
