//! What the system says of a process, and where it may run.

use std::{
    fs,
    process::{Command, Stdio},
    thread::available_parallelism,
    time::Duration,
};

use addons_testbed::{Cluster, until};
use anyhow::{Context, Result, bail, ensure};

/// The core of the program that is measured.
pub(crate) const PROGRAM_CPU: &str = "1";

/// The core of everything that the cluster consists of.
const CLUSTER_CPU: &str = "0";

/// How long it may take until the cluster rests.
const REST: Duration = Duration::from_secs(600);

/// How long is looked whether it does.
const OBSERVED: Duration = Duration::from_secs(5);

/// A process by its pid.
#[derive(Clone, Copy)]
pub(crate) struct Usage(pub(crate) u32);

impl Usage {
    /// The API server's process.
    pub(crate) fn of_api_server(cluster: &Cluster) -> Result<Self> {
        let mut pids = cluster.pids();
        Ok(Self(pids.find(|(name, _)| *name == "kube-apiserver").context("no API server")?.1))
    }

    /// CPU time so far, in steps of 10 ms.
    pub(crate) fn cpu(self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).context("the program has ended")?;
        let fields: Vec<&str> = stat.rsplit_once(')').context("no name")?.1.split_whitespace().collect();
        let [user, system] = [fields.get(11), fields.get(12)].map(|field| field.context("no CPU time"));
        let ticks: u64 = user?.parse::<u64>()? + system?.parse::<u64>()?;
        // USER_HZ is 100 on every Linux that Rust runs on.
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Resident memory now, in KiB.
    pub(crate) fn resident(self) -> Result<u64> {
        self.memory("VmRSS")
    }

    /// The most resident memory since the start, or since [`Usage::forget_peak`], in KiB.
    pub(crate) fn peak(self) -> Result<u64> {
        self.memory("VmHWM")
    }

    pub(crate) fn forget_peak(self) -> Result<()> {
        fs::write(format!("/proc/{}/clear_refs", self.0), "5").context("can't reset the peak of memory")
    }

    fn memory(self, line: &str) -> Result<u64> {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.0)).context("the program has ended")?;
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        let kibibytes = value.context("no such line")?.trim().trim_end_matches(" kB");
        Ok(kibibytes.parse()?)
    }

    /// Bytes that came over the connections to the API server that are open now, with TLS as they
    /// were on the wire; nothing where `ss` isn't there.
    pub(crate) fn received(self, cluster: &Cluster) -> Result<Option<u64>> {
        let server = cluster.url().trim_start_matches("https://");
        let mut command = Command::new("ss");
        command.args(["-tinpHO", "dst", server]).stderr(Stdio::null());
        let Ok(output) = command.output() else { return Ok(None) };
        let text = String::from_utf8(output.stdout)?;
        let mine = format!("pid={},", self.0);
        let bytes = text.lines().filter(|line| line.contains(&mine)).filter_map(|line| {
            let (_, rest) = line.split_once("bytes_received:")?;
            rest.split(' ').next()?.parse::<u64>().ok()
        });
        Ok(Some(bytes.sum()))
    }
}

/// Whether programs can be pinned here.
///
/// # Errors
/// Why not.
pub(crate) fn can_pin() -> Result<()> {
    ensure!(available_parallelism()?.get() > 1, "--pin needs two cores");
    match Command::new("taskset").arg("--version").stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        _ => bail!("--pin needs `taskset` (util-linux)"),
    }
}

/// Waits until the programs of the cluster rest: its controllers go on long after the last object was
/// made.
///
/// # Errors
/// Where they don't within ten minutes.
pub(crate) async fn quiet(cluster: &Cluster) -> Result<()> {
    let spent = || cluster.pids().map(|(_, pid)| Usage(pid).cpu()).sum::<Result<Duration>>();
    until(REST, "the programs of the cluster rest", || async {
        let before = spent()?;
        tokio::time::sleep(OBSERVED).await;
        let used = spent()?.saturating_sub(before);
        ensure!(used < OBSERVED / 5, "they used {used:?} of {OBSERVED:?}");
        Ok(())
    })
    .await?;
    Ok(())
}

/// Puts all programs of the cluster on one core, or lets them run anywhere again.
pub(crate) fn pin(cluster: &Cluster, on: bool) -> Result<()> {
    let all = format!("0-{}", available_parallelism()?.get() - 1);
    for (name, pid) in cluster.pids() {
        let mut command = Command::new("taskset");
        command.args(["-a", "-c", "-p", if on { CLUSTER_CPU } else { &all }, &pid.to_string()]);
        ensure!(command.stdout(Stdio::null()).status()?.success(), "can't pin {name}");
    }
    Ok(())
}
