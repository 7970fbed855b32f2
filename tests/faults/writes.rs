//! F18, F24: add-ons that are made of themselves, and writes that are refused.

use addons::api;
use addons_testbed::{After, Ask, Fault, How, When, eventually};

use crate::{
    history::History,
    stage::{Kind, Stage, happened, lasts},
    support::{LONG, at_root, established, health, with},
};

fn writes() -> When {
    When::any().asks(&[Ask::Write])
}

/// Waits until this stands in the status of an `Addon` in the API server.
async fn stored(stage: &Stage, addon: &str, field: &str, wanted: &str) {
    let path = format!("jsonpath={{.status.{field}}}");
    let get = ["get", "addon", &stage.id(addon), "-o", &path];
    eventually(LONG, &format!("{addon} is written with {field} {wanted}"), || async {
        match stage.cluster.kubectl(&get).await.as_deref() {
            Ok(is) if is == wanted => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

/// How many writes the controller has counted that came to nothing.
async fn in_vain(stage: &Stage) -> u64 {
    stage.writes("refused").await + stage.writes("failed").await
}

/// All was kept, and only `well` became something else.
fn well_ails(history: &History, stage: &Stage) {
    for what in ["well", "ill", "other"] {
        history.kept(&stage.id(what));
    }
    history.only(&stage.id("well"), &["Healthy", "Degraded"]);
    history.only(&stage.id("ill"), &["Degraded"]).only(&stage.id("other"), &["Healthy"]);
}

#[tokio::test]
async fn f18_add_ons_of_themselves_and_of_the_controller_come_to_rest() {
    let stage = Stage::with_cast("f18").await;
    let node = stage.cluster.kubectl(&["get", "nodes", "-o", "name"]).await.expect("nodes");
    let node = node.lines().next().expect("a node").to_owned();
    let own = format!("addons.x-k8s.io/{}", stage.id("own"));
    let (well, ill) = (format!("addon/{}", stage.id("well")), format!("addon/{}", stage.id("ill")));
    let in_a_circle = [
        (&*well, format!("addons.x-k8s.io/{}", stage.id("ill"))),
        (&*ill, format!("addons.x-k8s.io/{}", stage.id("well"))),
        (&*ill, format!("addons.x-k8s.io/{}", stage.id("ill"))),
        ("crd/addons.addons.x-k8s.io", own.clone()),
        ("clusterrole/cluster-admin", own.clone()),
        ("namespace/default", own.clone()),
        (&*node, own.clone()),
    ];
    for (object, label) in &in_a_circle {
        stage.cluster.kubectl(&["label", object, &format!("{label}=")]).await.expect("a label");
    }
    stage.shows("own", LONG, |status| status["counts"]["total"] == 4).await;
    stage.shows("ill", LONG, |status| status["counts"]["total"] == 3).await;
    stage.agrees(LONG).await;
    let before = stage.proxy.count(&writes());
    lasts(8).await;
    assert_eq!(stage.proxy.count(&writes()), before, "nothing is written any more");
    for (object, label) in &in_a_circle {
        stage.cluster.kubectl(&["label", object, &format!("{label}-")]).await.expect("no label");
    }
    stage.lacks("own", LONG).await;
    stage.agrees(LONG).await;
}

/// Has writes of `Addon` objects fail for eight seconds; changes meanwhile are seen over HTTP, and
/// written in the end.
async fn fails(name: &'static str, fault: Fault, most: u64) {
    let stage = Stage::with_cast(name).await;
    stage.agrees(LONG).await;
    let recorder = stage.record().await;
    let counted = in_vain(&stage).await;
    let writes = When::under("/apis/addons.x-k8s.io/").asks(&[Ask::Write]);
    let before = stage.proxy.count(&writes);
    let refused = stage.proxy.inject(writes.clone(), fault);
    stage.put(Kind::Widget, "well", "well", Some(false)).await;
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    stage.shows("well", LONG, |status| status["health"] == "Degraded").await;
    stage.others_are_on_time().await;
    lasts(8).await;
    let tried = stage.proxy.count(&writes) - before;
    assert!(tried >= 1 && tried <= most, "{tried} writes");
    assert!(in_vain(&stage).await > counted, "it is counted");
    drop(refused);
    stage.agrees(LONG).await;
    well_ails(&recorder.finish().await, &stage);
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_writes_are_forbidden() {
    fails("f24-forbidden", Fault::Status(403, None), 30).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_writes_fail() {
    fails("f24-fail", Fault::Status(500, None), 30).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_writes_are_put_off() {
    fails("f24-off", Fault::Status(429, Some(2)), 12).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_writes_are_too_large_for_something_on_the_way() {
    fails("f24-large", Fault::Html(413), 30).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_writes_are_done_and_their_answers_are_lost() {
    fails("f24-lost", Fault::Cut(After::Bytes(10), How::Reset), 30).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_writes_of_one_add_on_hang() {
    let stage = Stage::with_cast("f24-hang").await;
    let recorder = stage.record().await;
    let well = format!("/apis/addons.x-k8s.io/v1alpha1/addons/{}", stage.id("well"));
    let hanging = stage.proxy.inject(When::under(&well).asks(&[Ask::Write]), Fault::Stall);
    stage.put(Kind::Widget, "well", "well", Some(false)).await;
    stage.shows("well", LONG, |status| status["health"] == "Degraded").await;
    happened(&hanging, 1).await;
    stage.others_are_on_time().await;
    let shown = stage.shows("other", LONG, |status| status["version"].is_string()).await;
    let version = shown["version"].as_str().expect("a version");
    with(&stage.cluster, &stage.id("other"), &[("version", version)]).await;
    stage.put(Kind::Widget, "new", "new", Some(true)).await;
    health(&stage.cluster, &stage.id("new"), "Healthy").await;
    // Half a minute, after which it is tried again.
    assert_eq!(hanging.happened(), 1, "the others were written before that write was given up");
    drop(hanging);
    stage.agrees(LONG).await;
    well_ails(&recorder.finish().await, &stage);
}

#[tokio::test]
async fn f24_a_policy_denies_every_status() {
    let stage = Stage::with_cast("f24-policy").await;
    stage.agrees(LONG).await;
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-status.faults.example}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [addons.x-k8s.io], apiVersions: ['*'], operations: [UPDATE], resources: [addons/status]}
  validations: [{expression: 'false', message: not today}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-status.faults.example}
spec: {policyName: no-status.faults.example, validationActions: [Deny]}
";
    stage.cluster.apply(policy).await.expect("a policy");
    let other = stage.id("other");
    eventually(LONG, "the policy is in force", || async {
        let patch = [
            "patch",
            "addon",
            &other,
            "--subresource=status",
            "--type=merge",
            "-p",
            "{\"status\":{\"version\":\"x\"}}",
        ];
        match stage.cluster.kubectl(&patch).await {
            Err(error) if format!("{error:#}").contains("not today") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let (before, refused) = (stage.proxy.count(&writes()), stage.writes("refused").await);
    stage.put(Kind::Widget, "well", "well", Some(false)).await;
    stage.shows("well", LONG, |status| status["health"] == "Degraded").await;
    eventually(LONG, "the refusal is counted", || async {
        if stage.writes("refused").await > refused { Ok(()) } else { Err("no") }
    })
    .await;
    lasts(5).await;
    let tried = stage.proxy.count(&writes()) - before;
    assert!(tried <= 15, "{tried} writes");
    let name = "no-status.faults.example";
    for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
        stage.cluster.kubectl(&["delete", kind, name]).await.expect("deleted");
    }
    // By itself: nothing else changes.
    stage.agrees(LONG).await;
}

#[tokio::test]
#[ignore = "another form of a fault: make test-faults"]
async fn f24_the_definition_is_an_older_one() {
    let stage = Stage::with_cast("f24-older").await;
    stage.agrees(LONG).await;
    let mut older = serde_json::to_value(api::crd()).expect("JSON");
    let path = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties";
    older.pointer_mut(path).and_then(|fields| fields.as_object_mut()).expect("fields").remove("ready");
    stage.cluster.apply(&older.to_string()).await.expect("a CRD");
    established(&stage.cluster, "addons.addons.x-k8s.io").await;
    let before = stage.proxy.count(&writes());
    stage.put(Kind::Widget, "well", "well", Some(false)).await;
    stage.shows("well", LONG, |status| status["health"] == "Degraded").await;
    lasts(6).await;
    let tried = stage.proxy.count(&writes()) - before;
    assert!(tried <= 12, "{tried} writes");
    // Nothing changes of this one afterwards.
    stage.put(Kind::Gadget, "other", "other", Some(false)).await;
    stored(&stage, "other", "health", "Degraded").await;
    stage.put(Kind::Gadget, "other", "other", Some(true)).await;
    stored(&stage, "other", "health", "Healthy").await;
    stage
        .cluster
        .kubectl(&["apply", "--server-side", "--force-conflicts", "-k", &at_root("crds")])
        .await
        .expect("the CRDs");
    stage.put(Kind::Widget, "well", "well", Some(true)).await;
    stage.put(Kind::Widget, "ill", "ill", Some(true)).await;
    stage.shows("well", LONG, |status| status["health"] == "Healthy").await;
    stored(&stage, "well", "ready", "1/1").await;
    stored(&stage, "other", "ready", "1/1").await;
    stage.agrees(LONG).await;
}
