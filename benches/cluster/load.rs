//! Fills a cluster with objects.

use std::{ops::Range, time::Duration};

use addons_testbed::{Cluster, until};
use anyhow::{Result, bail, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

use crate::{kinds, latency::VERSION};

/// Requests at a time.
pub(crate) const CONCURRENT: usize = 24;

/// How long the controllers of the cluster may take: they are allowed 200 requests a second.
const SETTLED: Duration = Duration::from_secs(1200);

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";

/// What the identifiers of the add-ons begin with.
pub(crate) const ADDONS: &str = "addon-";

/// The identifier of the one large add-on.
pub(crate) const BIG: &str = "big";

/// What is in the cluster: the first `labelled` of the objects belong to the add-ons in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) objects: usize,
    pub(crate) labelled: usize,
    pub(crate) addons: usize,
    pub(crate) kinds: usize,
}

impl Load {
    /// Components of each add-on.
    pub(crate) fn each(&self) -> usize {
        self.labelled / self.addons
    }

    pub(crate) fn check(&self) -> Result<()> {
        ensure!(
            self.addons > 0 && self.each() > 0 && self.labelled.is_multiple_of(self.addons),
            "every add-on gets the same number of objects: --labelled must be a multiple of --addons"
        );
        ensure!(self.labelled <= self.objects, "--labelled counts some of --objects");
        Ok(())
    }

    /// Makes the objects of some numbers, and waits until the cluster's controllers are done.
    pub(crate) async fn fill(&self, cluster: &Cluster, numbers: Range<usize>) -> Result<()> {
        let client = cluster.client().await?;
        stream::iter(numbers)
            .map(|n| self.create(client.clone(), n))
            .buffer_unordered(CONCURRENT)
            .try_for_each(|()| async { Ok(()) })
            .await?;
        settled(client).await
    }

    /// Where an object of some number is.
    pub(crate) fn api(&self, client: Client, n: usize) -> (Api<DynamicObject>, String) {
        let resource = self.resource(n);
        (Api::namespaced_with(client, NAMESPACE, &resource), format!("object-{n:06}"))
    }

    async fn create(&self, client: Client, n: usize) -> Result<()> {
        let resource = self.resource(n);
        let (api, name) = self.api(client, n);
        let mut object = match resource.kind.as_str() {
            "Deployment" => deployment(&name),
            "ServiceAccount" => json!({}),
            "Service" => json!({"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
            "ConfigMap" => json!({"data": {"settings": "some: text\n".repeat(40)}}),
            _ => kinds::object(),
        };
        object["apiVersion"] = resource.api_version.clone().into();
        object["kind"] = resource.kind.clone().into();
        object["metadata"] = json!({"name": name, "labels": {"app.kubernetes.io/name": name, VERSION: "v0"}});
        if n < self.labelled {
            let identifier = format!("{ADDONS}{:04}", n % self.addons);
            object["metadata"]["labels"][format!("addons.x-k8s.io/{identifier}")] = "".into();
        }
        api.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        if resource.group == kinds::GROUP {
            let status = Patch::Merge(kinds::status());
            api.patch_status(&name, &PatchParams::default(), &status).await?;
        }
        Ok(())
    }

    /// Of twenty objects three are Deployments, three service accounts, four Services, five of the
    /// invented kinds and five ConfigMaps.
    fn resource(&self, n: usize) -> ApiResource {
        let (group, kind) = match n / self.addons % 20 {
            0..3 => ("apps", "Deployment"),
            3..6 => ("", "ServiceAccount"),
            6..10 => ("", "Service"),
            10..15 if self.kinds > 0 => return kinds::resource(n % self.kinds),
            _ => ("", "ConfigMap"),
        };
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind))
    }
}

/// Makes the components of one large add-on.
pub(crate) async fn fill_big(cluster: &Cluster, count: usize) -> Result<()> {
    let label = format!("addons.x-k8s.io/{BIG}");
    config_maps(cluster, BIG, count, &json!({label: ""})).await
}

/// Makes `count` ConfigMaps of these labels, named `PREFIX-000000` and so on.
pub(crate) async fn config_maps(cluster: &Cluster, prefix: &str, count: usize, labels: &Value) -> Result<()> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await?, NAMESPACE, &resource);
    stream::iter(0..count)
        .map(|n| {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"number": n.to_string()},
                "metadata": {"name": format!("{prefix}-{n:06}"), "labels": labels}});
            let api = api.clone();
            async move {
                match api.create(&PostParams::default(), &serde_json::from_value(object)?).await {
                    // From the other program's turn.
                    Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
                    Err(error) => bail!(error),
                    Ok(_) => Ok(()),
                }
            }
        })
        .buffer_unordered(CONCURRENT)
        .try_for_each(|()| async { Ok(()) })
        .await
}

/// Waits until the controllers have seen every Deployment: they go on long after the last was made.
async fn settled(client: Client) -> Result<()> {
    let deployments = Api::<Deployment>::namespaced(client.clone(), NAMESPACE);
    let replica_sets = Api::<ReplicaSet>::namespaced(client, NAMESPACE);
    let wanted = deployments.list_metadata(&ListParams::default()).await?.items.len();
    until(SETTLED, "every Deployment has its ReplicaSet", || async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let made = replica_sets.list_metadata(&ListParams::default()).await?.items.len();
        ensure!(made == wanted, "{made} of {wanted}");
        Ok(())
    })
    .await?;
    until(SETTLED, "every Deployment is available", || async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let available = |deployment: &&Deployment| {
            let conditions = deployment
                .status
                .as_ref()
                .and_then(|status| status.conditions.as_deref())
                .unwrap_or_default();
            conditions.iter().any(|condition| {
                condition.type_.as_deref() == Some("Available") && condition.status.as_deref() == Some("True")
            })
        };
        let count = deployments.list(&ListParams::default()).await?.items.iter().filter(available).count();
        ensure!(count == wanted, "{count} of {wanted}");
        Ok(())
    })
    .await?;
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
