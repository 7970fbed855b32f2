//! F3, F4: watches that end, break and are too old.

use std::time::Duration;

use addons_testbed::{After, Fault, How, When};

use crate::{
    stage::{Kind, Stage, WIDGETS, happened, lasts},
    support::LONG,
};

fn widgets() -> When {
    When::under(WIDGETS)
}

#[tokio::test]
async fn f03_every_watch_ends_every_second() {
    let stage = Stage::with_cast("f03-ends").await;
    let recorder = stage.record().await;
    let (lists, watches) =
        (stage.proxy.count(&When::any().lists()), stage.proxy.count(&When::any().watches()));
    let (kinds, of_widgets) = (stage.watched_kinds(), stage.proxy.count(&widgets().watches()));
    let ends = stage.proxy.inject(When::any().watches(), Fault::End(Duration::from_secs(1)));
    lasts(4).await;
    stage.put(Kind::Widget, "well", "well", Some(true)).await;
    stage.put(Kind::Widget, "late", "late", Some(true)).await;
    stage.shows("late", LONG, |status| status["health"] == "Healthy").await;
    lasts(4).await;
    stage.delete(Kind::Widget, "late").await;
    lasts(4).await;
    // What was open ended at once, and what took its place a second later.
    let (ended, of_widgets) = (ends.happened(), stage.proxy.count(&widgets().watches()) - of_widgets);
    assert!(ended >= kinds, "{ended} watches of {kinds} kinds ended");
    assert!(of_widgets >= 2, "{of_widgets} watches of widgets");
    drop(ends);
    let again = stage.proxy.count(&When::any().watches()) - watches;
    assert!(again < kinds * 9, "{again} watches of {kinds} kinds in 12 s");
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.lacks("late", LONG).await;
    stage.agrees(LONG).await;
    assert_eq!(stage.proxy.count(&When::any().lists()), lists, "nothing was listed anew");
    recorder.finish().await.is_undisturbed("f03-ends");
}

/// Cuts the watch of widgets in the middle of three events, one of them a deletion.
async fn cut(name: &'static str, how: How) {
    let stage = Stage::with_cast(name).await;
    stage.put(Kind::Widget, "gone", "gone", Some(true)).await;
    stage.shows("gone", LONG, |status| status["health"] == "Healthy").await;
    let recorder = stage.record().await;
    let lists = stage.proxy.count(&widgets().lists());
    let cut = stage.proxy.inject_times(3, widgets().watches(), Fault::Cut(After::Lines(0), how));
    stage.delete(Kind::Widget, "gone").await;
    happened(&cut, 1).await;
    stage.put(Kind::Widget, "new", "new", Some(false)).await;
    stage.others_are_on_time().await;
    happened(&cut, 3).await;
    stage.shows("new", LONG, |status| status["health"] == "Degraded").await;
    stage.lacks("gone", LONG).await;
    stage.agrees(LONG).await;
    assert_eq!(stage.proxy.count(&widgets().lists()), lists, "nothing was listed anew");
    recorder.finish().await.is_undisturbed(name);
}

#[tokio::test]
async fn f03_a_watch_is_reset_in_the_middle_of_a_line() {
    cut("f03-reset", How::Reset).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f03_a_watch_is_closed_in_the_middle_of_a_line() {
    cut("f03-closed", How::Closed).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f03_a_watch_ends_whole_in_the_middle_of_a_line() {
    cut("f03-clean", How::Clean).await;
}

/// Has a widget go while nothing is heard of widgets, and says that the version is too old to go on.
async fn gone(name: &'static str, fault: Fault) {
    let stage = Stage::with_cast(name).await;
    stage.put(Kind::Widget, "gone", "gone", Some(true)).await;
    stage.shows("gone", LONG, |status| status["health"] == "Healthy").await;
    let recorder = stage.record().await;
    let lists = stage.proxy.count(&widgets().lists());
    let stall = stage.proxy.inject(widgets(), Fault::Stall);
    happened(&stall, 1).await;
    stage.delete(Kind::Widget, "gone").await;
    stage.others_are_on_time().await;
    let too_old = stage.proxy.inject_times(1, widgets().watches(), fault);
    let broken = stage.proxy.inject_times(1, widgets().watches(), Fault::Reset);
    drop(stall);
    happened(&broken, 1).await;
    happened(&too_old, 1).await;
    stage.lacks("gone", LONG).await;
    stage.others_are_on_time().await;
    drop(too_old);
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    let lists = stage.proxy.count(&widgets().lists()) - lists;
    assert!((1..=2).contains(&lists), "{lists} lists");
    recorder.finish().await.is_undisturbed(name);
}

#[tokio::test]
async fn f04_a_version_is_too_old_by_status() {
    gone("f04-status", Fault::Status(410, None)).await;
}

#[tokio::test]
async fn f04_a_version_is_too_old_by_event() {
    gone("f04-event", Fault::Expired).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f04_every_version_is_too_old_for_a_while() {
    let stage = Stage::with_cast("f04-always").await;
    let recorder = stage.record().await;
    let lists = stage.proxy.count(&widgets().lists());
    let too_old = stage.proxy.inject(widgets().watches(), Fault::Expired);
    stage.break_watches(widgets(), 1).await;
    stage.goes_on(10).await;
    drop(too_old);
    let lists = stage.proxy.count(&widgets().lists()) - lists;
    assert!(lists <= 8, "{lists} lists in 10 s");
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f04-always");
}
