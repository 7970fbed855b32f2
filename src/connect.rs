//! The connection to the API server, as both programs make it.

use std::{error::Error as StdError, io, path::Path, time::Duration};

use hyper_timeout::TimeoutConnector;
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioExecutor};
use kube::{
    Client, Config,
    client::ConfigExt,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use thiserror::Error;
use tower::{BoxError, ServiceBuilder};

use crate::model::text;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection may be silent before the system asks whether the other side is there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// For how long a connection that nobody uses is kept.
const KEPT_IDLE: Duration = Duration::from_secs(90);

/// How much of an answer a connection reads ahead, at most. Each keeps what it once took, and every watch has a
/// connection.
const READ_AHEAD: usize = 64 << 10;

/// Why there is no connection. Each is one line and holds its cause.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// A kubeconfig that was named isn't there.
    #[error("there is no kubeconfig {path}")]
    Missing {
        /// Which file.
        path: String,
    },
    /// A kubeconfig can't be used.
    #[error("can't use the kubeconfig: {0}")]
    Kubeconfig(String),
    /// There is neither a kubeconfig nor a service account.
    #[error(
        "no cluster to talk to: there is no ~/.kube/config, and this is no pod with a service account. \
         Give --kubeconfig FILE, or set KUBECONFIG"
    )]
    NoCluster,
    /// The client can't be made of it.
    #[error("can't connect with this kubeconfig: {0}")]
    Client(String),
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
            let read = Kubeconfig::read_from(path).map_err(|error| unusable(&error))?;
            Config::from_custom_kubeconfig(read, &options).await.map_err(|error| unusable(&error))?
        }
        None => match Config::from_kubeconfig(&options).await {
            Ok(config) => config,
            Err(error) if context.is_some() => return Err(unusable(&error)),
            Err(error) => Config::incluster().map_err(|_| none(&error))?,
        },
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
    client_of(config(kubeconfig, context).await?)
}

/// A client that uses `config`.
///
/// Small requests aren't held back until the last one was acknowledged (`TCP_NODELAY`, which kube's own
/// connector leaves off): over TLS that costs the first request of a connection 40 ms.
///
/// # Errors
/// Where its certificates or credentials can't be used.
pub fn client_of(config: Config) -> Result<Client, ConnectError> {
    stack(config).map_err(|error| ConnectError::Client(cause(&error)))
}

fn stack(config: Config) -> kube::Result<Client> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEPALIVE));
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(tcp)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    // The read timeout ends connections that nobody uses as well: none is taken up again shortly before.
    let idle = config.read_timeout.map_or(KEPT_IDLE, |timeout| KEPT_IDLE.min(timeout / 2));
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(
            hyper_util::client::legacy::Client::builder(TokioExecutor::new())
                .pool_idle_timeout(idle)
                .http1_max_buf_size(READ_AHEAD)
                .build(connector),
        );
    Ok(Client::new(service, config.default_namespace))
}

/// What went wrong with a request, in one line: what the API server says, or the innermost cause.
/// The others only say where they stood.
pub fn cause(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => text::message(&status.message),
        kube::Error::Api(status) => format!("HTTP status {}", status.code),
        _ => innermost(error),
    }
}

fn innermost(mut error: &dyn StdError) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    text::message(&error.to_string())
}

fn unusable(error: &KubeconfigError) -> ConnectError {
    ConnectError::Kubeconfig(match error {
        KubeconfigError::ReadConfig(cause, path) if cause.kind() == io::ErrorKind::NotFound => {
            return ConnectError::Missing { path: text::message(&path.to_string_lossy()) };
        }
        KubeconfigError::ReadConfig(cause, path) => {
            text::message(&format!("can't read {}: {cause}", path.display()))
        }
        KubeconfigError::CurrentContextNotSet => {
            "it has no current context. Give one with --context".to_owned()
        }
        KubeconfigError::LoadContext(name) => format!("it has no context '{}'", text::name(name)),
        KubeconfigError::LoadClusterOfContext(name) => format!("it has no cluster '{}'", text::name(name)),
        // These say what was read, and their causes only what is wrong with it.
        _ => text::message(&error.to_string()),
    })
}

/// What is missing where nobody named a kubeconfig and there is no service account.
fn none(error: &KubeconfigError) -> ConnectError {
    let nothing_named = std::env::var_os("KUBECONFIG").is_none_or(|paths| paths.is_empty());
    match unusable(error) {
        ConnectError::Missing { .. } if nothing_named => ConnectError::NoCluster,
        _ if matches!(error, KubeconfigError::FindPath) => ConnectError::NoCluster,
        error => error,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    async fn refused(content: Option<&str>, context: Option<&str>) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        if let Some(content) = content {
            std::fs::write(&path, content).expect("a file");
        }
        let error = config(Some(&path), context).await.expect_err("no cluster");
        // Whoever prints the chain must not say it twice.
        assert!(error.source().is_none());
        error.to_string().replace(&path.display().to_string(), "FILE")
    }

    #[tokio::test]
    async fn each_fault_of_a_kubeconfig_is_one_sentence() {
        assert_eq!(refused(None, None).await, "there is no kubeconfig FILE");
        let empty = "apiVersion: v1\nkind: Config\n";
        assert_eq!(
            refused(Some(empty), None).await,
            "can't use the kubeconfig: it has no current context. Give one with --context"
        );
        assert_eq!(
            refused(Some(empty), Some("prod")).await,
            "can't use the kubeconfig: it has no context 'prod'"
        );
        let dangling =
            format!("{empty}current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n");
        assert_eq!(refused(Some(&dangling), None).await, "can't use the kubeconfig: it has no cluster 'k'");
        let broken = refused(Some("a: [b"), None).await;
        assert!(
            broken.starts_with("can't use the kubeconfig: failed to parse") && !broken.contains('\n'),
            "{broken}"
        );
    }

    #[test]
    fn a_cause_is_what_the_server_says_or_the_innermost() {
        let status: kube::core::Status =
            serde_json::from_str(r#"{"code": 401, "message": "Unauthorized"}"#).expect("a status");
        assert_eq!(cause(&kube::Error::Api(Box::new(status))), "Unauthorized");
        let io = io::Error::other("gone");
        assert_eq!(cause(&kube::Error::Service(Box::new(kube::Error::ReadEvents(io)))), "gone");
    }
}
