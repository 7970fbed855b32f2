//! F5: etcd is compacted, stands still, restarts and is full.

use addons_testbed::{Ask, Fault, Program, When};

use crate::{
    stage::{Kind, Stage, WIDGETS, happened, lasts},
    support::LONG,
};

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f05_the_store_is_compacted_and_rewritten_under_load() {
    let stage = Stage::with_cast("f05-compact").await;
    let recorder = stage.record();
    for n in 0..5 {
        let name = format!("n{n}");
        let load = async {
            for _ in 0..10 {
                stage.put(Kind::Widget, &name, "load", Some(true)).await;
                stage.delete(Kind::Widget, &name).await;
            }
            stage.put(Kind::Widget, &name, "load", Some(true)).await;
        };
        let shrink = async {
            stage.cluster.compact().await.expect("compacted");
            stage.cluster.defragment().await.expect("rewritten");
        };
        tokio::join!(load, shrink);
    }
    stage.break_watches(When::any(), 5).await;
    stage.shows("load", LONG, |status| status["ready"] == "5/5").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f05-compact");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f05_the_store_stands_still_for_a_while() {
    let stage = Stage::with_cast("f05-still").await;
    let recorder = stage.record();
    let paused = stage.cluster.pause(Program::Etcd).expect("it stands still");
    lasts(6).await;
    drop(paused);
    stage.cluster.ready().await.expect("the API server is ready");
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("new", LONG, |status| status["health"] == "Healthy").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f05-still");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f05_the_store_is_killed_and_comes_back() {
    let stage = Stage::with_cast("f05-killed").await;
    let recorder = stage.record();
    stage.cluster.kill(Program::Etcd).expect("it is killed");
    lasts(2).await;
    stage.cluster.start_again(Program::Etcd).await.expect("it is up again");
    stage.put(Kind::Widget, "new", "new", Some(false)).await;
    stage.shows("new", LONG, |status| status["health"] == "Degraded").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f05-killed");
}

#[tokio::test]
async fn f05_the_store_is_full() {
    let stage = Stage::with_cast("f05-full").await;
    stage.put(Kind::Widget, "one", "pair", Some(true)).await;
    stage.put(Kind::Widget, "two", "pair", Some(true)).await;
    stage.shows("pair", LONG, |status| status["ready"] == "2/2").await;
    stage.agrees(LONG).await;
    let recorder = stage.record();
    let writes = When::any().asks(&[Ask::Write]);
    stage.cluster.full(true).await.expect("etcd is full");
    // What needs no place can still be done.
    stage.delete(Kind::Widget, "two").await;
    stage.shows("pair", LONG, |status| status["ready"] == "1/1").await;
    let before = stage.proxy.count(&writes);
    lasts(8).await;
    let tried = stage.proxy.count(&writes) - before;
    stage.cluster.full(false).await.expect("etcd has room again");
    assert!(tried <= 8, "{tried} writes in 8 s");
    stage.agrees(LONG).await;
    // And watches go on from where they were.
    let too_old = stage.proxy.inject_times(1, When::under(WIDGETS).watches(), Fault::Expired);
    stage.break_watches(When::under(WIDGETS), 1).await;
    happened(&too_old, 1).await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f05-full");
}
