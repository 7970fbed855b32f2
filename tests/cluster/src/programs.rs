//! Which programs a cluster is made of, and where they stand.

use std::{
    env,
    fmt::Write as _,
    path::{Path, PathBuf, absolute},
};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use crate::compile;

/// A program of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The store behind the API server.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controllers of the built-in kinds.
    ControllerManager,
    /// Gives each pod its node.
    Scheduler,
    /// The command line client.
    Kubectl,
    /// Plays the kubelet of every node.
    Kwok,
}

impl Program {
    /// Every program, in the order in which they are built.
    pub const ALL: [Self; 6] =
        [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler, Self::Kubectl, Self::Kwok];

    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::Kwok => "kwok",
        }
    }

    /// The Go package it is built from.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::ApiServer => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::ControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
            Self::Scheduler => "k8s.io/kubernetes/cmd/kube-scheduler",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::Kwok => "sigs.k8s.io/kwok/cmd/kwok",
        }
    }
}

/// Where the programs stand: `KUBEBUILDER_ASSETS` for those that it has, and a cache folder for the
/// rest, which is keyed by `go.sum`, so that other versions never meet.
#[derive(Clone, Debug)]
pub struct Programs {
    assets: Option<PathBuf>,
    cache: PathBuf,
}

impl Programs {
    /// The programs, built first where they are missing.
    ///
    /// The first build takes minutes; what it does goes to standard error.
    ///
    /// # Errors
    /// When Go is missing or a build fails.
    pub async fn ready() -> Result<Self> {
        let programs = Self::locate()?;
        compile::missing(&programs).await?;
        Ok(programs)
    }

    fn locate() -> Result<Self> {
        // The programs run in another folder than this process.
        let assets = set("KUBEBUILDER_ASSETS").map(absolute).transpose()?;
        Ok(Self { assets, cache: cache("testbed", include_bytes!("../go.sum"))? })
    }

    /// The file of a program.
    pub fn path(&self, program: Program) -> PathBuf {
        self.prebuilt(program).unwrap_or_else(|| self.built(program))
    }

    /// The file that `KUBEBUILDER_ASSETS` has for a program.
    pub(crate) fn prebuilt(&self, program: Program) -> Option<PathBuf> {
        let path = self.assets.as_ref()?.join(program.name());
        path.is_file().then_some(path)
    }

    /// The file that a build of a program makes.
    pub(crate) fn built(&self, program: Program) -> PathBuf {
        self.cache.join("bin").join(program.name())
    }

    /// kwok's own stages, which say how nodes, pods and volumes behave.
    pub(crate) fn stages(&self) -> PathBuf {
        self.cache.join("stages.yaml")
    }

    /// The folder that holds what is built.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }
}

/// The folder outside the checkout for what is built of a Go module, by its name and `go.sum`.
pub(crate) fn cache(name: &str, sums: &[u8]) -> Result<PathBuf> {
    let base = set("ADDONS_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("addons")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/addons")))
        .context("no place for what is built with Go: set HOME or ADDONS_CACHE")?;
    Ok(absolute(base)?.join(format!("{name}-{}", key(sums))))
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The first 16 hexadecimal digits of the SHA-256 of `go.sum`.
fn key(sums: &[u8]) -> String {
    let digest = Sha256::digest(sums);
    digest.iter().take(8).fold(String::new(), |mut key, byte| {
        // Writing to a string can't fail.
        let _ = write!(key, "{byte:02x}");
        key
    })
}
