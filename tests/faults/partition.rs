//! F11, F13: what is between the controller and the API server is broken, slow or overloaded.

use std::time::{Duration, Instant};

use addons_testbed::{Fault, Injected, When, eventually};

use crate::{
    stage::{Kind, Stage, WIDGETS, happened, lasts},
    support::LONG,
};

fn widgets() -> When {
    When::under(WIDGETS)
}

/// Changes things behind the back of the controller, lets the fault end, and waits for the truth.
async fn catches_up(stage: &Stage, fault: Injected) {
    stage.put(Kind::Widget, "new", "new", Some(false)).await;
    stage.delete(Kind::Widget, "gone").await;
    drop(fault);
    stage.shows("new", LONG, |status| status["health"] == "Degraded").await;
    stage.lacks("gone", LONG).await;
    stage.agrees(LONG).await;
}

async fn with_gone(name: &'static str) -> Stage {
    let stage = Stage::with_cast(name).await;
    stage.put(Kind::Widget, "gone", "gone", Some(true)).await;
    stage.shows("gone", LONG, |status| status["health"] == "Healthy").await;
    stage
}

#[tokio::test]
async fn f11_a_server_that_is_busy_is_left_alone_for_as_long_as_it_asks() {
    let stage = with_gone("f11-busy").await;
    let recorder = stage.record().await;
    let busy = stage.proxy.inject(widgets(), Fault::Status(429, Some(3)));
    stage.break_watches(widgets(), 1).await;
    let before = stage.proxy.count(&widgets());
    stage.goes_on(8).await;
    let asked = stage.proxy.count(&widgets()) - before;
    assert!(asked <= 4, "{asked} requests in 8 s");
    catches_up(&stage, busy).await;
    recorder.finish().await.is_undisturbed("f11-busy");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f11_every_kind_of_failure_in_turn() {
    let stage = with_gone("f11-mix").await;
    let recorder = stage.record().await;
    let rounds = [Fault::Status(500, None), Fault::Html(502), Fault::Status(503, Some(1)), Fault::Html(504)];
    let before = stage.proxy.count(&When::any());
    let mut fault = stage.proxy.inject(When::any(), rounds[0].clone());
    stage.break_watches(widgets(), 1).await;
    stage.break_watches(When::any(), 19).await;
    lasts(1).await;
    for next in &rounds[1..] {
        // It is there before the last one has gone.
        fault = stage.proxy.inject(When::any(), next.clone());
        lasts(2).await;
    }
    let asked = stage.proxy.count(&When::any()) - before;
    assert!(asked < 20 * 8, "{asked} requests in 8 s for 20 watches");
    catches_up(&stage, fault).await;
    recorder.finish().await.is_undisturbed("f11-mix");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f11_every_answer_takes_twenty_five_seconds_to_begin() {
    let mut stage = with_gone("f11-delay").await;
    let slow = stage.proxy.inject(When::any(), Fault::Delay(Duration::from_secs(25)));
    let started = Instant::now();
    let recorder = stage.begin_recorded().await;
    // Discovery is two requests, and then there are the lists.
    eventually(Duration::from_secs(150), "it is ready", || async {
        match stage.controller().get("/readyz").await? {
            (200, _) => Ok(()),
            (_, body) => Err(body),
        }
    })
    .await;
    let took = started.elapsed();
    assert!(took > Duration::from_secs(50), "a list came {took:?} after the start, without waiting");
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    catches_up(&stage, slow).await;
    recorder.finish().await.is_honest("f11-delay");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f13_every_connection_is_reset_for_a_while() {
    let stage = with_gone("f13-reset").await;
    let recorder = stage.record().await;
    let before = stage.proxy.count(&When::any());
    let kinds = stage.proxy.count(&When::any().watches());
    let reset = stage.proxy.inject(When::any(), Fault::Reset);
    lasts(6).await;
    let asked = stage.proxy.count(&When::any()) - before;
    assert!(asked < kinds * 6, "{asked} requests of {kinds} kinds in 6 s");
    catches_up(&stage, reset).await;
    recorder.finish().await.is_undisturbed("f13-reset");
}

#[tokio::test]
async fn f13_nothing_gets_through_for_a_while() {
    let stage = with_gone("f13-hole").await;
    let recorder = stage.record().await;
    let hole = stage.proxy.inject(When::any(), Fault::Stall);
    lasts(10).await;
    catches_up(&stage, hole).await;
    recorder.finish().await.is_undisturbed("f13-hole");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f13_that_nothing_gets_through_is_said_within_two_minutes() {
    let stage = with_gone("f13-long").await;
    let recorder = stage.record().await;
    let started = Instant::now();
    let hole = stage.proxy.inject(When::any(), Fault::Stall);
    eventually(Duration::from_secs(240), "it is said that widgets aren't seen", || stage.gap("widgets"))
        .await;
    let said = started.elapsed();
    catches_up(&stage, hole).await;
    recorder.finish().await.is_honest("f13-long");
    assert!(said < Duration::from_secs(120), "it was said after {said:?}");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f13_a_watch_that_died_unheard_is_found_out_within_two_minutes() {
    let stage = with_gone("f13-half").await;
    let recorder = stage.record().await;
    // Only what is open already: it is as if the other side had forgotten the connection.
    let dead = stage.proxy.inject_times(1, widgets().watches(), Fault::Stall);
    happened(&dead, 1).await;
    stage.delete(Kind::Widget, "gone").await;
    let started = Instant::now();
    stage.others_are_on_time().await;
    stage.lacks("gone", Duration::from_secs(240)).await;
    let found = started.elapsed();
    drop(dead);
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f13-half");
    assert!(found < Duration::from_secs(120), "it was found out after {found:?}");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f13_that_a_gateway_holds_back_what_comes_is_found_out_within_two_minutes() {
    let stage = with_gone("f13-mute").await;
    let recorder = stage.record().await;
    let mute = stage.proxy.inject(widgets().watches(), Fault::Mute);
    happened(&mute, 1).await;
    stage.put(Kind::Widget, "new", "new", Some(false)).await;
    stage.delete(Kind::Widget, "gone").await;
    let started = Instant::now();
    let found = async {
        stage.shows("new", Duration::from_secs(240), |status| status["health"] == "Degraded").await;
        stage.lacks("gone", LONG).await;
        started.elapsed()
    };
    let found = stage.beside(found).await;
    drop(mute);
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f13-mute");
    assert!(found < Duration::from_secs(120), "it was found out after {found:?}");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f13_the_silence_of_quiet_kinds_is_no_fault() {
    let stage = Stage::with_cast("f13-quiet").await;
    let recorder = stage.record().await;
    let lists = stage.proxy.count(&When::any().lists());
    // Silent, seen to end, and twice followed again.
    stage.goes_on(200).await;
    assert_eq!(stage.proxy.count(&When::any().lists()), lists, "nothing was listed anew");
    recorder.finish().await.is_undisturbed("f13-quiet");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f13_a_gateway_cuts_every_connection_after_a_minute() {
    let stage = with_gone("f13-gateway").await;
    let recorder = stage.record().await;
    let (lists, kinds) = (stage.proxy.count(&When::any().lists()), stage.watched_kinds());
    let gateway = stage.proxy.inject(When::any().watches(), Fault::End(Duration::from_secs(60)));
    stage.goes_on(130).await;
    assert_eq!(stage.proxy.count(&When::any().lists()), lists, "nothing was listed anew");
    // Each of them once at least.
    let ended = gateway.happened();
    assert!(ended >= kinds, "{ended} watches of {kinds} kinds ended");
    catches_up(&stage, gateway).await;
    recorder.finish().await.is_undisturbed("f13-gateway");
}
