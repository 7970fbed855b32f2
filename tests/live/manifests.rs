//! Real add-ons: every manifest of the fixtures with the label of its file.

use std::{collections::BTreeSet, path::Path};

use addons_testbed::{Cluster, eventually};
use serde_json::Value;

use crate::support::{LONG, Running, cluster, fixtures};

/// Kind, namespace and name of an object.
type Named = (String, String, String);

fn named(object: &Value, kind: &Value) -> Named {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(kind), text(&object["namespace"]), text(&object["name"]))
}

/// Applies a manifest with the label of `identifier` as far as the API server takes it.
async fn apply(cluster: &Cluster, path: &Path, identifier: &str) {
    let path = path.display().to_string();
    let label = format!("addons.x-k8s.io/{identifier}=");
    let labelled =
        cluster.kubectl(&["label", "--local", "-f", &path, &label, "-o", "json"]).await.expect("labelled");
    let namespace = if identifier == "argo-cd" { "argocd" } else { "default" };
    let arguments = ["apply", "--server-side", "--force-conflicts", "-n", namespace, "-f", "-"];
    // Some objects of some files are refused: a kind that no file brings.
    let _ = cluster.admin().kubectl_with_input(&arguments, &labelled).await;
}

/// The objects of all kinds that carry the label of `identifier`.
async fn accepted(cluster: &Cluster, resources: &str, identifier: &str) -> BTreeSet<Named> {
    let selector = format!("addons.x-k8s.io/{identifier}");
    let json =
        cluster.kubectl(&["get", resources, "-A", "-l", &selector, "-o", "json"]).await.expect("objects");
    let list: Value = serde_json::from_str(&json).expect("JSON");
    list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| named(&item["metadata"], &item["kind"]))
        .collect()
}

/// Webhooks that nobody answers refuse what they are asked about.
async fn without_webhooks(cluster: &Cluster) {
    for kind in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        cluster.kubectl(&["delete", kind, "--all"]).await.expect("deleted");
    }
}

#[tokio::test]
async fn every_accepted_object_of_25_real_addons_is_listed() {
    let Some(folder) = fixtures("manifests") else { return };
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    assert_eq!(files.len(), 25);
    let identifier = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();

    let cluster = cluster().await;
    let controller = Running::start(cluster.kubeconfig(), &["--include", "secrets"]);
    cluster.kubectl(&["create", "namespace", "argocd"]).await.expect("a namespace");
    // CRDs and what is made of them stand in the same files; Knative's need those of Istio.
    for _ in 0..2 {
        for path in &files {
            apply(&cluster, path, &identifier(path)).await;
        }
        without_webhooks(&cluster).await;
    }
    for path in &files {
        apply(&cluster, path, &identifier(path)).await;
    }

    let resources =
        cluster.kubectl(&["api-resources", "--verbs=list,get", "-o", "name"]).await.expect("kinds");
    let excluded = [
        "addons.addons.x-k8s.io",
        "events",
        "events.events.k8s.io",
        "endpoints",
        "endpointslices.discovery.k8s.io",
    ];
    let served: Vec<&str> = resources.lines().filter(|name| !excluded.contains(name)).collect();
    let resources = served.join(",");
    let mut total = 0;
    for path in &files {
        let identifier = identifier(path);
        let wanted = accepted(&cluster, &resources, &identifier).await;
        assert!(!wanted.is_empty(), "{identifier}");
        total += wanted.len();
        eventually(LONG, &format!("every object of {identifier} is a component"), || async {
            let addon = controller.addon(&identifier).await?;
            let components = addon["status"]["components"].as_array().cloned().unwrap_or_default();
            let listed: BTreeSet<Named> = components.iter().map(|c| named(c, &c["kind"])).collect();
            if listed == wanted {
                return Ok(());
            }
            let missing: Vec<_> = wanted.difference(&listed).collect();
            let added: Vec<_> = listed.difference(&wanted).collect();
            Err(format!("missing {missing:?}, too many {added:?}"))
        })
        .await;
    }
    eprintln!("{total} objects of {} add-ons", files.len());
    let written = cluster.kubectl(&["get", "addons", "-o", "name"]).await.expect("Addons");
    assert_eq!(written.lines().count(), 25, "{written}");
}
