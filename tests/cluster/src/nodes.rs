//! Simulated nodes: objects whose kubelet kwok plays.

use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Node;
use kube::{Api, api::PostParams};
use serde_json::json;

use crate::{
    cluster::{Cluster, START},
    wait::until,
};

impl Cluster {
    /// Adds `count` nodes, named `node-1` and so on, and waits until pods can be placed on each.
    /// A node takes 1000 pods, 64 CPUs and 256 GiB.
    ///
    /// # Errors
    /// When a node can't be created or doesn't become ready.
    pub async fn add_nodes(&self, count: usize) -> Result<()> {
        let nodes = Api::<Node>::all(self.client().await?);
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let name = format!("node-{}", self.nodes.fetch_add(1, Ordering::Relaxed) + 1);
            let made = nodes.create(&PostParams::default(), &node(&name)?).await;
            made.with_context(|| format!("can't create the node {name}"))?;
            names.push(name);
        }
        for name in names {
            let what = format!("pods can be placed on {name}");
            until(START, &what, || async {
                let node = nodes.get(&name).await.map_err(|error| error.to_string())?;
                if takes_pods(&node) { Ok(()) } else { Err(state(&node)) }
            })
            .await?;
        }
        Ok(())
    }
}

fn node(name: &str) -> Result<Node> {
    let resources = json!({"cpu": "64", "memory": "256Gi", "pods": "1000"});
    Ok(serde_json::from_value(json!({
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
            },
        },
        "status": {"allocatable": resources, "capacity": resources},
    }))?)
}

/// A node is tainted until the controllers have seen that it is ready.
fn takes_pods(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready =
        conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    ready && taints.count() == 0
}

fn state(node: &Node) -> String {
    let conditions = node.status.as_ref().map(|status| &status.conditions);
    let taints = node.spec.as_ref().map(|spec| &spec.taints);
    format!("conditions {conditions:?}, taints {taints:?}")
}
