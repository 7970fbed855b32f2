//! The connection to the API server, as both programs make it.

use std::{path::Path, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use thiserror::Error;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The kubeconfig can't be used.
    #[error("can't use the kubeconfig {path}: {source}")]
    Kubeconfig {
        /// Which file.
        path: String,
        /// What is wrong with it.
        source: kube::config::KubeconfigError,
    },
    /// There is neither a kubeconfig nor a service account.
    #[error("no cluster to talk to: {0}. Give --kubeconfig FILE, or set KUBECONFIG")]
    NoCluster(String),
    /// The client can't be made of it.
    #[error("can't connect with this kubeconfig: {0}")]
    Client(kube::Error),
}

/// How to reach the cluster that `kubeconfig` and `context` name; without either, the one of
/// `KUBECONFIG`, of `~/.kube/config` or of the pod's service account.
///
/// # Errors
/// Where there is no cluster to talk to.
pub async fn config(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Config, ConnectError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let mut config = match kubeconfig {
        Some(path) => {
            let wrong = |source| ConnectError::Kubeconfig { path: path.display().to_string(), source };
            let read = Kubeconfig::read_from(path).map_err(wrong)?;
            Config::from_custom_kubeconfig(read, &options).await.map_err(wrong)?
        }
        None if context.is_some() => Config::from_kubeconfig(&options)
            .await
            .map_err(|error| ConnectError::NoCluster(error.to_string()))?,
        None => Config::infer().await.map_err(|error| ConnectError::NoCluster(error.to_string()))?,
    };
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    Ok(config)
}

/// A client for the cluster of [`config`].
///
/// It repeats nothing by itself: whoever asks decides what to do about a failure.
///
/// # Errors
/// Where there is no cluster to talk to. Nothing is sent yet.
pub async fn client(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Client, ConnectError> {
    Client::try_from(config(kubeconfig, context).await?).map_err(ConnectError::Client)
}
