//! A cluster that outlives the command that started it.
//!
//! `run` owns the cluster. While it is there it holds a lock, and a connection to its socket asks it
//! to end; so no pid is kept in a file, to be another process's one day. `up` starts `run` in the
//! background. However `run` ends, its cluster ends with it.

use std::{
    convert::Infallible,
    env,
    fs::{self, File, TryLockError},
    future::pending,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use addons_testbed::{Cluster, Options, Program, Programs, client, is_ready, until};
use anyhow::{Context as _, Result, bail};
use tokio::{
    io::AsyncReadExt as _,
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    time::timeout,
};

/// Relative to the state's folder, and used from within it: the path of a socket is bounded to some
/// hundred bytes.
const SOCKET: &str = "control.sock";

/// What `run` prints before the path of the kubeconfig when the cluster can be used.
const READY: &str = "ready ";

/// How long a start that somebody else began may take.
const START: Duration = Duration::from_secs(120);

/// How long the end may take.
const END: Duration = Duration::from_secs(60);

/// Starts a cluster in the background, unless one is up, and prints how to use it.
pub async fn up(dir: &Path, nodes: usize) -> Result<()> {
    let programs = Programs::ready().await?;
    let state = State::at(dir)?;
    if state.lock()?.is_some() {
        // Released again here: `run` takes it.
        start(&state, nodes)?;
    } else {
        eprintln!("testbed: a cluster is up already");
        let usable = until(START, "the cluster that is up is ready", || state.is_ready()).await;
        usable.context("`testbed down` ends it")?;
    }
    let kubectl = programs.path(Program::Kubectl);
    let bin = kubectl.parent().unwrap_or(&kubectl);
    println!("export PATH={}:$PATH KUBECONFIG={}", bin.display(), state.kubeconfig().display());
    println!("{}", state.kubeconfig().display());
    Ok(())
}

/// Starts a cluster and stays until a signal, `down`, or the end of a program of the cluster.
pub async fn run(dir: &Path, nodes: usize) -> Result<()> {
    let state = State::at(dir)?;
    let Some(lock) = state.lock()? else {
        bail!("a cluster is up in {} already; `testbed down` ends it", state.dir.display());
    };
    state.clear()?;
    env::set_current_dir(&state.dir)?;
    let socket = UnixListener::bind(SOCKET).context("can't listen for `testbed down`")?;

    let end = tokio::select! {
        Err(error) = serve(&state, nodes) => Err(error),
        asked = asked_to_end(&socket) => asked,
    };
    state.clear()?;
    drop(lock);
    // Whoever asked learns from the end of the connection that everything is gone.
    end.map(drop)
}

/// Ends the cluster.
pub async fn down(dir: &Path) -> Result<()> {
    let state = State::at(dir)?;
    env::set_current_dir(&state.dir)?;
    let mut run = match UnixStream::connect(SOCKET).await {
        Ok(run) => run,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            if state.lock()?.is_some() {
                state.clear()?;
            }
            eprintln!("testbed: no cluster is up in {}", state.dir.display());
            return Ok(());
        }
        Err(error) => return Err(error).context("can't reach the process of the cluster"),
    };
    let gone = timeout(END, run.read_to_end(&mut Vec::new())).await;
    gone.with_context(|| format!("the cluster didn't end within {END:?}"))??;
    eprintln!("testbed: the cluster has ended");
    Ok(())
}

/// Starts `run` in a process group of its own, so that Ctrl-C doesn't reach it, and shows what it
/// says until its cluster can be used.
fn start(state: &State, nodes: usize) -> Result<()> {
    let log = state.dir.join("log");
    let errors = File::create(&log).with_context(|| format!("can't create {}", log.display()))?;
    let mut run = Command::new(env::current_exe()?)
        .args(["run", "--nodes", &nodes.to_string(), "--dir"])
        .arg(&state.dir)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .context("can't start the process of the cluster")?;
    let said = run.stdout.take().context("a process without its output")?;
    for line in BufReader::new(said).lines() {
        let line = line?;
        if line.starts_with(READY) {
            return Ok(());
        }
        eprintln!("testbed: {line}");
    }
    run.wait()?;
    bail!("the cluster didn't start: {}", fs::read_to_string(&log)?.trim_end());
}

/// Runs a cluster until one of its programs ends.
async fn serve(state: &State, nodes: usize) -> Result<Infallible> {
    let options =
        Options { nodes, parent: state.dir.clone(), progress: |step| say(step).unwrap_or_default() };
    let mut cluster = Cluster::start(options).await?;
    for (name, pid) in cluster.pids() {
        say(&format!("{name} runs as process {pid}"))?;
    }
    fs::copy(cluster.kubeconfig(), state.kubeconfig()).context("can't copy the kubeconfig")?;
    // Where `up` was interrupted nobody hears this, and the cluster ends.
    say(&format!("{READY}{}", state.kubeconfig().display()))?;
    cluster.while_up(pending()).await
}

/// The connection of whoever asked, unless it was a signal.
async fn asked_to_end(socket: &UnixListener) -> Result<Option<UnixStream>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        asked = socket.accept() => Ok(Some(asked?.0)),
        _ = interrupt.recv() => Ok(None),
        _ = terminate.recv() => Ok(None),
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// The folder in which `up`, `run` and `down` meet.
struct State {
    dir: PathBuf,
}

impl State {
    fn at(dir: &Path) -> Result<Self> {
        let made = fs::create_dir_all(dir).and_then(|()| dir.canonicalize());
        Ok(Self { dir: made.with_context(|| format!("can't create {}", dir.display()))? })
    }

    fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    /// The lock, unless a cluster is up. It ends with its holder.
    fn lock(&self) -> Result<Option<File>> {
        let path = self.dir.join("lock");
        let file = File::create(&path).with_context(|| format!("can't create {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("can't lock {}", path.display()))
            }
        }
    }

    /// Removes what belongs to a cluster that has ended.
    fn clear(&self) -> Result<()> {
        for path in [self.dir.join(SOCKET), self.kubeconfig()] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("can't remove {}", path.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn is_ready(&self) -> Result<()> {
        is_ready(&client(&self.kubeconfig()).await?).await
    }
}
