//! Kinds that come and go leave nothing behind.

use std::{collections::BTreeSet, ops::Range};

use addons_testbed::{When, eventually};
use serde_json::Value;

use crate::{
    process::Controller,
    stage::{Stage, lasts},
    support::{LONG, crd},
};

const GROUP: &str = "leak.faults.example";

/// Kinds that come and go together.
const TOGETHER: usize = 10;

/// Has kinds of these numbers come, each with an object, and go.
async fn come_and_go(stage: &Stage, controller: &Controller, kinds: Range<usize>) {
    for first in kinds.step_by(TOGETHER) {
        let names: Vec<String> = (first..first + TOGETHER).map(|n| format!("Leak{n}")).collect();
        these_come_and_go(stage, controller, &names).await;
    }
    eventually(LONG, "nothing is left of the kinds", || async {
        let metrics = controller.get("/metrics").await?;
        let left: Vec<&str> = metrics.lines().filter(|line| line.contains("leak")).collect();
        if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
    })
    .await;
}

async fn these_come_and_go(stage: &Stage, controller: &Controller, names: &[String]) {
    let crds: Vec<String> = names.iter().map(|name| crd(GROUP, "Cluster", name)).collect();
    let object = |name: &String| {
        format!(
            "{{apiVersion: {GROUP}/v1, kind: {name}, metadata: {{name: one, labels: {{addons.x-k8s.io/leak: ''}}}}}}"
        )
    };
    let objects: Vec<String> = names.iter().map(object).collect();
    let resources: Vec<String> =
        names.iter().map(|name| format!("{}s.{GROUP}", name.to_lowercase())).collect();
    let mut delete = vec!["delete", "crd"];
    delete.extend(resources.iter().map(String::as_str));
    stage.cluster.apply(&crds.join("---\n")).await.expect("CRDs");
    eventually(LONG, "the API server takes the objects", || async {
        let made = stage.cluster.apply(&objects.join("\n---\n")).await;
        made.map(drop).map_err(|error| format!("{error:#}"))
    })
    .await;
    let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let kinds = |status: &Value| -> BTreeSet<String> {
        let components = status["components"].as_array().into_iter().flatten();
        components.filter_map(|component| component["kind"].as_str().map(str::to_owned)).collect()
    };
    controller
        .shows("leak", |status| kinds(status).iter().map(String::as_str).eq(wanted.iter().copied()))
        .await;
    stage.cluster.kubectl(&delete).await.expect("deleted");
}

#[tokio::test]
#[ignore = "long: make test-faults"]
async fn three_hundred_kinds_that_come_and_go_leave_nothing() {
    let stage = Stage::without_controller("leak").await;
    let controller = Controller::start(stage.user().kubeconfig());
    eventually(LONG, "it is ready", || controller.get("/readyz")).await;
    // What is made once and kept isn't lost.
    come_and_go(&stage, &controller, 0..50).await;
    let (files, connections) = (controller.files(), stage.proxy.connections());
    let tasks = controller.tasks().await.expect("a gauge");
    let memory = controller.memory("VmRSS");
    come_and_go(&stage, &controller, 50..300).await;
    eventually(LONG, "its sockets are closed", || async {
        let now = (controller.files(), stage.proxy.connections());
        if now.0 <= files + 3 && now.1 <= connections + 3 {
            Ok(())
        } else {
            Err(format!("{now:?}, and {files} and {connections} before"))
        }
    })
    .await;
    eventually(LONG, "its tasks have ended", || async {
        let now = controller.tasks().await?;
        // Some requests may be under way.
        if now <= tasks + 3 { Ok(()) } else { Err(format!("{now}, and {tasks} before")) }
    })
    .await;
    let leaks = When::under(&format!("/apis/{GROUP}/"));
    let asked = stage.proxy.count(&leaks);
    lasts(5).await;
    assert_eq!(stage.proxy.count(&leaks), asked, "nobody asks for the kinds any more");
    let now = controller.memory("VmRSS");
    eprintln!("{memory} KiB before, {now} KiB after; {files} files");
    assert!(now < memory + (4 << 10), "{memory} KiB before, {now} KiB after");
}
