//! Clusters for tests that run at the same time: each test has one for itself.

use std::{
    ops::Deref,
    sync::{Mutex, PoisonError},
    thread,
};

use addons_testbed::{Cluster, Options};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    stage::GROUPS,
    support::{at_root, established, serve},
};

/// How many clusters there are at most. One takes about a gigabyte, and a core while it starts.
const LANES: usize = 6;

static TURNS: Semaphore = Semaphore::const_new(LANES);

/// Those that no test has now.
static FREE: Mutex<Vec<Cluster>> = Mutex::new(Vec::new());

/// A cluster, for as long as a test has it. Controllers that write the same `Addon` objects would undo
/// each other's work, and an outage is one for everybody.
pub struct Lane {
    cluster: Option<Cluster>,
    _turn: SemaphorePermit<'static>,
}

impl Lane {
    /// Takes a cluster that others have left, or starts one where there is none.
    pub async fn take() -> Self {
        let turn = TURNS.acquire().await.expect("it is never closed");
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let cluster = match free {
            Some(cluster) => cluster,
            None => start().await,
        };
        Self { cluster: Some(cluster), _turn: turn }
    }
}

/// A cluster that serves what the tests make objects of.
async fn start() -> Cluster {
    let cluster = Cluster::start(Options::default()).await.expect("a cluster");
    cluster.kubectl(&["apply", "-k", &at_root("crds")]).await.expect("the CRDs");
    established(&cluster, "addons.addons.x-k8s.io").await;
    for (group, kind) in GROUPS {
        serve(&cluster, group, "Cluster", kind).await;
    }
    cluster
}

impl Deref for Lane {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        self.cluster.as_ref().expect("it is given back at the end")
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // What a test that failed has left behind ends with its cluster.
        if !thread::panicking() {
            FREE.lock().unwrap_or_else(PoisonError::into_inner).extend(self.cluster.take());
        }
    }
}
