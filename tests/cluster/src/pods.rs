//! Pods that fail, and recover.

use std::time::Duration;

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{cluster::Cluster, wait::until};

/// The annotation that makes a pod fail. Its value is the reason its containers wait with, such as
/// `CrashLoopBackOff` or `CreateContainerConfigError`. In the template of a workload it makes each
/// of its pods fail.
///
/// A container whose image has the tag `missing` fails alike, with `ImagePullBackOff`, so that
/// `kubectl set image` is enough to break a workload.
pub const FAIL_ANNOTATION: &str = "testbed.addons.x-k8s.io/fail";

/// The label of kwok's own stage that ends a running pod.
const EXIT_LABEL: &str = "pod-container-running-failed.stage.kwok.x-k8s.io";

/// How long kwok may take to follow. It needs some ten milliseconds on an idle machine.
const REACTION: Duration = Duration::from_secs(60);

/// The way in which a pod fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its image can't be pulled: `Pending`, its containers wait with `ImagePullBackOff`.
    ImagePull,
    /// Its containers crash and are restarted: `Running`, they wait with `CrashLoopBackOff`.
    CrashLoop,
    /// Its containers end with exit code 1 for good: `Failed`. A ReplicaSet replaces such a pod.
    Exit,
}

impl Failure {
    fn metadata(self) -> Value {
        match self {
            Self::ImagePull => json!({"annotations": {FAIL_ANNOTATION: "ImagePullBackOff"}}),
            Self::CrashLoop => json!({"annotations": {FAIL_ANNOTATION: "CrashLoopBackOff"}}),
            Self::Exit => json!({
                "labels": {EXIT_LABEL: "true"},
                // Kept in the annotations of the stage; by default it takes up to two seconds.
                "annotations": {
                    format!("{EXIT_LABEL}/delay"): "0s",
                    format!("{EXIT_LABEL}/jitter-delay"): "0s",
                },
            }),
        }
    }
}

impl Cluster {
    /// Makes a pod that has a node fail, and waits until its status says so.
    ///
    /// # Errors
    /// When there is no such pod, or it has no node.
    pub async fn fail_pod(&self, namespace: &str, name: &str, failure: Failure) -> Result<Pod> {
        let patch = json!({"metadata": failure.metadata()});
        let pods = Api::<Pod>::namespaced(self.client().await?, namespace);
        let patched = pods.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.with_context(|| format!("can't make the pod {namespace}/{name} fail"))?;
        readiness(&pods, &format!("the pod {namespace}/{name} fails"), name, "False").await
    }

    /// Makes a pod that fails run again, and waits until it is ready. A pod that has ended stays so.
    ///
    /// # Errors
    /// When there is no such pod, or it would still fail because of its image.
    pub async fn heal_pod(&self, namespace: &str, name: &str) -> Result<Pod> {
        let pods = Api::<Pod>::namespaced(self.client().await?, namespace);
        let heal = async {
            let cause = json!({"metadata": {"annotations": {FAIL_ANNOTATION: null}}});
            pods.patch(name, &PatchParams::default(), &Patch::Merge(cause)).await?;
            // kwok's stages take every pending pod on a node to readiness, and give it an address,
            // which the API server refuses beside another.
            let status = json!({"status": {"phase": "Pending", "podIP": null, "podIPs": null}});
            pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await
        };
        heal.await.with_context(|| format!("can't make the pod {namespace}/{name} run"))?;
        readiness(&pods, &format!("the pod {namespace}/{name} is ready"), name, "True").await
    }
}

async fn readiness(pods: &Api<Pod>, what: &str, name: &str, wanted: &str) -> Result<Pod> {
    let seen = until(REACTION, what, || async {
        let pod = pods.get(name).await.map_err(|error| error.to_string())?;
        let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
        if ready.any(|condition| condition.status == wanted) {
            Ok(pod)
        } else {
            Err(format!("{:?}", pod.status))
        }
    });
    Ok(seen.await?)
}
