//! What the doctor finds in a cluster where something is wrong, and whether its commands mend it.

use addons_testbed::{Cluster, User, eventually};
use serde_json::Value;

use crate::support::{LONG, Running, addon, addonctl, at_root, cluster, condition, health, serve, with};

const MARKER: &str = "watch.addons.x-k8s.io/marked";

/// The exit code and the checks of a doctor.
async fn doctor(user: &User, flags: &[&str]) -> (i32, Value) {
    let (code, said, errors) =
        addonctl(user.kubeconfig(), &[&["doctor", "-o", "json"], flags].concat()).await;
    let checks = serde_json::from_str(&said);
    (code, checks.unwrap_or_else(|_| panic!("no JSON: {said}{errors}")))
}

/// One check of a doctor's answer.
fn check<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let checks = answer["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no {name}: {answer:#}"))
}

/// Runs those commands of a check that are kubectl's and change something.
async fn mend(cluster: &Cluster, check: &Value) {
    let commands = check["commands"].as_array().expect("commands");
    let commands: Vec<&str> = commands.iter().filter_map(Value::as_str).collect();
    assert!(!commands.is_empty(), "{check:#}");
    for command in commands {
        // The doctor quotes only what has no blanks here.
        let words: Vec<String> = command.split(' ').map(|word| word.replace('\'', "")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (Some(&"kubectl"), Some(&("create" | "label"))) = (words.first(), words.get(1)) else { continue };
        cluster.kubectl(&words[1..]).await.expect(command);
    }
}

#[tokio::test]
async fn the_doctor_names_what_the_controller_cannot_see_and_mends_it() {
    let cluster = cluster().await;
    let (code, bare) = doctor(cluster.admin(), &[]).await;
    assert_eq!((code, &check(&bare, "controller")["verdict"]), (1, &Value::from("fail")), "{bare:#}");
    cluster.kubectl(&["apply", "--server-side", "-k", &at_root("deploy")]).await.expect("deploy/");
    serve(&cluster, "gears.example", "Cluster", "Gear").await;
    let gear = "{apiVersion: gears.example/v1, kind: Gear, metadata: {name: one, labels: {addons.x-k8s.io/gears: ''}}}";
    cluster.apply(gear).await.expect("an object");
    // A controller that may read everything has seen it once.
    let everything = Running::start(cluster.kubeconfig(), &[]);
    health(&cluster, "gears", "Progressing").await;
    drop(everything);

    let account = cluster.service_account("addons-system", "addon-controller").await.expect("the account");
    let controller = Running::start(account.kubeconfig(), &[]);
    let status = health(&cluster, "gears", "Unknown").await;
    let observed = condition(&status, "Observed");
    assert_eq!(observed["message"], "can't be watched: gears.gears.example", "{status:#}");
    let (_, metrics) = controller.get("/metrics").await.expect("metrics");
    let line = r#"addons_controller_watch_state{group="gears.example",resource="gears",state="forbidden"} 1"#;
    assert!(metrics.contains(line), "{metrics}");
    // From here on `kubectl get addon` may mean something else.
    serve(&cluster, "a.example", "Cluster", "Addon").await;

    let url = format!("http://{}", controller.address);
    let (code, answer) = doctor(cluster.admin(), &["--controller", &url]).await;
    assert_eq!(code, 1, "{answer:#}");
    for good in ["server", "crds", "discovery", "your rights", "endpoint", "rules"] {
        assert_eq!(check(&answer, good)["verdict"], "ok", "{answer:#}");
    }
    let names = check(&answer, "names");
    assert_eq!(names["verdict"], "warn", "{answer:#}");
    let kinds = check(&answer, "kinds");
    assert_eq!(kinds["verdict"], "fail", "{answer:#}");
    let detail = kinds["details"][0].as_str().unwrap_or_default();
    assert!(detail.starts_with("gears.gears.example (forbidden, 1 component): "), "{answer:#}");
    let unseen = check(&answer, "add-ons");
    assert_eq!(unseen["what"], "1 of 2 aren't seen whole, and so are Unknown", "{answer:#}");

    // What it says of the name is what a kubectl does that hasn't asked before.
    let fresh = format!("--cache-dir={}", cluster.folder().join("fresh").display());
    let shown = cluster.kubectl(&["get", "addons", "-o", "name", &fresh]).await.expect("objects");
    let is_ours = shown.contains("addon.addons.x-k8s.io/");
    let what = names["what"].as_str().unwrap_or_default();
    assert_eq!(what.contains("shows addons.a.example"), !is_ours, "{what}: {shown}");
    for command in names["commands"].as_array().expect("commands") {
        let words: Vec<&str> = command.as_str().unwrap_or_default().split(' ').skip(1).collect();
        let shown = cluster.kubectl(&[&words[..], &["-o", "name", &fresh]].concat()).await.expect("objects");
        assert!(shown.contains("addon.addons.x-k8s.io/gears"), "{command}: {shown}");
    }

    let rights = check(&answer, "its rights");
    assert!(rights["details"].to_string().contains("list, watch gears.gears.example"), "{rights:#}");
    mend(&cluster, rights).await;
    eventually(LONG, "what the role lets it see is seen", || async {
        let addon = controller.addon("gears").await?;
        if addon["status"]["health"] == "Progressing" { Ok(()) } else { Err(addon["status"].to_string()) }
    })
    .await;
    eventually(LONG, "the doctor is content", || async {
        let (code, answer) = doctor(cluster.admin(), &["--controller", &url]).await;
        let is_well =
            check(&answer, "kinds")["verdict"] == "ok" && check(&answer, "its rights")["verdict"] == "ok";
        if code == 0 && is_well { Ok(()) } else { Err(format!("{code}: {answer:#}")) }
    })
    .await;

    // Somebody without rights learns what to ask for, and the rest is examined as far as it can be.
    let nobody = cluster.user("nobody", Vec::new()).await.expect("a user");
    let (code, answer) = doctor(&nobody, &["--controller", &url]).await;
    assert_eq!(code, 1, "{answer:#}");
    assert_eq!(check(&answer, "its rights")["verdict"], "warn", "{answer:#}");
    assert_eq!(check(&answer, "kinds")["verdict"], "ok", "{answer:#}");
    mend(&cluster, check(&answer, "your rights")).await;
    eventually(LONG, "the rights are there", || async {
        let (_, answer) = doctor(&nobody, &["--controller", &url]).await;
        let mine = check(&answer, "your rights");
        if mine["verdict"] == "ok" { Ok(()) } else { Err(format!("{mine:#}")) }
    })
    .await;
    let (_, text, _) = addonctl(cluster.kubeconfig(), &["doctor", "--controller", &url]).await;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    eprintln!("{text}");
}

/// A Deployment of one pod and a ConfigMap that carry no more than the label of an add-on.
fn labelled(name: &str) -> String {
    format!(
        "apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: default, labels: {{addons.x-k8s.io/{name}: ''}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: default, labels: {{addons.x-k8s.io/{name}: ''}}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}, addons.x-k8s.io/{name}: ''}}}}
    spec: {{containers: [{{name: web, image: registry.example/web:1}}]}}
"
    )
}

#[tokio::test]
async fn with_a_marker_what_the_policy_marks_is_seen_and_the_doctor_names_the_rest() {
    let cluster = cluster().await;
    cluster.apply(&labelled("old")).await.expect("objects");
    cluster
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: plain, namespace: default}}")
        .await
        .expect("an object");
    let policy = at_root("deploy/options/marker-label.yaml");
    cluster.kubectl(&["apply", "-f", &policy]).await.expect("the policy is served and sound");
    eventually(LONG, "the policy is in force", || async {
        let (_, marked) = (cluster.kubectl(&["delete", "configmap", "probe", "--ignore-not-found"]).await, {
            let probe = "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, namespace: default, labels: {addons.x-k8s.io/probe: ''}}}";
            cluster.apply(probe).await.map_err(|error| format!("{error:#}"))?;
            cluster.kubectl(&["get", "configmap", "-l", MARKER, "-A", "-o", "name"]).await
        });
        let marked = marked.map_err(|error| format!("{error:#}"))?;
        if marked.contains("configmap/probe") { Ok(()) } else { Err(format!("marked: {marked}")) }
    })
    .await;
    cluster.apply(&labelled("new")).await.expect("objects");
    let controller =
        Running::start(cluster.kubeconfig(), &["--marker-label", MARKER, "--removal-grace", "1s"]);
    with(&cluster, "new", &[("health", "Healthy"), ("ready", "2/2")]).await;
    eventually(LONG, "the pod is marked, as a copy of the template", || async {
        let pods = cluster.kubectl(&["get", "pods", "-l", &format!("app=new,{MARKER}"), "-o", "name"]).await;
        let pods = pods.map_err(|error| format!("{error:#}"))?;
        if pods.lines().count() == 1 { Ok(()) } else { Err(pods) }
    })
    .await;
    let absent = addon(&cluster, "old").await.expect_err("nobody sees what has no marker");
    assert!(absent.contains("NotFound"), "{absent}");
    let (_, told) = controller.get("/debug/watches").await.expect("watches");
    assert!(told.contains(&format!("\"markerLabel\":\"{MARKER}\"")), "{told}");

    let url = format!("http://{}", controller.address);
    let flags = ["--controller", &url, "--marker-label", MARKER];
    let (code, answer) = doctor(cluster.admin(), &flags).await;
    let marker = check(&answer, "marker");
    assert_eq!((code, &marker["verdict"]), (1, &Value::from("fail")), "{answer:#}");
    let named = marker["details"].to_string();
    assert!(
        named.contains("ConfigMap default/old") && named.contains("Deployment default/old"),
        "{marker:#}"
    );
    assert!(!named.contains("/new") && !named.contains("/plain"), "{marker:#}");
    mend(&cluster, marker).await;
    with(&cluster, "old", &[("health", "Healthy"), ("ready", "2/2")]).await;
    let (_, answer) = doctor(cluster.admin(), &flags).await;
    assert_eq!(check(&answer, "marker")["verdict"], "ok", "{answer:#}");

    cluster.kubectl(&["delete", "-f", &policy]).await.expect("deleted");
    eventually(LONG, "what loses the marker is no component any more", || async {
        let unmark = format!("{MARKER}-");
        cluster
            .kubectl(&["label", "configmap", "new", &unmark])
            .await
            .map_err(|error| format!("{error:#}"))?;
        let status = addon(&cluster, "new").await?["status"].take();
        if status["ready"] == "1/1" { Ok(()) } else { Err(status["ready"].to_string()) }
    })
    .await;
}
