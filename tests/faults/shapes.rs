//! F21: conditions of every shape.

use serde_json::{Value, json};

use crate::{
    stage::{Kind, Stage},
    support::LONG,
};

/// A status, and the health that it is. Where nothing says that all is well, nothing is green.
fn shapes() -> Vec<(Value, &'static str)> {
    let conditions = |conditions: Value| json!({"conditions": conditions});
    let ready = |status: Value| json!({"conditions": [{"type": "Ready", "status": status}]});
    let since = |time: Value| json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time}]});
    let observed = |generation: Value| json!({"observedGeneration": generation, "conditions": [{"type": "Ready", "status": "True"}]});
    let many: Vec<Value> = (0..500)
        .map(|n| json!({"type": format!("Step{n}"), "status": "True", "reason": "r".repeat(60)}))
        .collect();
    vec![
        (json!({}), "Progressing"),
        (conditions(json!(null)), "Progressing"),
        (conditions(json!("Ready")), "Unknown"),
        (conditions(json!({"Ready": "True"})), "Healthy"),
        (conditions(json!([1, null, "x", [], {}])), "Unknown"),
        (conditions(json!([{"type": 1, "status": {}}])), "Unknown"),
        (conditions(json!(many)), "Unknown"),
        (json!({"phase": 7, "replicas": "many", "readyReplicas": -4}), "Unknown"),
        (
            conditions(json!([{"type": "Ready\u{0}\u{1b}[31m", "status": "True", "reason": "\u{202e}"}])),
            "Unknown",
        ),
        (ready(json!("false")), "Progressing"),
        (ready(json!(false)), "Progressing"),
        (ready(json!(0)), "Progressing"),
        (ready(json!("")), "Progressing"),
        (ready(json!("Unknown")), "Progressing"),
        (
            conditions(json!([{"type": "Ready", "status": "False"}, {"type": "Ready", "status": "True"}])),
            "Progressing",
        ),
        (
            conditions(json!([{"type": "Ready", "status": "False", "message": "x".repeat(100_000)}])),
            "Progressing",
        ),
        (conditions(json!([{"type": "Stalled", "status": "True", "reason": "Broken"}])), "Degraded"),
        (since(json!("2999-01-01T00:00:00Z")), "Healthy"),
        (since(json!("yesterday")), "Healthy"),
        (since(json!(5)), "Healthy"),
        (observed(json!(-1)), "Progressing"),
        (observed(json!(0)), "Progressing"),
        (observed(json!(99)), "Healthy"),
        (observed(json!("1")), "Healthy"),
    ]
}

#[tokio::test]
async fn f21_conditions_of_every_shape() {
    let stage = Stage::with_cast("f21").await;
    let recorder = stage.record().await;
    let shapes = shapes();
    for (n, (status, _)) in shapes.iter().enumerate() {
        let (name, label) = (format!("n{n}"), format!("addons.x-k8s.io/{}", stage.id(&format!("n{n}"))));
        stage.write(Kind::Widget, &name, &[(&label, "")], Some(status.clone())).await;
    }
    for (n, (status, health)) in shapes.iter().enumerate() {
        eprintln!("{health} is what follows from {:.100}", status.to_string());
        stage.shows(&format!("n{n}"), LONG, |status| status["health"] == *health).await;
    }
    stage.agrees(LONG).await;
    // What was right on the way is so in the end.
    for (n, (status, health)) in shapes.iter().enumerate() {
        let shown = stage.controller().addon(&stage.id(&format!("n{n}"))).await.expect("an add-on");
        assert_eq!(shown["status"]["health"], *health, "{:.100}", status.to_string());
    }
    recorder.finish().await.is_undisturbed("f21");
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f21_an_object_that_does_not_go() {
    let stage = Stage::with_cast("f21-stays").await;
    let name = stage.id("stays");
    let stays = format!(
        "{{apiVersion: widgets.faults.example/v1, kind: Widget, metadata: {{name: {name}, finalizers: [faults.example/stay], labels: {{addons.x-k8s.io/{name}: '', faults: made}}}}}}"
    );
    stage.cluster.apply(&stays).await.expect("a widget");
    stage.shows("stays", LONG, |status| status["counts"]["total"] == 1).await;
    stage.delete(Kind::Widget, "stays").await;
    stage.shows("stays", LONG, |status| status["health"] == "Terminating").await;
    stage.agrees(LONG).await;
    let free = [
        "patch",
        "widgets.widgets.faults.example",
        &name,
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ];
    stage.cluster.kubectl(&free).await.expect("it may go");
    stage.lacks("stays", LONG).await;
    stage.agrees(LONG).await;
}
