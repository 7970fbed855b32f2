//! A reverse proxy in front of the API server that does what networks, gateways and API servers do
//! on bad days. Faults come and go while it runs, and it counts what is asked of it.

mod body;
mod fault;
mod pass;
mod request;
mod rules;
mod socket;
#[cfg(test)]
mod tests;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Arc, atomic::Ordering, mpsc},
    thread::{self, JoinHandle},
};

use anyhow::{Context as _, Result, anyhow};
use kube::{
    Client, Config,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use tokio::{net::TcpListener, sync::oneshot};

pub use self::{
    fault::{After, Fault, How},
    request::{Ask, When},
    rules::Injected,
};
use self::{pass::Passage, rules::Rules};
use crate::{cluster::Cluster, user::User};

/// A proxy on loopback. It passes on the credentials that a request carries and has none itself. It
/// runs in a thread of its own and ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    rules: Arc<Rules>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy in front of the API server of a cluster.
    ///
    /// # Errors
    /// When the kubeconfig can't be used or no port is free.
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let file = Kubeconfig::read_from(cluster.kubeconfig())?;
        let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.auth_info = AuthInfo::default();
        Self::before(config)
    }

    /// Starts a proxy in front of the server that `config` names.
    pub(crate) fn before(mut config: Config) -> Result<Self> {
        // Each request is passed on once.
        config.default_retry = false;
        let rules = Arc::new(Rules::default());
        let (told, address) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&rules);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let serve = async {
                let client = Client::try_from(config)?;
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
                let address = listener.local_addr()?;
                Ok((listener, address, Passage { client, rules: shared }))
            };
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async move {
                match serve.await {
                    Ok((listener, address, passage)) => {
                        let _ = told.send(Ok(address));
                        tokio::select! {
                            () = passage.serve(listener) => {}
                            _ = stopped => {}
                        }
                    }
                    Err(error) => drop(told.send(Err::<_, anyhow::Error>(error))),
                }
            });
        });
        let address = address.recv().map_err(|_| anyhow!("the proxy ended before it listened"))??;
        Ok(Self { address, rules, stop: Some(stop), thread: Some(thread) })
    }

    /// The same user, who reaches the API server through this proxy.
    ///
    /// # Errors
    /// When the user's kubeconfig is gone.
    pub fn user(&self, user: &User) -> Result<User> {
        let port = self.address.port();
        let suffix = format!("through-{port}.kubeconfig");
        user.through(&format!("http://{}", self.address), &user.kubeconfig().with_extension(suffix))
    }

    /// Begins a fault. It lasts until what is given is dropped.
    #[must_use = "a fault ends when this is dropped"]
    pub fn inject(&self, when: When, fault: Fault) -> Injected {
        Rules::inject(&self.rules, when, fault, None)
    }

    /// Begins a fault that happens `times` times at most.
    #[must_use = "a fault ends when this is dropped"]
    pub fn inject_times(&self, times: usize, when: When, fault: Fault) -> Injected {
        Rules::inject(&self.rules, when, fault, Some(times))
    }

    /// Has lists come in pages of so many objects, where the client says a limit; 0 for what it asks.
    pub fn page_size(&self, objects: usize) {
        self.rules.page_size.store(objects, Ordering::Relaxed);
    }

    /// How many such requests have come so far.
    pub fn count(&self, when: &When) -> u64 {
        self.rules.count(when)
    }

    /// How often each was asked for, the most frequent first.
    pub fn busiest(&self) -> Vec<(u64, Ask, String)> {
        self.rules.busiest()
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.rules.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The kubeconfig of somebody whose server is at another address.
pub(crate) fn readdressed(kubeconfig: &Path, url: &str) -> Result<String> {
    let mut file = Kubeconfig::read_from(kubeconfig)?;
    for named in &mut file.clusters {
        let cluster = named.cluster.as_mut().context("a kubeconfig with an empty cluster")?;
        cluster.server = Some(url.to_owned());
        cluster.certificate_authority = None;
    }
    // JSON is YAML.
    Ok(serde_json::to_string(&file)?)
}
