//! CPU time in nanoseconds, as the scheduler counts it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use addons_testbed::Cluster;
use anyhow::{Context, Result};

/// What a process or a thread has used since then.
pub(crate) struct Cpu {
    of: Of,
    before: Duration,
}

enum Of {
    Process(u32),
    Thread(PathBuf),
}

/// The API server's process.
pub(crate) fn of_api_server(cluster: &Cluster) -> Result<Cpu> {
    let pid = cluster.pids().find(|(name, _)| *name == "kube-apiserver").context("no API server")?.1;
    Cpu::since_now(Of::Process(pid))
}

impl Cpu {
    pub(crate) fn of_this_process() -> Result<Self> {
        Self::since_now(Of::Process(std::process::id()))
    }

    pub(crate) fn of_this_thread() -> Result<Self> {
        let thread = fs::read_link("/proc/thread-self").context("no thread")?;
        Self::since_now(Of::Thread(PathBuf::from("/proc").join(thread)))
    }

    fn since_now(of: Of) -> Result<Self> {
        let before = of.total()?;
        Ok(Self { of, before })
    }

    pub(crate) fn spent(&self) -> Result<Duration> {
        Ok(self.of.total()?.saturating_sub(self.before))
    }
}

impl Of {
    fn total(&self) -> Result<Duration> {
        match self {
            Self::Thread(thread) => on_cpu(&thread.join("schedstat")),
            Self::Process(pid) => {
                let threads = fs::read_dir(format!("/proc/{pid}/task")).context("the process has ended")?;
                let threads = threads.filter_map(|thread| Some(thread.ok()?.path().join("schedstat")));
                // A thread may end meanwhile.
                Ok(threads.filter_map(|schedstat| on_cpu(&schedstat).ok()).sum())
            }
        }
    }
}

fn on_cpu(schedstat: &Path) -> Result<Duration> {
    let text = fs::read_to_string(schedstat).context("no schedstat")?;
    let nanoseconds = text.split(' ').next().context("an empty schedstat")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}
