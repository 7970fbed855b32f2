//! A running cluster.

use std::{
    env, fs,
    future::{Future, ready},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail};
use http::Request;
use k8s_openapi::{api::storage::v1::StorageClass, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Api, Client, api::PostParams};
use tokio::sync::OnceCell;

use crate::{
    access, flags,
    programs::{Program, Programs},
    supervise::{Ended, Folder, Process, random_hex},
    user::{Server, User, write_private},
    wait::until,
};

/// How long a part of the cluster may take to start. A machine that compiles at the same time is slow.
pub(crate) const START: Duration = Duration::from_secs(120);

/// How often another port is tried, as somebody else may take one in between.
const PORTS: usize = 5;

/// What the API server says of a port that is taken.
const PORT_TAKEN: &str = "address already in use";

/// How pods fail on demand, beside what kwok brings.
const FAILING: &str = include_str!("../stages/pod-failing.yaml");

/// How to start a cluster.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many simulated nodes it has when it is up.
    pub nodes: usize,
    /// The folder under which it makes its own.
    pub parent: PathBuf,
    /// Called with each step of the start.
    pub progress: fn(&str),
}

impl Default for Options {
    fn default() -> Self {
        Self { nodes: 2, parent: env::temp_dir(), progress: |_| () }
    }
}

/// A running cluster. Dropping it ends its programs and removes its folder; so does the end of the
/// process, even by `kill -9`.
#[derive(Debug)]
pub struct Cluster {
    pub(crate) admin: User,
    pub(crate) server: Server,
    pub(crate) programs: Programs,
    pub(crate) nodes: AtomicUsize,
    pub(crate) users: AtomicUsize,
    // In this order: the programs end before the folder under them goes.
    processes: Mutex<Vec<Process>>,
    folder: Folder,
}

impl Cluster {
    /// Starts a cluster and waits until it can be used: nodes are ready, and the namespace
    /// `default` has its service account. The programs are built first where they are missing.
    ///
    /// # Errors
    /// When a program can't be built or started, with the end of its log.
    pub async fn start(options: Options) -> Result<Self> {
        let programs = Programs::ready().await?;
        let folder = Folder::create(&options.parent)?;
        let mut start =
            Start { programs: &programs, folder: &folder, processes: Vec::new(), progress: options.progress };
        let token = random_hex()?;
        write_private(&folder.path().join(flags::TOKENS), &format!("{token},admin,admin,system:masters\n"))?;
        start.stages()?;

        start.program(Program::Etcd, &flags::etcd())?;
        let (server, admin) = start.api_server(&token).await?;
        start.program(Program::ControllerManager, &flags::controller_manager())?;
        start.program(Program::Scheduler, &flags::scheduler())?;
        start.program(Program::Kwok, &flags::kwok())?;

        let mut processes = start.processes;
        let mut cluster = Self {
            admin,
            server,
            nodes: AtomicUsize::new(0),
            users: AtomicUsize::new(0),
            processes: Mutex::default(),
            folder,
            programs,
        };
        (options.progress)(&format!("waiting for {} simulated nodes", options.nodes));
        unless_ended(&mut processes, cluster.furnish(options.nodes)).await?;
        cluster.processes = Mutex::new(processes);
        Ok(cluster)
    }

    /// Makes the cluster fit for use.
    async fn furnish(&self, nodes: usize) -> Result<()> {
        let client = self.client().await?;
        let class = Api::all(client.clone()).create(&PostParams::default(), &storage_class()).await;
        class.context("can't create the storage class")?;
        access::furnished(client, "default").await?;
        self.add_nodes(nodes).await
    }

    /// The one cluster of a test program, started at its first use. It ends with the process.
    ///
    /// Tests that share it keep to namespaces of their own ([`Cluster::namespace`]).
    ///
    /// # Panics
    /// When it can't be started; every later call says the same, without another try.
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<Result<Cluster, String>> = OnceCell::const_new();
        let start = || async { Self::start(Options::default()).await.map_err(|error| format!("{error:#}")) };
        match SHARED.get_or_init(start).await {
            Ok(cluster) => cluster,
            Err(error) => panic!("the cluster for the tests can't be started: {error}"),
        }
    }

    /// The administrator, who may do everything.
    pub fn admin(&self) -> &User {
        &self.admin
    }

    /// A client of the administrator's; see [`User::client`].
    ///
    /// # Errors
    /// When the cluster's folder is gone.
    pub async fn client(&self) -> Result<Client> {
        self.admin.client().await
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        self.admin.kubeconfig()
    }

    /// Runs kubectl as the administrator; see [`User::kubectl`].
    ///
    /// # Errors
    /// When kubectl fails, with what it printed to standard error.
    pub async fn kubectl(&self, args: &[&str]) -> Result<String> {
        self.admin.kubectl(args).await
    }

    /// Applies objects in YAML as the administrator; see [`User::apply`].
    ///
    /// # Errors
    /// When an object is refused, with the server's reason.
    pub async fn apply(&self, yaml: &str) -> Result<String> {
        self.admin.apply(yaml).await
    }

    /// Waits until CustomResourceDefinitions are established: `crds` are arguments of kubectl, such as `--all` or
    /// `gears.example.com`. One that was made a moment ago is no error.
    ///
    /// # Errors
    /// When they aren't within two minutes.
    pub async fn established(&self, crds: &[&str]) -> Result<()> {
        let mut wait = vec!["wait", "--for=condition=Established", "--timeout=60s", "crd"];
        wait.extend(crds);
        // kubectl takes the lack of conditions for a fault.
        until(START, "the definitions are established", || self.kubectl(&wait)).await?;
        Ok(())
    }

    /// The API server's address, `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.server.url
    }

    /// The folder with everything that the cluster writes: data, logs, kubeconfigs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The outcome of `work`, unless a program of the cluster ends before.
    ///
    /// # Errors
    /// Those of `work`, or how the program ended, with the end of its log.
    pub async fn while_up<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let processes = self.processes.get_mut().unwrap_or_else(PoisonError::into_inner);
        unless_ended(processes, work).await
    }

    /// The name and pid of each running program.
    pub fn pids(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let processes = self.processes();
        let pids: Vec<_> = processes.iter().map(|process| (process.name(), process.id())).collect();
        pids.into_iter()
    }

    pub(crate) fn processes(&self) -> MutexGuard<'_, Vec<Process>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cluster that is being started.
