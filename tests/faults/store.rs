//! F5: etcd is compacted, stands still, restarts and is full.

use addons_testbed::{Ask, Program, When};

use crate::{
    stage::{Kind, Stage, lasts},
    support::LONG,
};

/// Has etcd forget what was, and rewrite its file.
async fn shrink(stage: &Stage) {
    stage.cluster.compact().await.expect("compacted");
    stage.cluster.defragment().await.expect("rewritten");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f05_the_store_is_compacted_and_rewritten_under_load() {
    let stage = Stage::with_cast("f05-compact").await;
    let recorder = stage.record().await;
    for n in 0..5 {
        let name = format!("n{n}");
        let load = async {
            for _ in 0..10 {
                stage.put(Kind::Widget, &name, "load", Some(true)).await;
                stage.delete(Kind::Widget, &name).await;
            }
            stage.put(Kind::Widget, &name, "load", Some(true)).await;
        };
        tokio::join!(load, shrink(&stage));
    }
    let behind_its_back = async {
        stage.delete(Kind::Widget, "n0").await;
        stage.put(Kind::Widget, "n5", "load", Some(true)).await;
        stage.put(Kind::Widget, "n6", "load", Some(true)).await;
        shrink(&stage).await;
    };
    stage.unheard(behind_its_back).await;
    stage.break_watches(When::any(), 5).await;
    stage.shows("load", LONG, |status| status["ready"] == "6/6").await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f05-compact");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f05_the_store_stands_still_for_a_while() {
    let stage = Stage::with_cast("f05-still").await;
    let recorder = stage.record().await;
    let paused = stage.cluster.pause(Program::Etcd).expect("it stands still");
    stage.relists().await;
    lasts(5).await;
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
    let recorder = stage.record().await;
    stage.cluster.kill(Program::Etcd).expect("it is killed");
    stage.relists().await;
    lasts(2).await;
    stage.cluster.start_again(Program::Etcd).await.expect("it is up again");
    stage.put(Kind::Widget, "new", "new", Some(false)).await;
    stage.shows("new", LONG, |status| status["health"] == "Degraded").await;
    stage.agrees(LONG).await;
    // Where it takes long to come up again, widgets may be unknown for a moment.
    recorder.finish().await.is_honest("f05-killed").only(&stage.id("other"), &["Healthy"]);
}

#[tokio::test]
async fn f05_the_store_is_full() {
    let stage = Stage::with_cast("f05-full").await;
    stage.put(Kind::Widget, "one", "pair", Some(true)).await;
    stage.put(Kind::Widget, "two", "pair", Some(true)).await;
    stage.shows("pair", LONG, |status| status["ready"] == "2/2").await;
    stage.agrees(LONG).await;
    let recorder = stage.record().await;
    let writes = When::any().asks(&[Ask::Write]);
    stage.cluster.full(true).await.expect("etcd is full");
    // What needs no place can still be done.
    stage.delete(Kind::Widget, "two").await;
    stage.shows("pair", LONG, |status| status["ready"] == "1/1").await;
    let before = stage.proxy.count(&writes);
    lasts(8).await;
    let tried = stage.proxy.count(&writes) - before;
    stage.cluster.full(false).await.expect("etcd has room again");
    assert!((1..=8).contains(&tried), "{tried} writes in 8 s");
    stage.agrees(LONG).await;
    // And watches go on from where they were.
    stage.relists().await;
    stage.agrees(LONG).await;
    recorder.finish().await.is_undisturbed("f05-full");
}
