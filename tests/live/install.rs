//! The controller with the rights that `deploy/` gives it, on the examples.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use addons_testbed::{Cluster, eventually};
use serde_json::Value;

use crate::support::{LONG, Running, at_root, cluster, health};

const EXAMPLES: [&str; 6] = ["cert-manager", "dns", "ingress", "metrics-server", "monitoring", "storage"];

async fn versions(cluster: &Cluster) -> Result<BTreeMap<String, String>, String> {
    let json = cluster.kubectl(&["get", "addons,statusrules", "-o", "json"]).await;
    let list: Value = serde_json::from_str(&json.map_err(|error| format!("{error:#}"))?)
        .map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = list["items"].as_array().into_iter().flatten();
    let named = |item: &Value| format!("{} {}", text(&item["kind"]), text(&item["metadata"]["name"]));
    Ok(items.map(|item| (named(item), text(&item["metadata"]["resourceVersion"]))).collect())
}

/// Rules for a kind that most examples have: one that is in force, and shows in every Service, and one
/// that makes no sense.
const RULES: &str = "
apiVersion: addons.x-k8s.io/v1alpha1
kind: StatusRule
metadata: {name: services}
spec:
  match: {group: '', kind: Service}
  rows: [{verdict: Healthy, reason: SaysTheRule}]
---
apiVersion: addons.x-k8s.io/v1alpha1
kind: StatusRule
metadata: {name: broken}
spec:
  match: {group: '', kind: Service}
  rows: [{verdict: Degraded, if: [{path: state.x}]}]
";

/// Looks at the Addons and the rules for `time`, again and again; the first change of one is a failure.
async fn stay(cluster: &Cluster, before: &BTreeMap<String, String>, time: Duration) {
    let start = Instant::now();
    eventually(time * 2 + LONG, "the time is over", || async {
        assert_eq!(before, &versions(cluster).await?, "an Addon or a rule was written");
        if start.elapsed() >= time { Ok(()) } else { Err(format!("{:?}", start.elapsed())) }
    })
    .await;
}

#[tokio::test]
async fn the_role_of_deploy_is_enough_and_a_quiet_cluster_is_left_alone() {
    let cluster = cluster().await;
    cluster.kubectl(&["apply", "-k", &at_root("deploy")]).await.expect("deploy/");
    eventually(LONG, "the examples apply", || async {
        // The first pass makes the CRDs and namespaces that the rest needs.
        let applied = cluster.kubectl(&["apply", "--server-side", "-k", &at_root("examples")]).await;
        applied.map_err(|error| format!("{error:#}"))
    })
    .await;
    eventually(LONG, "a pod is admitted under the restricted level", || async {
        let path = "jsonpath={.status.availableReplicas}";
        let of = ["-n", "addons-system", "get", "deployment", "addon-controller", "-o", path];
        match cluster.kubectl(&of).await {
            Ok(available) if available == "1" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let account = cluster.service_account("addons-system", "addon-controller").await.expect("the account");
    for (verb, what) in [("list", "secrets"), ("get", "configmaps"), ("delete", "deployments.apps")] {
        let may = account.kubectl(&["auth", "can-i", verb, what, "-A"]).await;
        assert!(may.is_err(), "it may {verb} {what}: {may:?}");
    }
    let controller = Running::start(account.kubeconfig(), &["--removal-grace", "1s"]);
    controller.ready().await;
    for name in EXAMPLES {
        eventually(LONG, &format!("{name} is there"), || controller.addon(name)).await;
    }
    for name in ["dns", "metrics-server", "storage", "monitoring"] {
        health(&cluster, name, "Healthy").await;
    }
    cluster.apply(RULES).await.expect("rules");
    eventually(LONG, "every Service of dns is judged by the rule", || async {
        let addon = controller.addon("dns").await?;
        let components = addon["status"]["components"].as_array().cloned().unwrap_or_default();
        let services = components.iter().filter(|component| component["kind"] == "Service");
        let rules: Vec<&Value> = services.map(|service| &service["rule"]).collect();
        let judged = !rules.is_empty() && rules.iter().all(|rule| **rule == "StatusRule/services#1");
        if judged { Ok(()) } else { Err(format!("{rules:?}")) }
    })
    .await;
    eventually(LONG, "the rules say whether they are in force", || async {
        let path = "jsonpath={range .items[*]}{.metadata.name} {.status.conditions[*].reason} {end}";
        match cluster.kubectl(&["get", "statusrules", "-o", path]).await {
            Ok(said) if said.trim() == "broken Invalid services Accepted" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let (_, metrics) = controller.get("/metrics").await.expect("metrics");
    for line in [
        "addons_controller_kinds{state=\"forbidden\"} 0",
        "addons_controller_status_rules{state=\"accepted\"} 1",
        "addons_controller_status_rules{state=\"refused\"} 1",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }

    let last = Mutex::new(BTreeMap::new());
    let before = eventually(LONG, "what was started has come to rest", || async {
        let now = versions(&cluster).await?;
        let previous = std::mem::replace(&mut *last.lock().expect("a lock"), now.clone());
        if previous == now { Ok(now) } else { Err("an Addon changes".to_owned()) }
    })
    .await;
    stay(&cluster, &before, Duration::from_secs(60)).await;

    drop(controller);
    let controller = Running::start(account.kubeconfig(), &["--removal-grace", "1s"]);
    controller.ready().await;
    stay(&cluster, &before, Duration::from_secs(5)).await;

    let explained = cluster.kubectl(&["explain", "addon.status.components"]).await.expect("kubectl explain");
    assert!(
        explained.contains("worst first") && explained.contains("The object's own conditions."),
        "{explained}"
    );
}
