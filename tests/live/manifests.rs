//! Real add-ons: every manifest of the fixtures with the label of its file.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use addons_testbed::{Cluster, eventually};
use serde_json::{Value, json};

use crate::support::{LONG, Running, cluster, fixtures};

/// Kind, namespace and name of an object.
type Named = (String, String, String);

fn named(object: &Value, kind: &Value) -> Named {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(kind), text(&object["namespace"]), text(&object["name"]))
}

/// The objects of a manifest, each with the label of `identifier`.
async fn labelled(cluster: &Cluster, path: &Path, identifier: &str) -> Vec<Value> {
    let path = path.display().to_string();
    let label = format!("addons.x-k8s.io/{identifier}=");
    let printed =
        cluster.kubectl(&["label", "--local", "-f", &path, &label, "-o", "json"]).await.expect("labelled");
    let objects = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
    objects.collect::<Result<_, _>>().expect("JSON")
}

/// The kind that one object has and that no file brings.
const UNKNOWN_KIND: &str = r#"no matches for kind "Application" in version "app.k8s.io/v1beta1""#;

/// Applies objects until the API server has taken all but the one of [`UNKNOWN_KIND`].
async fn apply(cluster: &Cluster, namespace: Option<&str>, objects: Vec<&Value>) {
    if objects.is_empty() {
        return;
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let mut arguments = vec!["apply", "--server-side", "--force-conflicts", "-f", "-"];
    arguments.extend(namespace.iter().flat_map(|namespace| ["-n", namespace]));
    eventually(LONG * 3, "the objects are taken", || async {
        let Err(error) = cluster.admin().kubectl_with_input(&arguments, &list).await else { return Ok(()) };
        let error = format!("{error:#}");
        let said = error.lines().filter(|line| line.contains("error") || line.contains("Error"));
        let refused: Vec<&str> = said.filter(|line| !line.contains(UNKNOWN_KIND)).collect();
        if error.contains(UNKNOWN_KIND) && refused.len() <= 1 { Ok(()) } else { Err(error) }
    })
    .await;
}

/// In which turn an object is applied: first what others need, last the webhooks, which nobody
/// answers here, so that they refuse what they are asked about.
fn turn(object: &Value) -> usize {
    match object["kind"].as_str().unwrap_or_default() {
        "CustomResourceDefinition" | "Namespace" => 0,
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => 2,
        _ => 1,
    }
}

/// The objects of all kinds by the identifiers of their labels.
async fn accepted(cluster: &Cluster) -> BTreeMap<String, BTreeSet<Named>> {
    let printed =
        cluster.kubectl(&["get", &watched(cluster).await, "-A", "-o", "json"]).await.expect("objects");
    let list: Value = serde_json::from_str(&printed).expect("JSON");
    let mut accepted: BTreeMap<String, BTreeSet<Named>> = BTreeMap::new();
    for item in list["items"].as_array().into_iter().flatten() {
        let labels = item["metadata"]["labels"].as_object().into_iter().flatten();
        for identifier in labels.filter_map(|(key, _)| key.strip_prefix("addons.x-k8s.io/")) {
            accepted
                .entry(identifier.to_owned())
                .or_default()
                .insert(named(&item["metadata"], &item["kind"]));
        }
    }
    accepted
}

/// The resources that are watched, as kubectl takes them.
async fn watched(cluster: &Cluster) -> String {
    let excluded = [
        "addons.addons.x-k8s.io",
        "events",
        "events.events.k8s.io",
        "endpoints",
        "endpointslices.discovery.k8s.io",
    ];
    let all = cluster.kubectl(&["api-resources", "--verbs=list,watch", "-o", "name"]).await.expect("kinds");
    all.lines().filter(|name| !excluded.contains(name)).collect::<Vec<_>>().join(",")
}

/// What the cluster doesn't hold in the end: one object of a kind that no file brings, a token of
/// an account that there isn't, and Jobs that are to be deleted when they have ended.
const GONE: [(&str, &str); 4] = [
    ("Application", "node-local-dns"),
    ("Secret", "headlamp-admin"),
    ("Job", "ingress-nginx-admission-create"),
    ("Job", "ingress-nginx-admission-patch"),
];

#[tokio::test]
async fn every_accepted_object_of_25_real_addons_is_listed() {
    let Some(folder) = fixtures("manifests") else { return };
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files: BTreeSet<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect();
    assert_eq!(files.len(), 25);
    let identifier = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();

    let cluster = cluster().await;
    let controller = Running::start(cluster.kubeconfig(), &["--include", "secrets"]);
    cluster.kubectl(&["create", "namespace", "argocd"]).await.expect("a namespace");
    // The objects of Argo CD name no namespace.
    let (mut argo, mut others) = (Vec::new(), Vec::new());
    for path in &files {
        let identifier = identifier(path);
        let objects = labelled(&cluster, path, &identifier).await;
        if identifier == "argo-cd" { argo.extend(objects) } else { others.extend(objects) }
    }
    for now in 0..3 {
        apply(&cluster, None, others.iter().filter(|object| turn(object) == now).collect()).await;
        apply(&cluster, Some("argocd"), argo.iter().filter(|object| turn(object) == now).collect()).await;
    }

    let accepted = accepted(&cluster).await;
    let mut total = 0;
    for path in &files {
        let identifier = identifier(path);
        let wanted = &accepted[&identifier];
        total += wanted.len();
        eventually(LONG, &format!("every object of {identifier} is a component"), || async {
            let addon = controller.addon(&identifier).await?;
            let components = addon["status"]["components"].as_array().cloned().unwrap_or_default();
            let listed: BTreeSet<Named> = components.iter().map(|c| named(c, &c["kind"])).collect();
            if listed == *wanted {
                return Ok(());
            }
            let missing: Vec<_> = wanted.difference(&listed).collect();
            let added: Vec<_> = listed.difference(wanted).collect();
            Err(format!("missing {missing:?}, too many {added:?}"))
        })
        .await;
    }
    let listed: BTreeSet<(&str, &str)> =
        accepted.values().flatten().map(|(kind, _, name)| (kind.as_str(), name.as_str())).collect();
    let missing: Vec<_> = argo
        .iter()
        .chain(&others)
        .map(|object| {
            (
                object["kind"].as_str().unwrap_or_default(),
                object["metadata"]["name"].as_str().unwrap_or_default(),
            )
        })
        .filter(|named| !listed.contains(named))
        .collect();
    let unexplained: Vec<_> = missing.iter().filter(|named| !GONE.contains(named)).collect();
    assert!(unexplained.is_empty(), "{unexplained:?} aren't among {total} components");
    let written = cluster.kubectl(&["get", "addons", "-o", "name"]).await.expect("Addons");
    assert_eq!(written.lines().count(), 25, "{written}");
}
