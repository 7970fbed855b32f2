//! What the cluster gives to tests, on the cluster itself.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::time::Duration;

use addons_testbed::{Cluster, Failure, User, eventually};
use anyhow::{Context as _, Result};
use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{ConfigMap, Node, PersistentVolumeClaim, Pod},
    rbac::v1::PolicyRule,
};
use kube::{Api, Client, api::ListParams};

const SOON: Duration = Duration::from_secs(60);

/// A deployment of two pods, all of which must be available.
const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  strategy: {rollingUpdate: {maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: registry.example/web:1}
";

/// A namespace with the deployment in it, available.
async fn web(cluster: &Cluster) -> Result<(String, Client)> {
    let namespace = cluster.namespace("web").await?;
    apply(cluster.admin(), &namespace, WEB).await?;
    let client = cluster.client().await?;
    available(&client, &namespace, "True", 2).await;
    Ok((namespace, client))
}

async fn apply(user: &User, namespace: &str, yaml: &str) -> Result<String> {
    user.kubectl_with_input(&["apply", "--server-side", "-n", namespace, "-f", "-"], yaml).await
}

/// Waits until the deployment's condition `Available` and its count of available pods are so.
async fn available(client: &Client, namespace: &str, condition: &str, replicas: i32) {
    let deployments = Api::<Deployment>::namespaced(client.clone(), namespace);
    let what = format!("the deployment is Available={condition} with {replicas} pods");
    eventually(SOON, &what, || async {
        let status =
            deployments.get("web").await.map_err(|error| error.to_string())?.status.unwrap_or_default();
        let mut conditions = status.conditions.iter().flatten();
        let is = conditions
            .any(|it| it.type_.as_deref() == Some("Available") && it.status.as_deref() == Some(condition));
        let count = status.available_replicas.unwrap_or(0);
        if is && count == replicas { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
}

async fn pods(client: &Client, namespace: &str) -> Result<Vec<Pod>> {
    Ok(Api::<Pod>::namespaced(client.clone(), namespace).list(&ListParams::default()).await?.items)
}

fn name(pod: &Pod) -> &str {
    pod.metadata.name.as_deref().unwrap()
}

/// The phase, and what the first container waits for.
fn state(pod: &Pod) -> (&str, Option<&str>) {
    let status = pod.status.as_ref().unwrap();
    let container = status.container_statuses.as_ref().and_then(|containers| containers.first());
    let waiting = container.and_then(|container| container.state.as_ref()?.waiting.as_ref());
    (status.phase.as_deref().unwrap_or_default(), waiting.and_then(|waiting| waiting.reason.as_deref()))
}

#[tokio::test]
async fn a_deployment_becomes_available_on_simulated_nodes() -> Result<()> {
    let cluster = Cluster::shared().await;
    let (namespace, client) = web(cluster).await?;
    for pod in pods(&client, &namespace).await? {
        assert!(pod.spec.unwrap().node_name.unwrap().starts_with("node-"));
    }
    Ok(())
}

#[tokio::test]
async fn a_failing_pod_makes_its_deployment_unavailable_until_it_is_healed() -> Result<()> {
    let cluster = Cluster::shared().await;
    let (namespace, client) = web(cluster).await?;
    let pods = pods(&client, &namespace).await?;

    let failed = cluster.fail_pod(&namespace, name(&pods[0]), Failure::CrashLoop).await?;
    assert_eq!(state(&failed), ("Running", Some("CrashLoopBackOff")));
    available(&client, &namespace, "False", 1).await;

    let failed = cluster.fail_pod(&namespace, name(&pods[1]), Failure::ImagePull).await?;
    assert_eq!(state(&failed), ("Pending", Some("ImagePullBackOff")));
    available(&client, &namespace, "False", 0).await;

    for pod in &pods {
        let healed = cluster.heal_pod(&namespace, name(pod)).await?;
        assert_eq!(state(&healed), ("Running", None));
    }
    available(&client, &namespace, "True", 2).await;
    Ok(())
}

#[tokio::test]
async fn a_missing_image_stops_a_rollout() -> Result<()> {
    let cluster = Cluster::shared().await;
    let (namespace, client) = web(cluster).await?;
    let image = "web=registry.example/web:missing";
    cluster.kubectl(&["-n", &namespace, "set", "image", "deployment/web", image]).await?;
    eventually(SOON, "a new pod can't pull its image", || async {
        let pods = pods(&client, &namespace).await.map_err(|error| error.to_string())?;
        let states: Vec<_> = pods.iter().map(state).collect();
        if states.contains(&("Pending", Some("ImagePullBackOff"))) {
            Ok(())
        } else {
            Err(format!("{states:?}"))
        }
    })
    .await;
    // The old pods stay.
    available(&client, &namespace, "True", 2).await;
    Ok(())
}

#[tokio::test]
async fn a_pod_that_ends_is_replaced() -> Result<()> {
    let cluster = Cluster::shared().await;
    let (namespace, client) = web(cluster).await?;
    let pods = pods(&client, &namespace).await?;
    let ended = cluster.fail_pod(&namespace, name(&pods[0]), Failure::Exit).await?;
    assert_eq!(state(&ended).0, "Failed");
    available(&client, &namespace, "True", 2).await;
    Ok(())
}

#[tokio::test]
async fn a_job_completes_and_a_claim_is_bound() -> Result<()> {
    let cluster = Cluster::shared().await;
    let namespace = cluster.namespace("batch").await?;
    cluster.kubectl(&["-n", &namespace, "create", "job", "once", "--image=once"]).await?;
    let claim = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";
    apply(cluster.admin(), &namespace, claim).await?;

    let client = cluster.client().await?;
    let jobs = Api::<Job>::namespaced(client.clone(), &namespace);
    eventually(SOON, "the job is complete", || async {
        let status = jobs.get("once").await.map_err(|error| error.to_string())?.status;
        let succeeded = status.as_ref().and_then(|status| status.succeeded);
        if succeeded == Some(1) { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
    let claims = Api::<PersistentVolumeClaim>::namespaced(client, &namespace);
    eventually(SOON, "the claim is bound", || async {
        let status = claims.get("data").await.map_err(|error| error.to_string())?.status;
        let phase = status.as_ref().and_then(|status| status.phase.as_deref());
        if phase == Some("Bound") { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_user_has_the_rights_it_was_given_and_no_others() -> Result<()> {
    let cluster = Cluster::shared().await;
    let namespace = cluster.namespace("rights").await?;
    let rule = PolicyRule {
        api_groups: Some(vec![String::new()]),
        resources: Some(vec!["configmaps".to_owned()]),
        verbs: vec!["list".to_owned()],
        ..Default::default()
    };
    let reader = cluster.user("reader", vec![rule]).await?;
    let nobody = cluster.user("nobody", vec![]).await?;

    let list = |client| async {
        Api::<ConfigMap>::namespaced(client, &namespace).list(&ListParams::default()).await
    };
    list(reader.client().await?).await?;
    let refused = list(nobody.client().await?).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 403), "{refused}");

    let refused = reader.kubectl(&["-n", &namespace, "get", "pods"]).await.unwrap_err().to_string();
    assert!(refused.contains("Forbidden") && refused.contains(reader.name()), "{refused}");
    Ok(())
}

#[tokio::test]
async fn nodes_are_added() -> Result<()> {
    let cluster = Cluster::shared().await;
    let nodes = Api::<Node>::all(cluster.client().await?);
    let before = nodes.list(&ListParams::default()).await?.items.len();
    cluster.add_nodes(2).await.context("two more nodes")?;
    assert!(nodes.list(&ListParams::default()).await?.items.len() >= before + 2);
    Ok(())
}
