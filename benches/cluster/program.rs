//! The controller as a process, and what the system says of it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A running `addon-controller`. It is ended when it is dropped.
pub(crate) struct Controller {
    child: Child,
    address: String,
}

impl Controller {
    pub(crate) fn start(kubeconfig: &Path) -> Result<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_addon-controller"))
            .args(["--listen", "127.0.0.1:0", "--kubeconfig"])
            .arg(kubeconfig)
            .stderr(Stdio::piped())
            .spawn()
            .context("can't start addon-controller")?;
        let log = child.stderr.take().context("no log")?;
        let mut lines = BufReader::new(log).lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| Some(line.split_once("http://")?.1.trim_end_matches('/').to_owned()));
        let address = address.context("the controller ended before it listened")?;
        // What else it says is passed on, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(|line| eprintln!("  controller: {line}")));
        Ok(Self { child, address })
    }

    /// CPU time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit_once(')').context("no name")?.1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        // USER_HZ is 100 on every Linux that Rust runs on.
        Ok(Duration::from_millis(ticks * 10))
    }

    /// A line of `/proc/PID/status` in KiB: `VmHWM` for the peak, `VmRSS` for now.
    pub(crate) fn memory(&self, line: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        let kibibytes = value.context("no such line")?.trim().trim_end_matches(" kB");
        Ok(kibibytes.parse()?)
    }

    pub(crate) async fn json(&self, path: &str) -> Result<Value> {
        let mut stream = TcpStream::connect(&self.address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        let answer = String::from_utf8(answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no head")?;
        if !head.starts_with("HTTP/1.1 200") {
            bail!("{}", head.lines().next().unwrap_or_default());
        }
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
