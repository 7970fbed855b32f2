//! F4, F12: lists in pages that expire, break off and are large.

use std::time::Duration;

use addons_testbed::{After, Fault, How, Injected, When};

use crate::{
    stage::{Kind, Stage, WIDGETS, happened},
    support::LONG,
};

fn widgets() -> When {
    When::under(WIDGETS)
}

/// Has widgets be listed in pages of two as soon as their watch breaks; `gone` goes unseen meanwhile.
async fn in_pages(stage: &Stage, fault: Injected) {
    stage.proxy.page_size(2);
    let stall = stage.proxy.inject(widgets(), Fault::Stall);
    happened(&stall, 1).await;
    stage.delete(Kind::Widget, "gone").await;
    let too_old = stage.proxy.inject_times(1, widgets().watches(), Fault::Status(410, None));
    let broken = stage.proxy.inject_times(1, widgets().watches(), Fault::Reset);
    drop(stall);
    happened(&broken, 1).await;
    happened(&too_old, 1).await;
    happened(&fault, 3).await;
    stage.others_are_on_time().await;
    stage.lacks("gone", LONG).await;
    drop(fault);
    stage.proxy.page_size(0);
    stage.agrees(LONG).await;
}

async fn with_many(name: &'static str) -> Stage {
    let stage = Stage::with_cast(name).await;
    for n in 0..7 {
        stage.put(Kind::Widget, &format!("n{n}"), "many", Some(true)).await;
    }
    stage.put(Kind::Widget, "gone", "gone", Some(true)).await;
    stage.shows("many", LONG, |status| status["ready"] == "7/7").await;
    stage.agrees(LONG).await;
    stage
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f04_a_list_expires_between_its_pages() {
    let stage = with_many("f04-pages").await;
    let recorder = stage.record().await;
    let expires = stage.proxy.inject_times(3, widgets().continued(), Fault::Status(410, None));
    in_pages(&stage, expires).await;
    let history = recorder.finish().await;
    history.is_undisturbed("f04-pages").kept("f04-pages-many").only("f04-pages-many", &["Healthy"]);
}

#[tokio::test]
async fn f12_a_list_breaks_off_in_the_middle_of_a_page() {
    for (name, how) in [("f12-closed", How::Closed), ("f12-reset", How::Reset), ("f12-clean", How::Clean)] {
        let stage = with_many(name).await;
        let recorder = stage.record().await;
        let broken = stage.proxy.inject_times(3, widgets().continued(), Fault::Cut(After::Bytes(700), how));
        in_pages(&stage, broken).await;
        let many = format!("{name}-many");
        recorder.finish().await.is_undisturbed(name).kept(&many).only(&many, &["Healthy"]);
    }
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f12_a_list_breaks_off_in_its_first_page() {
    let stage = with_many("f12-first").await;
    let recorder = stage.record().await;
    let ended = stage.proxy.inject_times(1, widgets().watches(), Fault::Reset);
    let too_old = stage.proxy.inject_times(1, widgets().watches(), Fault::Expired);
    let cut = Fault::Cut(After::Bytes(700), How::Clean);
    let broken = stage.proxy.inject_times(2, widgets().lists(), cut);
    happened(&ended, 1).await;
    happened(&too_old, 1).await;
    happened(&broken, 2).await;
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    let history = recorder.finish().await;
    history.is_undisturbed("f12-first").kept("f12-first-many").only("f12-first-many", &["Healthy"]);
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f11_lists_come_slowly() {
    let stage = Stage::with_cast("f11-slow").await;
    for n in 0..40 {
        stage.put(Kind::Widget, &format!("n{n}"), "many", Some(true)).await;
    }
    stage.shows("many", LONG, |status| status["ready"] == "40/40").await;
    stage.agrees(LONG).await;
    let recorder = stage.record().await;
    let too_old = stage.proxy.inject_times(1, widgets().watches(), Fault::Expired);
    let broken = stage.proxy.inject_times(1, widgets().watches(), Fault::Reset);
    let slow = stage.proxy.inject(widgets(), Fault::Slow(5_000));
    happened(&broken, 1).await;
    happened(&too_old, 1).await;
    stage.others_are_on_time().await;
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    assert!(slow.happened() > 0, "no list was slow");
    drop(slow);
    stage.agrees(LONG).await;
    let history = recorder.finish().await;
    history.is_undisturbed("f11-slow").kept("f11-slow-many").only("f11-slow-many", &["Healthy"]);
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn f12_a_kind_of_twenty_thousand_objects_breaks_off_again_and_again() {
    let mut stage = Stage::with_cast("f12-huge").await;
    crate::churn::config_maps(&stage, 20_000, "huge", 100).await;
    let maps = When::under("/api/v1/configmaps");
    stage.stop();
    let cut =
        stage.proxy.inject_times(3, maps.clone().lists(), Fault::Cut(After::Bytes(4 << 10), How::Reset));
    let controller = crate::process::Controller::start(stage.user().kubeconfig());
    controller.shows(&stage.id("huge"), |status| status["ready"] == "200/200").await;
    assert_eq!(cut.happened(), 3);
    let peak = controller.memory("VmHWM");
    assert!(peak < 100 << 10, "{peak} KiB");
    drop(controller);
    stage.start().await;
    stage.agrees(LONG).await;
    crate::churn::clear(&stage).await;
    stage.lacks("huge", Duration::from_secs(60)).await;
}
