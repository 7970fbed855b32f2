//! A real Kubernetes control plane on one machine: etcd, the API server, the controllers and the
//! scheduler as they are, and kwok in the place of kubelets. For the tests, the demo and the
//! benchmarks.
//!
//! The programs are built once from the Go modules in `go.mod`, into a folder of the user's cache;
//! whoever has some already points `KUBEBUILDER_ASSETS` at them.
//!
//! Tests of one program share a cluster and keep to namespaces of their own:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use addons_testbed::{Cluster, eventually};
//! use k8s_openapi::api::apps::v1::Deployment;
//! use kube::Api;
//!
//! # async fn test() -> anyhow::Result<()> {
//! let cluster = Cluster::shared().await;
//! let namespace = cluster.namespace("web").await?;
//! cluster.kubectl(&["-n", &namespace, "create", "deployment", "web", "--image=web"]).await?;
//!
//! let deployments = Api::<Deployment>::namespaced(cluster.client().await?, &namespace);
//! eventually(Duration::from_secs(30), "the deployment is available", || async {
//!     let web = deployments.get("web").await.map_err(|error| error.to_string())?;
//!     match web.status.as_ref().and_then(|status| status.available_replicas) {
//!         Some(1) => Ok(()),
//!         _ => Err(format!("{:?}", web.status)),
//!     }
//! })
//! .await;
//! # Ok(())
//! # }
//! ```
//!
//! What isn't real: pods run nothing. Their status is what a kubelet would report of containers
//! that start at once, or that fail as asked ([`Cluster::fail_pod`], [`FAIL_ANNOTATION`]). Claims
//! of the default storage class are bound to volumes that hold nothing. Pods have addresses that
//! nobody answers at, so webhooks and aggregated API servers in the cluster are unavailable.

mod access;
mod bulk;
mod cluster;
mod compile;
mod control;
mod etcd;
mod flags;
mod nodes;
mod pods;
mod programs;
mod proxy;
mod supervise;
mod user;
mod wait;

pub use cluster::{Cluster, Options, is_ready};
pub use compile::go_program;
pub use control::Paused;
pub use pods::{FAIL_ANNOTATION, Failure};
pub use programs::{Program, Programs};
pub use proxy::{After, Ask, Fault, How, Injected, Proxy, When};
pub use supervise::Process;
pub use user::{User, client};
pub use wait::{Look, TimedOut, eventually, until};
