//! What etcd is asked for directly, in the JSON of its gRPC gateway.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

/// The socket for clients in the cluster's folder.
pub(crate) const SOCKET: &str = "etcd.sock:0";

/// What etcd answers.
pub(crate) async fn ask(socket: &Path, path: &str, body: &str) -> Result<Value> {
    let mut stream = UnixStream::connect(socket).await.context("can't reach etcd")?;
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("etcd answers without a head")?;
    let line = head.lines().next().unwrap_or_default();
    ensure!(line.ends_with("200 OK"), "etcd answers {path} with {line}: {body}");
    Ok(serde_json::from_str(body)?)
}