struct Start<'a> {
    programs: &'a Programs,
    folder: &'a Folder,
    processes: Vec<Process>,
    progress: fn(&str),
}

impl Start<'_> {
    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn stages(&self) -> Result<()> {
        let stages = self.programs.stages();
        let stages =
            fs::read_to_string(&stages).with_context(|| format!("can't read {}", stages.display()))?;
        fs::write(self.path(flags::STAGES), stages + FAILING).context("can't write the stages")
    }

    fn program(&mut self, program: Program, flags: &[String]) -> Result<()> {
        (self.progress)(&format!("starting {}", program.name()));
        let process =
            Process::start(program.name(), &self.programs.path(program), flags, self.folder.path())?;
        self.processes.push(process);
        Ok(())
    }

    /// Starts the API server and waits until it is ready.
    async fn api_server(&mut self, token: &str) -> Result<(Server, User)> {
        for _ in 0..PORTS {
            let port = flags::free_port()?;
            self.program(Program::ApiServer, &flags::api_server(port))?;
            let (certificates, ca) = (self.path(flags::SERVER_CERTIFICATES), self.path(flags::CA));
            let (kubeconfig, kubectl) = (self.path(flags::KUBECONFIG), self.programs.path(Program::Kubectl));
            let ready = async {
                let signer = until(START, "the API server writes its certificates", || async {
                    signer(&certificates)
                });
                fs::write(&ca, signer.await?).with_context(|| format!("can't write {}", ca.display()))?;
                let server = Server { url: format!("https://127.0.0.1:{port}"), ca };
                let admin = User::create("admin".to_owned(), token, &server, kubeconfig, kubectl)?;
                let client = admin.client().await?;
                until(START, "the API server is ready", || is_ready(&client)).await?;
                Ok((server, admin))
            };
            match unless_ended(&mut self.processes, ready).await {
                Err(error)
                    if error.downcast_ref::<Ended>().is_some_and(|end| end.log.contains(PORT_TAKEN)) =>
                {
                    self.processes.pop();
                }
                other => return other,
            }
        }
        bail!("each of {PORTS} free ports was taken by somebody else before the API server had it")
    }
}

/// The default class, whose volumes kwok's stages provision.
fn storage_class() -> StorageClass {
    let default = ("storageclass.kubernetes.io/is-default-class".to_owned(), "true".to_owned());
    StorageClass {
        metadata: ObjectMeta {
            name: Some("kwok-volume".to_owned()),
            annotations: Some([default].into()),
            ..Default::default()
        },
        provisioner: "kwok.x-k8s.io/volume".to_owned(),
        ..Default::default()
    }
}

/// The last certificate of a file: the one that signed those before it.
fn signer(certificates: &Path) -> Result<String> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let text = fs::read_to_string(certificates)?;
    match text.rfind(BEGIN) {
        Some(start) if start > 0 && text[start..].contains(END) => Ok(text[start..].to_owned()),
        _ => Err(anyhow!("{} is unfinished", certificates.display())),
    }
}

/// Asks the API server whether it is ready.
///
/// # Errors
/// What it says otherwise.
pub async fn is_ready(client: &Client) -> Result<()> {
    let request = Request::get("/readyz").body(Vec::new())?;
    match client.request_text(request).await?.as_str() {
        "ok" => Ok(()),
        other => Err(anyhow!("{other}")),
    }
}

/// The outcome of `work`, or how a program ended before it.
async fn unless_ended<T>(processes: &mut [Process], work: impl Future<Output = Result<T>>) -> Result<T> {
    let ended = async {
        loop {
            let look = || ready(processes.iter_mut().find_map(Process::ended));
            if let Ok(ended) = until(START, "a program ends", look).await {
                return ended;
            }
        }
    };
    tokio::select! {
        outcome = work => outcome,
        ended = ended => Err(ended.into()),
    }
}
