//! The controller as a process of its own, and what the system says of it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use addons_testbed::eventually;
use serde_json::Value;

use crate::support::{LONG, get};

/// A running `addon-controller`. It is ended when it is dropped.
pub struct Controller {
    child: Child,
    address: String,
}

impl Controller {
    pub fn start(kubeconfig: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_addon-controller"))
            .args([
                "--listen",
                "127.0.0.1:0",
                "--removal-grace",
                "1s",
                "--log",
                "warn,addons::controller=info",
            ])
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .stderr(Stdio::piped())
            .spawn()
            .expect("a controller");
        let mut lines = BufReader::new(child.stderr.take().expect("a log")).lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| Some(line.split_once("http://")?.1.trim_end_matches('/').to_owned()));
        let address = address.expect("it listens");
        // It never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// A line of `/proc/PID/status` in KiB: `VmHWM` for the peak, `VmRSS` for now.
    pub fn memory(&self, line: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).expect(line);
        value.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// How many files and sockets it has open.
    pub fn files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("it runs").count()
    }

    /// How many tasks it says that it has.
    pub async fn tasks(&self) -> Result<u64, String> {
        let metrics = self.get("/metrics").await?;
        let tasks = metrics.lines().find_map(|line| line.strip_prefix("addons_controller_tasks "));
        tasks.and_then(|tasks| tasks.parse().ok()).ok_or_else(|| "no gauge of tasks".to_owned())
    }

    pub async fn get(&self, path: &str) -> Result<String, String> {
        match get(self.address.as_str(), path).await? {
            (200, body) => Ok(body),
            (code, body) => Err(format!("{code}: {body}")),
        }
    }

    /// Waits until it shows an add-on whose status is so.
    pub async fn shows(&self, identifier: &str, holds: impl Fn(&Value) -> bool) {
        eventually(LONG, &format!("{identifier} is as it should be"), || async {
            let addon = self.get(&format!("/api/v1alpha1/addons/{identifier}")).await?;
            let mut addon: Value = serde_json::from_str(&addon).map_err(|error| error.to_string())?;
            let status = addon["status"].take();
            if holds(&status) { Ok(()) } else { Err(status.to_string()) }
        })
        .await;
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
