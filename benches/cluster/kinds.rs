//! Kinds that only the benchmark knows: with a status, conditions in it, and some text.

use addons_testbed::Cluster;
use anyhow::Result;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

pub(crate) const GROUP: &str = "bench.example";

/// The kind of some number.
pub(crate) fn resource(n: usize) -> ApiResource {
    let gvk = GroupVersionKind::gvk(GROUP, "v1", &format!("Kind{n:03}"));
    ApiResource::from_gvk_with_plural(&gvk, &plural(n))
}

fn plural(n: usize) -> String {
    format!("kind{n:03}s")
}

/// An object of any of them, without its metadata.
pub(crate) fn object() -> Value {
    json!({"spec": {"size": 3, "text": "some text\n".repeat(20), "reference": {"name": "other"}}})
}

/// The status that its controller would have written.
pub(crate) fn status() -> Value {
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": "AsItShould", "message": "nothing to complain of",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1})
    };
    json!({"status": {"observedGeneration": 1, "conditions": [condition("Synced"), condition("Ready")]}})
}

/// Makes the kinds and waits until they can be used.
pub(crate) async fn create(cluster: &Cluster, count: usize) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let items: Vec<Value> = (0..count).map(definition).collect();
    cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).await?;
    cluster.established(&["--all"]).await
}

fn definition(n: usize) -> Value {
    let kind = resource(n).kind;
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{GROUP}", plural(n))},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural(n),
                "singular": kind.to_lowercase()},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {"spec": free, "status": free}}},
            }],
        },
    })
}
