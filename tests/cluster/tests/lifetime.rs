//! Nothing of a cluster outlives what it was made for.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use addons_testbed::{Cluster, Options, Program, eventually, until};
use anyhow::{Context as _, Result};

const SOON: Duration = Duration::from_secs(60);

/// A process that owns a cluster, and the pids of the cluster's programs.
struct Owner {
    child: Child,
    pids: Vec<u32>,
}

impl Owner {
    /// `testbed run`, as soon as its cluster can be used.
    fn start(dir: &Path) -> Result<Self> {
        let mut command = testbed(&["run", "--nodes", "0"], dir);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut pids = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line?;
            if let Some((_, pid)) = line.split_once(" runs as process ") {
                pids.push(pid.parse()?);
            }
            if line.starts_with("ready ") {
                return Ok(Self { child, pids });
            }
        }
        anyhow::bail!("`testbed run` ended with {}", child.wait()?)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn testbed(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbed"));
    command.args(args).arg("--dir").arg(dir);
    command
}

/// A folder of this test's, empty.
fn folder(name: &str) -> Result<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// Waits until every process has ended, and no folder of a cluster is left in `dir`.
async fn nothing_is_left(pids: &[u32], dir: &Path) {
    assert_eq!(pids.len(), 5, "etcd, the API server, the controllers, the scheduler, kwok");
    eventually(SOON, "the programs have ended and their folder is gone", || async {
        let left: Vec<_> = pids.iter().filter(|&&pid| runs(pid)).collect();
        let folders = clusters_in(dir).map_err(|error| error.to_string())?;
        if left.is_empty() && folders.is_empty() { Ok(()) } else { Err(format!("{left:?}, {folders:?}")) }
    })
    .await;
}

/// Whether a process runs. One that has ended may still wait for its parent to notice; what has no
/// command line any more is such a one.
fn runs(pid: u32) -> bool {
    match fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(command_line) => !command_line.is_empty(),
        Err(_) => Command::new("kill").args(["-0", &pid.to_string()]).output().unwrap().status.success(),
    }
}

fn clusters_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir)?.map(|entry| Ok(entry?.path()));
    let paths: Vec<PathBuf> = entries.collect::<Result<_>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

#[tokio::test]
async fn a_cluster_ends_when_its_owner_is_killed() -> Result<()> {
    let dir = folder("killed")?;
    let mut owner = Owner::start(&dir)?;
    assert!(owner.pids.iter().all(|&pid| runs(pid)));
    assert_eq!(clusters_in(&dir)?.len(), 1);
    owner.child.kill()?;
    owner.child.wait()?;
    nothing_is_left(&owner.pids, &dir).await;
    fs::remove_dir_all(dir)?;
    Ok(())
}

#[tokio::test]
async fn down_ends_a_cluster_and_up_refuses_a_second() -> Result<()> {
    let dir = folder("down")?;
    let owner = Owner::start(&dir)?;

    let second = testbed(&["run"], &dir).output()?;
    assert!(!second.status.success());
    assert!(String::from_utf8(second.stderr)?.contains("is up in"));
    let up = testbed(&["up"], &dir).output()?;
    let kubeconfig = dir.canonicalize()?.join("kubeconfig");
    assert_eq!(String::from_utf8(up.stdout)?.lines().last(), kubeconfig.to_str());

    assert!(testbed(&["down"], &dir).status()?.success());
    assert!(!kubeconfig.exists());
    nothing_is_left(&owner.pids, &dir).await;
    fs::remove_dir_all(dir)?;
    Ok(())
}

#[tokio::test]
async fn a_cluster_ends_when_it_is_dropped() -> Result<()> {
    let dir = folder("dropped")?;
    let cluster = Cluster::start(Options { nodes: 0, parent: dir.clone(), ..Default::default() }).await?;
    let pids: Vec<u32> = cluster.pids().map(|(_, pid)| pid).collect();
    drop(cluster);
    // At once, not some time later.
    assert_eq!(pids.into_iter().find(|&pid| runs(pid)), None);
    assert!(clusters_in(&dir)?.is_empty());
    fs::remove_dir_all(dir)?;
    Ok(())
}

#[tokio::test]
async fn the_end_of_a_program_is_reported_with_its_log() -> Result<()> {
    let mut cluster = Cluster::start(Options { nodes: 0, ..Default::default() }).await?;
    let (_, etcd) = cluster.pids().find(|(name, _)| *name == "etcd").context("etcd runs")?;
    assert!(Command::new("kill").arg(etcd.to_string()).status()?.success());
    let work = async { Ok(until(SOON, "nothing", || async { None::<()> }).await?) };
    let error = cluster.while_up(work).await.unwrap_err().to_string();
    assert!(error.starts_with("etcd ended with "), "{error}");
    Ok(())
}

#[tokio::test]
async fn programs_stand_still_die_and_come_back() -> Result<()> {
    let cluster = Cluster::start(Options { nodes: 0, ..Default::default() }).await?;
    let config_map = |name: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: default}}}}")
    };
    let paused = cluster.pause(Program::ApiServer)?;
    let look = ["get", "configmap", "--request-timeout=1s"];
    assert!(cluster.kubectl(&look).await.is_err(), "nobody answers");
    drop(paused);
    cluster.apply(&config_map("paused")).await?;

    for program in [Program::ApiServer, Program::Etcd] {
        cluster.kill(program)?;
        let make = ["create", "configmap", "early", "--request-timeout=2s"];
        assert!(cluster.kubectl(&make).await.is_err(), "{program:?} is gone");
        cluster.start_again(program).await?;
        cluster.apply(&config_map("killed")).await?;
    }
    cluster.compact().await?;
    cluster.defragment().await?;
    cluster.full(true).await?;
    let error = cluster.apply(&config_map("full")).await.unwrap_err().to_string();
    assert!(error.contains("space exceeded"), "{error}");
    cluster.full(false).await?;
    cluster.apply(&config_map("full")).await?;
    let pids: Vec<u32> = cluster.pids().map(|(_, pid)| pid).collect();
    drop(cluster);
    assert_eq!(pids.into_iter().find(|&pid| runs(pid)), None);
    Ok(())
}
