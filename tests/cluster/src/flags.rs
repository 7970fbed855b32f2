//! The command line of each program. Paths are relative to the cluster's folder, where they all run.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context as _, Result};

/// Who may do everything: the one line of this file is the administrator's token.
pub(crate) const TOKENS: &str = "tokens.csv";
/// The certificate that signed the API server's.
pub(crate) const CA: &str = "ca.crt";
/// What the API server writes for itself when it starts: its certificate, followed by its signer's.
pub(crate) const SERVER_CERTIFICATES: &str = "certs/apiserver.crt";
/// The administrator's kubeconfig.
pub(crate) const KUBECONFIG: &str = "kubeconfig";
/// How nodes, pods and volumes behave.
pub(crate) const STAGES: &str = "stages.yaml";

/// The API server makes this key for its certificate, and service account tokens are signed with it too.
const SERVER_KEY: &str = "certs/apiserver.key";

/// A socket in a folder that nobody else can enter: on a port, etcd would obey every user of the machine.
const ETCD: &str = "unix://etcd.sock:0";
const ETCD_PEER: &str = "unix://etcd-peer.sock:0";

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

pub(crate) fn etcd() -> Vec<String> {
    vec![
        "--name=testbed".into(),
        "--data-dir=etcd".into(),
        "--unsafe-no-fsync".into(),
        "--log-level=warn".into(),
        format!("--listen-client-urls={ETCD}"),
        format!("--advertise-client-urls={ETCD}"),
        format!("--listen-peer-urls={ETCD_PEER}"),
        format!("--initial-advertise-peer-urls={ETCD_PEER}"),
        format!("--initial-cluster=testbed={ETCD_PEER}"),
    ]
}

pub(crate) fn api_server(port: u16) -> Vec<String> {
    vec![
        format!("--etcd-servers={ETCD}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        // Any other reconciler refuses a loopback address.
        "--endpoint-reconciler-type=none".into(),
        "--cert-dir=certs".into(),
        "--authorization-mode=RBAC".into(),
        format!("--token-auth-file={TOKENS}"),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        format!("--service-account-key-file={SERVER_KEY}"),
        format!("--service-account-signing-key-file={SERVER_KEY}"),
        // The API server dials the addresses of webhooks and APIServices: on loopback nobody else is reached.
        "--service-cluster-ip-range=127.96.0.0/16".into(),
        "--allow-privileged=true".into(),
        "--profiling=false".into(),
    ]
}

pub(crate) fn controller_manager() -> Vec<String> {
    let mut flags = client();
    flags.extend([
        format!("--service-account-private-key-file={SERVER_KEY}"),
        format!("--root-ca-file={CA}"),
        // A busy machine must not turn nodes unready, as their pods never recover from that.
        "--node-monitor-grace-period=10m".into(),
    ]);
    flags
}

pub(crate) fn scheduler() -> Vec<String> {
    client()
}

fn client() -> Vec<String> {
    vec![
        format!("--kubeconfig={KUBECONFIG}"),
        "--leader-elect=false".into(),
        // Nobody asks for their metrics, so they need no port.
        "--secure-port=0".into(),
        "--profiling=false".into(),
        "--kube-api-qps=200".into(),
        "--kube-api-burst=400".into(),
    ]
}

pub(crate) fn kwok() -> Vec<String> {
    vec![
        format!("--kubeconfig={KUBECONFIG}"),
        format!("--config={STAGES}"),
        "--manage-all-nodes=true".into(),
        // Without leases the controllers give the nodes up after a while.
        "--node-lease-duration-seconds=40".into(),
        // Addresses that are reserved for benchmarks: loopback ones are refused in an EndpointSlice.
        "--cidr=198.18.0.0/16".into(),
        "--node-ip=198.19.0.1".into(),
    ]
}
