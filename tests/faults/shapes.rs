//! F21: conditions of every shape.

use serde_json::{Value, json};

use crate::{
    stage::{Kind, Stage},
    support::LONG,
};

/// A status, and the health that it must not be taken for.
fn shapes() -> Vec<(Value, &'static [&'static str])> {
    let ready = |status: Value| json!({"conditions": [{"type": "Ready", "status": status}]});
    let healthy: &[&str] = &["Healthy"];
    let any: &[&str] = &[];
    let many: Vec<Value> = (0..500)
        .map(|n| json!({"type": format!("Step{n}"), "status": "True", "reason": "r".repeat(60)}))
        .collect();
    vec![
        (json!({}), any),
        (json!({"conditions": null}), any),
        (json!({"conditions": "Ready"}), any),
        (json!({"conditions": {"Ready": "True"}}), any),
        (json!({"conditions": [1, null, "x", [], {}]}), any),
        (json!({"conditions": [{"type": 1, "status": {}}]}), any),
        (ready(json!("false")), healthy),
        (ready(json!(false)), healthy),
        (ready(json!(0)), healthy),
        (ready(json!("")), healthy),
        (ready(json!("Unknown")), healthy),
        (
            json!({"conditions": [{"type": "Ready", "status": "False"}, {"type": "Ready", "status": "True"}]}),
            any,
        ),
        (json!({"conditions": [{"type": "Stalled", "status": "True", "reason": "Broken"}]}), healthy),
        (
            json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2999-01-01T00:00:00Z"}]}),
            any,
        ),
        (
            json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "yesterday"}]}),
            any,
        ),
        (json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": 5}]}), any),
        (json!({"observedGeneration": -1, "conditions": [{"type": "Ready", "status": "True"}]}), any),
        (json!({"observedGeneration": 0, "conditions": [{"type": "Ready", "status": "True"}]}), any),
        (json!({"observedGeneration": 99, "conditions": [{"type": "Ready", "status": "True"}]}), any),
        (json!({"observedGeneration": "1", "conditions": [{"type": "Ready", "status": "True"}]}), any),
        (json!({"phase": 7, "replicas": "many", "readyReplicas": -4}), any),
        (json!({"conditions": many}), any),
        (
            json!({"conditions": [{"type": "Ready", "status": "False", "message": "x".repeat(100_000)}]}),
            healthy,
        ),
        (
            json!({"conditions": [{"type": "Ready\u{0}\u{1b}[31m", "status": "True", "reason": "\u{202e}"}]}),
            any,
        ),
    ]
}

#[tokio::test]
async fn f21_conditions_of_every_shape() {
    let stage = Stage::with_cast("f21").await;
    let recorder = stage.record();
    let shapes = shapes();
    for (n, (status, _)) in shapes.iter().enumerate() {
        let (name, label) = (format!("n{n}"), format!("addons.x-k8s.io/{}", stage.id(&format!("n{n}"))));
        stage.write(Kind::Widget, &name, &[(&label, "")], Some(status.clone())).await;
    }
    for (n, (status, never)) in shapes.iter().enumerate() {
        let shown = stage.shows(&format!("n{n}"), LONG, |status| status["counts"]["total"] == 1).await;
        let health = shown["health"].as_str().unwrap_or_default();
        assert!(!never.contains(&health), "{status} is {health}");
    }
    stage.agrees(LONG).await;
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
