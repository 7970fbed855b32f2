//! Objects to look at.

use addons_testbed::Cluster;
use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

/// Where all of them are.
pub(crate) const NAMESPACE: &str = "default";

const GROUP: &str = "bench.example";

/// Requests at a time.
const CONCURRENT: usize = 16;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    ConfigMap,
    ReplicaSet,
    Custom,
}

pub(crate) fn name(n: usize) -> String {
    format!("object-{n:06}")
}

impl Sort {
    pub(crate) const ALL: [Self; 3] = [Self::ConfigMap, Self::ReplicaSet, Self::Custom];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::ReplicaSet => "ReplicaSet",
            Self::Custom => "custom resource",
        }
    }

    /// Group, version, kind, plural, and whether there is a status.
    pub(crate) fn names(self) -> (&'static str, &'static str, &'static str, &'static str, bool) {
        match self {
            Self::ConfigMap => ("", "v1", "ConfigMap", "configmaps", false),
            Self::ReplicaSet => ("apps", "v1", "ReplicaSet", "replicasets", true),
            Self::Custom => (GROUP, "v1", "Gear", "gears", true),
        }
    }

    pub(crate) fn path(self) -> String {
        let (group, version, _, plural, _) = self.names();
        if group.is_empty() {
            format!("/api/{version}/{plural}")
        } else {
            format!("/apis/{group}/{version}/{plural}")
        }
    }

    async fn api(self, cluster: &Cluster) -> Result<Api<DynamicObject>> {
        let (group, version, kind, plural, _) = self.names();
        let resource =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural);
        Ok(Api::namespaced_with(cluster.client().await?, NAMESPACE, &resource))
    }

    pub(crate) async fn fill(self, cluster: &Cluster, count: usize) -> Result<()> {
        let api = self.api(cluster).await?;
        stream::iter(0..count)
            .map(|n| {
                let api = api.clone();
                async move {
                    let object = serde_json::from_value(self.object(n))?;
                    api.create(&PostParams::default(), &object).await?;
                    if self == Self::Custom {
                        api.patch_status(&name(n), &PatchParams::default(), &Patch::Merge(status())).await?;
                    }
                    anyhow::Ok(())
                }
            })
            .buffer_unordered(CONCURRENT)
            .try_for_each(|()| async { Ok(()) })
            .await
    }

    fn object(self, n: usize) -> Value {
        let (group, version, kind, _, _) = self.names();
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let name = name(n);
        let labels = json!({"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "bench",
            "app.kubernetes.io/managed-by": "bench", "app.kubernetes.io/version": "1.2.3"});
        let mut object = json!({"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name, "labels": labels}});
        match self {
            Self::ConfigMap => object["data"] = json!({"settings": "some: text\n".repeat(40)}),
            Self::ReplicaSet => {
                object["spec"] = json!({
                    "replicas": 0,
                    "selector": {"matchLabels": {"app": name}},
                    "template": {
                        "metadata": {"labels": {"app": name}},
                        "spec": {"containers": [{
                            "name": "main", "image": "registry.example/main:1",
                            "env": [{"name": "ONE", "value": "1"}, {"name": "TWO", "value": "2"}],
                            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                            "livenessProbe": {"httpGet": {"path": "/livez", "port": 8080}},
                        }]},
                    },
                });
            }
            Self::Custom => {
                object["spec"] =
                    json!({"size": 3, "text": "some text\n".repeat(20), "reference": {"name": "other"}});
            }
        }
        object
    }

    /// Changes an annotation of so many objects in turn, and then gives one object the label of an add-on.
    pub(crate) async fn change(self, cluster: &Cluster, count: usize) -> Result<()> {
        let api = self.api(cluster).await?;
        stream::iter(0..count)
            .map(|n| {
                let api = api.clone();
                async move {
                    let patch = json!({"metadata": {"annotations": {"change": n.to_string()}}});
                    api.patch(&name(n % 100), &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
                }
            })
            .buffer_unordered(CONCURRENT)
            .try_for_each(|()| async { Ok(()) })
            .await?;
        self.label(cluster, json!("")).await
    }

    /// Takes that label off again.
    pub(crate) async fn unmark(self, cluster: &Cluster) -> Result<()> {
        self.label(cluster, Value::Null).await
    }

    async fn label(self, cluster: &Cluster, value: Value) -> Result<()> {
        let patch = json!({"metadata": {"labels": {"addons.x-k8s.io/bench": value}}});
        let api = self.api(cluster).await?;
        api.patch(&name(0), &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }
}

fn status() -> Value {
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": "AsItShould", "message": "nothing to complain of",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1})
    };
    json!({"status": {"observedGeneration": 1, "conditions": [condition("Synced"), condition("Ready")]}})
}

/// Makes the custom kind.
pub(crate) async fn definition(cluster: &Cluster) -> Result<()> {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("gears.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"kind": "Gear", "listKind": "GearList", "plural": "gears", "singular": "gear"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": free, "status": free}}},
            }],
        },
    });
    cluster.apply(&definition.to_string()).await?;
    cluster.established(&["--all"]).await
}
