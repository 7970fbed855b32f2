//! Many objects at once: put into the store past the API server, which sees them as it sees any change.

use anyhow::{Context as _, Result};
use k8s_openapi::ByteString;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{cluster::Cluster, etcd};

/// How many requests etcd has at a time.
const CONCURRENT: usize = 8;

impl Cluster {
    /// Makes objects of a resource, `configmaps/default` for example. They are taken as they are: whole,
    /// with their uids, and without defaults or admission.
    ///
    /// # Errors
    /// When an object has no name, or etcd doesn't take it.
    pub async fn store(&self, resource: &str, objects: &[Value]) -> Result<()> {
        let put = |object: &Value| {
            let name = object["metadata"]["name"].as_str().context("an object without a name")?;
            let value = ByteString(object.to_string().into_bytes());
            Ok(json!({"key": key(resource, name), "value": value}).to_string())
        };
        self.each("/v3/kv/put", objects.iter().map(put).collect::<Result<_>>()?).await
    }

    /// Removes the objects of a resource whose names begin so. Nothing that they own goes with them.
    ///
    /// # Errors
    /// When etcd doesn't answer.
    pub async fn unstore(&self, resource: &str, names: &str) -> Result<()> {
        let from = key(resource, names);
        let mut end = from.clone();
        // Of all keys that begin with these bytes none is behind them with the last one more by one.
        if let Some(last) = end.0.last_mut() {
            *last += 1;
        }
        let range = json!({"key": from, "range_end": end, "keys_only": true});
        let found = self.etcd("/v3/kv/range", &range.to_string()).await?;
        let keys = found["kvs"].as_array().into_iter().flatten();
        let delete = |found: &Value| json!({"key": found["key"]}).to_string();
        self.each("/v3/kv/deleterange", keys.map(delete).collect()).await
    }

    /// Asks etcd for each, since no two changes that the API server watches have one revision.
    async fn each(&self, path: &'static str, bodies: Vec<String>) -> Result<()> {
        let mut parts = JoinSet::new();
        for part in bodies.chunks(bodies.len().div_ceil(CONCURRENT).max(1)) {
            let (socket, part) = (self.folder().join(etcd::SOCKET), part.to_vec());
            parts.spawn(async move {
                for body in part {
                    etcd::ask(&socket, path, &body).await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(part) = parts.join_next().await {
            part??;
        }
        Ok(())
    }

    pub(crate) async fn etcd(&self, path: &str, body: &str) -> Result<Value> {
        etcd::ask(&self.folder().join(etcd::SOCKET), path, body).await
    }
}

/// Where the API server keeps an object. Bytes are written in base 64.
fn key(resource: &str, name: &str) -> ByteString {
    ByteString(format!("/registry/{resource}/{name}").into_bytes())
}
