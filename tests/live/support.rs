//! A controller on a test cluster.

use std::{
    fmt::Display,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    thread::{self, JoinHandle},
    time::Duration,
};

use addons::controller::{Controller, Options};
use addons_testbed::{Cluster, eventually};
use clap::Parser;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, ToSocketAddrs},
    sync::OnceCell,
};
use tokio_util::sync::CancellationToken;

/// Longer than anything that is waited for on a busy machine, where the time isn't the point.
pub const LONG: Duration = Duration::from_secs(90);

/// A controller in a thread and runtime of its own. It ends when it is dropped.
pub struct Running {
    pub address: SocketAddr,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start(kubeconfig: &Path, flags: &[&str]) -> Self {
        let mut arguments = vec!["addon-controller", "--listen", "127.0.0.1:0", "--kubeconfig"];
        let kubeconfig = kubeconfig.display().to_string();
        arguments.push(&kubeconfig);
        arguments.extend(flags);
        let options = Options::parse_from(arguments);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let (tell, address) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let controller = Controller::bind(options).await.expect("a controller");
                tell.send(controller.address()).expect("somebody listens");
                controller.run(stopped).await.expect("it runs until it is told to stop");
            });
        });
        let address = address.recv().expect("it listens");
        Self { address, stop, thread: Some(thread) }
    }

    /// Status and body of a GET request.
    pub async fn get(&self, path: &str) -> Result<(u16, String), String> {
        get(self.address, path).await
    }

    /// An `Addon` with all its components, as HTTP gives it.
    pub async fn addon(&self, identifier: &str) -> Result<Value, String> {
        match self.get(&format!("/api/v1alpha1/addons/{identifier}")).await? {
            (200, body) => serde_json::from_str(&body).map_err(|error| error.to_string()),
            (code, body) => Err(format!("{code}: {body}")),
        }
    }

    /// Waits until it has listed what there is.
    pub async fn ready(&self) {
        eventually(LONG, "the controller is ready", || async {
            match self.get("/readyz?verbose").await? {
                (200, _) => Ok(()),
                (_, body) => Err(body),
            }
        })
        .await;
    }
}

/// Status and body of a GET request.
pub async fn get(address: impl ToSocketAddrs + Copy + Display, path: &str) -> Result<(u16, String), String> {
    let mut stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.map_err(|error| error.to_string())?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no head")?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or("no status")?;
    Ok((status, body.to_owned()))
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !thread::panicking()
        {
            panic!("the controller broke");
        }
    }
}

/// A cluster with the CRD.
pub async fn cluster() -> Cluster {
    let cluster = Cluster::start(addons_testbed::Options::default()).await.expect("a cluster");
    install_crd(&cluster).await;
    cluster
}

async fn install_crd(cluster: &Cluster) {
    cluster.kubectl(&["apply", "-k", &at_root("crds")]).await.expect("the CRD");
    established(cluster, "addons.addons.x-k8s.io").await;
}

/// The cluster that tests share, with a controller.
pub struct Stage {
    pub cluster: &'static Cluster,
    pub controller: Running,
}

/// The shared cluster and its controller. Tests keep to namespaces and identifiers of their own.
pub async fn stage() -> &'static Stage {
    static STAGE: OnceCell<Stage> = OnceCell::const_new();
    STAGE
        .get_or_init(|| async {
            let cluster = Cluster::shared().await;
            install_crd(cluster).await;
            let controller = Running::start(cluster.kubeconfig(), &["--removal-grace", "1s"]);
            controller.ready().await;
            Stage { cluster, controller }
        })
        .await
}

/// A custom resource that keeps whatever is written into it, with a status of its own.
pub fn crd(group: &str, scope: &str, kind: &str) -> String {
    let (lower, plural) = (kind.to_lowercase(), plural(kind));
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: {scope}
  names: {{kind: {kind}, plural: {plural}, singular: {lower}}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {{status: {{}}}}
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"
    )
}

fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

/// Has the API server serve that custom resource.
pub async fn serve(cluster: &Cluster, group: &str, scope: &str, kind: &str) {
    cluster.apply(&crd(group, scope, kind)).await.expect("a CRD");
    established(cluster, &format!("{}.{group}", plural(kind))).await;
}

/// Waits until a custom resource is served.
pub async fn established(cluster: &Cluster, name: &str) {
    cluster.established(&[name]).await.expect("established");
}

/// An `Addon` as the API server holds it; an error where there is none.
pub async fn addon(cluster: &Cluster, name: &str) -> Result<Value, String> {
    let json =
        cluster.kubectl(&["get", "addon", name, "-o", "json"]).await.map_err(|error| format!("{error:#}"))?;
    serde_json::from_str(&json).map_err(|error| error.to_string())
}

/// Waits until an `Addon` has this health and gives its status.
pub async fn health(cluster: &Cluster, name: &str, wanted: &str) -> Value {
    with(cluster, name, &[("health", wanted)]).await
}

/// Waits until the status of an `Addon` says this and gives it.
pub async fn with(cluster: &Cluster, name: &str, fields: &[(&str, &str)]) -> Value {
    let what = format!("the Addon {name} has {fields:?}");
    eventually(LONG, &what, || async {
        let status = addon(cluster, name).await?["status"].take();
        if fields.iter().all(|(field, wanted)| status[field] == *wanted) {
            Ok(status)
        } else {
            Err(status.to_string())
        }
    })
    .await
}

/// The condition of a status.
pub fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let conditions = status["conditions"].as_array().expect("conditions");
    conditions.iter().find(|condition| condition["type"] == kind).expect(kind)
}

/// Runs `addonctl`; gives its exit code, what it printed and what it said besides.
pub async fn addonctl(kubeconfig: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_addonctl"));
    command.args(arguments).env("KUBECONFIG", kubeconfig).env("NO_COLOR", "1");
    let output =
        tokio::task::spawn_blocking(move || command.output()).await.expect("a thread").expect("addonctl");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

pub fn at_root(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).display().to_string()
}

/// The fixtures that aren't ours to keep here; `None` where they aren't there, which is said.
pub fn fixtures(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ADDONS_FIXTURES")
        .map_or_else(|| at_root("../shared/fixtures").into(), PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no {} (ADDONS_FIXTURES names another folder)", path.display());
    None
}
