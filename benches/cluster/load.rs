//! Fills a cluster with objects.

use addons_testbed::Cluster;
use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api, Client,
    api::PostParams,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

/// Requests at a time.
const CONCURRENT: usize = 24;

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";

/// The identifier of an add-on by its number.
pub(crate) fn identifier(n: usize) -> String {
    format!("addon-{n:04}")
}

/// Makes `objects` objects; the first `labelled` of them belong to `addons` add-ons in turn.
pub(crate) async fn fill(cluster: &Cluster, objects: usize, labelled: usize, addons: usize) -> Result<()> {
    ensure!(addons > 0 && labelled.is_multiple_of(addons), "every add-on gets the same number of objects");
    let client = cluster.client().await?;
    stream::iter(0..objects)
        .map(|n| {
            let client = client.clone();
            let label = (n < labelled).then(|| identifier(n % addons));
            async move { create(client, n, label, n / addons).await }
        })
        .buffer_unordered(CONCURRENT)
        .try_for_each(|()| async { Ok(()) })
        .await
}

/// Of twenty objects three are Deployments, three service accounts, four Services and ten ConfigMaps.
async fn create(client: Client, n: usize, label: Option<String>, turn: usize) -> Result<()> {
    let name = format!("object-{n:06}");
    let (group, kind, mut object) = match turn % 20 {
        0..3 => ("apps", "Deployment", deployment(&name)),
        3..6 => ("", "ServiceAccount", json!({})),
        6..10 => ("", "Service", json!({"spec": {"clusterIP": "None", "ports": [{"port": 80}]}})),
        _ => ("", "ConfigMap", json!({"data": {"settings": "some: text\n".repeat(40)}})),
    };
    let gvk = GroupVersionKind::gvk(group, "v1", kind);
    let resource = ApiResource::from_gvk(&gvk);
    object["apiVersion"] = resource.api_version.clone().into();
    object["kind"] = kind.into();
    object["metadata"] = json!({"name": name, "labels": {"app.kubernetes.io/name": name}});
    if let Some(label) = label {
        object["metadata"]["labels"][format!("addons.x-k8s.io/{label}")] = "".into();
    }
    let api: Api<DynamicObject> = Api::namespaced_with(client, NAMESPACE, &resource);
    api.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
    Ok(())
}

/// Scaled to zero: what is measured is the watching of Deployments, not of the pods of a scheduler.
fn deployment(name: &str) -> Value {
    json!({"spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{
                "name": "main",
                "image": "registry.example/main:1",
                "env": [{"name": "ONE", "value": "1"}, {"name": "TWO", "value": "2"}],
            }]},
        },
    }})
}
