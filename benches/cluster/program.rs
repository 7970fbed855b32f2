//! A program that is measured, and what it says over HTTP.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use addons_testbed::{Cluster, Process, until};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;

use crate::system::{PROGRAM_CPU, Usage};

/// Longer than any start takes.
const START: Duration = Duration::from_secs(600);

/// One of the two that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// `addon-controller`.
    Addons,
    /// The client-go program of `benches/peer`.
    Peer,
}

/// How a side is started.
pub(crate) struct Contender {
    pub(crate) side: Side,
    file: PathBuf,
    kubeconfig: PathBuf,
    pinned: bool,
}

/// A running program. It ends when this is dropped or the benchmark ends.
pub(crate) struct Program {
    pub(crate) side: Side,
    /// When it was started.
    pub(crate) started: Instant,
    process: Process,
    address: String,
    http: Client<HttpConnector, Empty<Bytes>>,
}

/// What both programs tell of an add-on.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) identifier: String,
    pub(crate) ready: String,
    pub(crate) version: String,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Addons => "addon-controller",
            Self::Peer => "peer",
        }
    }

    /// Where the list of all add-ons is.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Addons => "/api/v1alpha1/addons",
            Self::Peer => "/addons",
        }
    }

    /// Where one add-on is.
    pub(crate) fn one(self, identifier: &str) -> String {
        format!("{}/{identifier}", self.list())
    }

    fn shown(self, item: &Value) -> Shown {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (identifier, rest) = match self {
            Self::Addons => (&item["spec"]["identifier"], &item["status"]),
            Self::Peer => (&item["identifier"], item),
        };
        Shown { identifier: text(identifier), ready: text(&rest["ready"]), version: text(&rest["version"]) }
    }
}

impl Contender {
    /// Builds what has to be built.
    pub(crate) async fn prepare(side: Side, kubeconfig: &Path, pinned: bool) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = match side {
            Side::Addons => PathBuf::from(env!("CARGO_BIN_EXE_addon-controller")),
            Side::Peer => addons_testbed::go_program(&root.join("benches/peer")).await?,
        };
        Ok(Self { side, file, kubeconfig: kubeconfig.to_owned(), pinned })
    }

    pub(crate) fn start(&self, cluster: &Cluster) -> Result<Program> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let mut command = vec![self.file.clone().into_os_string()];
        if self.pinned {
            command.splice(..0, ["taskset", "-c", PROGRAM_CPU].map(Into::into));
        }
        command.extend(["--listen".into(), address.clone().into(), "--kubeconfig".into()]);
        command.push(self.kubeconfig.clone().into());
        let command = command.into_iter().map(|part| part.into_string().ok());
        let command = command.collect::<Option<Vec<_>>>().context("a path that isn't UTF-8")?;
        let started = Instant::now();
        let process =
            Process::start(self.side.name(), Path::new(&command[0]), &command[1..], cluster.folder())?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let http = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Program { side: self.side, started, process, address, http })
    }
}

impl Program {
    pub(crate) fn log_end(&self) -> String {
        self.process.log_end()
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage(self.process.id())
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Bytes> {
        let uri = format!("http://{}{path}", self.address).parse()?;
        let answer = self.http.get(uri).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{path}: {status}");
        Ok(body)
    }

    /// All add-ons.
    pub(crate) async fn addons(&self) -> Result<Vec<Shown>> {
        let list: Value = serde_json::from_slice(&self.get(self.side.list()).await?)?;
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(items.iter().map(|item| self.side.shown(item)).collect())
    }

    pub(crate) async fn addon(&self, identifier: &str) -> Result<Shown> {
        let shown = self.get(&self.side.one(identifier)).await?;
        Ok(self.side.shown(&serde_json::from_slice(&shown)?))
    }

    /// Waits until every kind was listed.
    pub(crate) async fn ready(&self) -> Result<()> {
        until(START, "every kind is listed", || self.get("/readyz")).await?;
        Ok(())
    }

    /// Waits until `addons` add-ons whose identifier begins with `prefix` have all of their `each`
    /// components, and gives the time since the start.
    pub(crate) async fn all_right(&self, prefix: &str, addons: usize, each: usize) -> Result<Duration> {
        let ready = format!("{each}/{each}");
        let what = format!("each of {addons} add-ons {prefix}* has {ready}");
        until(START, &what, || async {
            // Asking makes the program render its list: twice as seldom as `until` looks.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let shown = self.addons().await?;
            let right =
                shown.iter().filter(|addon| addon.identifier.starts_with(prefix) && addon.ready == ready);
            let right = right.count();
            ensure!(right == addons, "{right} have");
            Ok(self.started.elapsed())
        })
        .await
        .map_err(Into::into)
    }

    /// The sum of a counter of the program's own, over all its labels. The peer has none.
    pub(crate) async fn counter(&self, name: &str) -> Result<u64> {
        let text = self.get("/metrics").await?;
        let values = std::str::from_utf8(&text)?.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            rest.starts_with(['{', ' ']).then(|| rest.rsplit(' ').next()?.parse::<u64>().ok())?
        });
        Ok(values.sum())
    }

    /// Waits until the program writes no `Addon` any more: after a start it writes what changed while it was off.
    pub(crate) async fn rests(&self) -> Result<()> {
        until(START, "no Addon is written any more", || async {
            let before = self.writes().await?;
            tokio::time::sleep(Duration::from_secs(3)).await;
            let after = self.writes().await?;
            ensure!(before == after, "{before:?} writes, then {after:?}");
            Ok(())
        })
        .await
        .map_err(Into::into)
    }

    /// Writes of `Addon` objects so far; none for the peer, which writes nothing.
    pub(crate) async fn writes(&self) -> Result<Option<u64>> {
        match self.side {
            Side::Addons => self.counter("addons_controller_status_writes_total").await.map(Some),
            Side::Peer => Ok(None),
        }
    }
}
