//! Kinds that can't be watched: what is theirs says so, and everything else goes on.

use addons_testbed::eventually;
use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::support::{LONG, Running, addon, cluster, condition, established, health};

const KINDS: [(&str, &str); 2] = [("gears", "Gear"), ("sprockets", "Sprocket")];

/// One kind of a group of its own. With `dead` its newer version, which is preferred, is converted
/// by a webhook that nobody answers.
fn crd(plural: &str, kind: &str, dead: bool) -> String {
    let version = |name: &str, storage: bool| {
        format!(
            "  - name: {name}
    served: true
    storage: {storage}
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"
        )
    };
    let mut versions = version("v1", true);
    let mut conversion = String::new();
    if dead {
        versions.push_str(&version("v2", false));
        conversion = "  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: 'https://127.0.0.1:9/convert'}
"
        .to_owned();
    }
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{plural}.example}}
spec:
  group: {plural}.example
  scope: Cluster
  names: {{kind: {kind}, plural: {plural}, singular: {}}}
{conversion}  versions:
{versions}",
        kind.to_lowercase()
    )
}

/// The right to read everything but the group of the gears, and to write `Addon` objects.
fn all_but_gears() -> Vec<PolicyRule> {
    let strings = |all: &[&str]| Some(all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let groups = ["", "apps", "batch", "apiextensions.k8s.io", "apiregistration.k8s.io", "sprockets.example"];
    vec![
        PolicyRule {
            api_groups: strings(&groups),
            resources: strings(&["*"]),
            verbs: vec!["list".into(), "watch".into()],
            ..PolicyRule::default()
        },
        PolicyRule {
            api_groups: strings(&["addons.x-k8s.io"]),
            resources: strings(&["*"]),
            verbs: vec!["*".into()],
            ..PolicyRule::default()
        },
    ]
}

fn config_map(name: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: default, labels: {{addons.x-k8s.io/{name}: ''}}}}}}"
    )
}

#[tokio::test]
async fn a_forbidden_kind_and_a_dead_conversion_webhook_concern_only_their_own() {
    let cluster = cluster().await;
    for (plural, kind) in KINDS {
        cluster.apply(&crd(plural, kind, false)).await.expect("a CRD");
        established(&cluster, &format!("{plural}.{plural}.example")).await;
        let object = format!(
            "{{apiVersion: {plural}.example/v1, kind: {kind}, metadata: {{name: one, labels: {{addons.x-k8s.io/{plural}: ''}}}}}}"
        );
        cluster.apply(&object).await.expect("an object");
    }
    cluster.apply(&config_map("plain")).await.expect("an object");
    let everything = Running::start(cluster.kubeconfig(), &[]);
    for name in ["gears", "sprockets", "plain"] {
        health(&cluster, name, "Healthy").await;
    }
    let untouched = addon(&cluster, "plain").await.expect("the Addon")["metadata"]["resourceVersion"].take();
    drop(everything);

    cluster.apply(&crd("sprockets", "Sprocket", true)).await.expect("a CRD");
    eventually(LONG, "the version with the dead webhook is preferred", || async {
        match cluster.kubectl(&["get", "sprockets.v2.sprockets.example"]).await {
            Err(error) if format!("{error:#}").contains("conversion webhook") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let user = cluster.user("reader", all_but_gears()).await.expect("a user");
    let controller = Running::start(user.kubeconfig(), &[]);
    for plural in ["gears", "sprockets"] {
        let status = health(&cluster, plural, "Unknown").await;
        let observed = condition(&status, "Observed");
        assert_eq!(observed["status"], "False", "{status}");
        let message = observed["message"].as_str().unwrap_or_default();
        assert!(message.contains(&format!("{plural}.{plural}.example")), "{message}");
        assert_eq!(status["components"][0]["name"], "one", "what was known isn't dropped: {status}");
    }
    cluster.apply(&config_map("late")).await.expect("an object");
    health(&cluster, "late", "Healthy").await;
    let plain = addon(&cluster, "plain").await.expect("the Addon");
    assert_eq!(plain["metadata"]["resourceVersion"], untouched, "nothing was written: {plain}");
    let (_, listed) = controller.get("/api/v1alpha1/addons").await.expect("a list");
    assert!(listed.contains("gears.example") && listed.contains("forbidden"), "{listed}");

    cluster.apply(&crd("sprockets", "Sprocket", false)).await.expect("a CRD");
    health(&cluster, "sprockets", "Healthy").await;
}
