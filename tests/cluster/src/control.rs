//! Faults of the programs of a cluster, and of what stores its objects.

use anyhow::{Context as _, Result, ensure};

use crate::{
    cluster::{Cluster, START, is_ready},
    programs::Program,
    supervise::Process,
    wait::until,
};

/// A program that stands still until this is dropped.
#[derive(Debug)]
pub struct Paused<'a> {
    cluster: &'a Cluster,
    program: Program,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        // Whoever killed it meanwhile has nothing to resume.
        let _ = self.cluster.control(self.program, |process| process.signal("CONT"));
    }
}

impl Cluster {
    /// Has a program stand still: what it is asked is taken and not answered.
    ///
    /// # Errors
    /// When it doesn't run.
    pub fn pause(&self, program: Program) -> Result<Paused<'_>> {
        self.control(program, |process| process.signal("STOP"))?;
        Ok(Paused { cluster: self, program })
    }

    /// Kills a program by SIGKILL. It stays down until [`Cluster::start_again`].
    ///
    /// # Errors
    /// When it isn't one that a cluster runs.
    pub fn kill(&self, program: Program) -> Result<()> {
        self.control(program, Process::kill)
    }

    /// Starts a program that was killed, and waits until the API server is ready.
    ///
    /// # Errors
    /// When it doesn't come up.
    pub async fn start_again(&self, program: Program) -> Result<()> {
        self.control(program, Process::start_again)?;
        self.ready().await
    }

    /// Waits until the API server says that it is ready.
    ///
    /// # Errors
    /// When it doesn't within two minutes.
    pub async fn ready(&self) -> Result<()> {
        let client = self.client().await?;
        until(START, "the API server is ready", || is_ready(&client)).await?;
        Ok(())
    }

    /// Has etcd forget what was before now: older versions can't be watched or listed any more.
    ///
    /// # Errors
    /// When etcd doesn't answer.
    pub async fn compact(&self) -> Result<()> {
        let status = self.etcd("/v3/maintenance/status", "{}").await?;
        let revision = status["header"]["revision"].as_str().context("etcd without a revision")?;
        let compaction = format!(r#"{{"revision":"{revision}","physical":true}}"#);
        self.etcd("/v3/kv/compaction", &compaction).await.map(drop)
    }

    /// Has etcd rewrite its file; meanwhile it answers nobody.
    ///
    /// # Errors
    /// When etcd doesn't answer.
    pub async fn defragment(&self) -> Result<()> {
        self.etcd("/v3/maintenance/defragment", "{}").await.map(drop)
    }

    /// Has etcd refuse writes as where its quota is used up, or take them again.
    ///
    /// # Errors
    /// When etcd doesn't answer.
    pub async fn full(&self, full: bool) -> Result<()> {
        let status = self.etcd("/v3/maintenance/status", "{}").await?;
        let member = status["header"]["member_id"].as_str().context("etcd without a member")?;
        let action = if full { "ACTIVATE" } else { "DEACTIVATE" };
        let alarm = format!(r#"{{"action":"{action}","memberID":"{member}","alarm":"NOSPACE"}}"#);
        let answer = self.etcd("/v3/maintenance/alarm", &alarm).await?;
        ensure!(answer["error"].is_null(), "{answer}");
        Ok(())
    }

    fn control<T>(&self, program: Program, act: impl FnOnce(&mut Process) -> Result<T>) -> Result<T> {
        let mut processes = self.processes();
        let process = processes.iter_mut().find(|process| process.name() == program.name());
        act(process.with_context(|| format!("the cluster doesn't run {}", program.name()))?)
    }
}
