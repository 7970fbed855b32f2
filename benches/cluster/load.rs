//! Fills a cluster with objects.

use std::time::Duration;

use addons_testbed::{Cluster, until};
use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

/// Requests at a time.
const CONCURRENT: usize = 24;

/// How long the controllers of the cluster may take: they are allowed 200 requests a second.
const SETTLED: Duration = Duration::from_secs(300);

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
        .await?;
    settled(cluster).await
}

/// Waits until the controllers have seen every Deployment: they go on long after the last was made.
async fn settled(cluster: &Cluster) -> Result<()> {
    let client = cluster.client().await?;
    let deployments = Api::<Deployment>::namespaced(client.clone(), NAMESPACE);
    let replica_sets = Api::<ReplicaSet>::namespaced(client, NAMESPACE);
    let wanted = deployments.list_metadata(&ListParams::default()).await?.items.len();
    until(SETTLED, "every Deployment has its ReplicaSet", || async {
        let made =
            replica_sets.list_metadata(&ListParams::default()).await.map_err(|error| error.to_string())?;
        if made.items.len() == wanted { Ok(()) } else { Err(format!("{} of {wanted}", made.items.len())) }
    })
    .await?;
    Ok(())
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
