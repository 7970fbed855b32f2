//! Programs and folders that never outlive the process they were made for, however that ends.
//!
//! A value that is dropped ends what it stands for. But statics aren't dropped, and a process that is
//! killed drops nothing. So a shell holds the read end of a pipe whose write end only this process
//! has: when this process is gone the kernel closes the pipe, and the shell ends the program or
//! removes the folder.

use std::{
    fs::{self, DirBuilder, File},
    io::{Read as _, Write as _},
    os::unix::{fs::DirBuilderExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
};

use anyhow::{Context as _, Result, ensure};

/// The shell becomes the program, so that its pid is the program's; a child of it watches the pipe.
/// A line on the pipe says that the program has ended already and the pid is nobody's any more.
const KILL_WHEN_ORPHANED: &str = r#"
exec 3<&0 0</dev/null
( read -r _ <&3 || kill -9 $$ ) >/dev/null 2>&1 &
exec "$@" 3<&-
"#;

/// A program that is killed still writes for a moment, so one try may not be enough.
const REMOVE_WHEN_ORPHANED: &str = r#"
read -r _ && exit
for _ in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 1; done
"#;

/// How much of a log is shown when its program ended.
const LOG_LINES: usize = 20;

/// The write end of the pipe.
#[derive(Debug)]
struct Lifeline(ChildStdin);

impl Lifeline {
    /// Tells the shell that there is nothing left to do.
    fn release(&mut self) {
        // A shell that is gone has nothing left to do either.
        let _ = self.0.write_all(b"\n");
    }
}

/// Starts a shell that holds the read end. It is in a process group of its own: Ctrl-C in a
/// terminal reaches only us, and the rest ends through the pipe.
fn shell(command: &mut Command) -> Result<(Child, Lifeline)> {
    let mut child = command.process_group(0).stdin(Stdio::piped()).spawn().context("can't run `sh`")?;
    let lifeline = child.stdin.take().context("a shell without its pipe")?;
    Ok((child, Lifeline(lifeline)))
}

/// A running program, killed when this is dropped or the process ends.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    log: PathBuf,
    command: Command,
    child: Child,
    lifeline: Lifeline,
}

impl Process {
    /// Starts a program in `folder`, which gets its log too, `NAME.log`.
    ///
    /// # Errors
    /// When there is no shell, or the log can't be made.
    pub fn start(name: &'static str, program: &Path, args: &[String], folder: &Path) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let output = File::create(&log).with_context(|| format!("can't create {}", log.display()))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", KILL_WHEN_ORPHANED, "sh"])
            .arg(program)
            .args(args)
            .current_dir(folder)
            .env("HOME", folder)
            .env_remove("KUBECONFIG")
            .stdout(output.try_clone()?)
            .stderr(output);
        let (child, lifeline) = shell(&mut command).with_context(|| format!("can't start {name}"))?;
        Ok(Self { name, log, command, child, lifeline })
    }

    /// Kills the program and waits until it is gone.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill().with_context(|| format!("can't kill {}", self.name))?;
        self.child.wait()?;
        self.lifeline.release();
        Ok(())
    }

    /// Starts the program again, as it was started first. Its log goes on.
    pub(crate) fn start_again(&mut self) -> Result<()> {
        let (child, lifeline) =
            shell(&mut self.command).with_context(|| format!("can't start {}", self.name))?;
        (self.child, self.lifeline) = (child, lifeline);
        Ok(())
    }

    /// Sends the program a signal: `STOP` or `CONT`.
    pub(crate) fn signal(&self, signal: &str) -> Result<()> {
        let id = self.id().to_string();
        let status = Command::new("sh").args(["-c", r#"kill -s "$0" "$1""#, signal, &id]).status()?;
        ensure!(status.success(), "can't send {signal} to {}", self.name);
        Ok(())
    }

    /// The program's pid.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The program's name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// How the program ended, if it did, and the end of its log.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        let status = self.child.try_wait().ok()??;
        self.lifeline.release();
        Some(Ended { name: self.name, status, log: self.log_end() })
    }

    /// The last lines of the program's log.
    pub fn log_end(&self) -> String {
        fs::read(&self.log).map(|log| tail(&String::from_utf8_lossy(&log))).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a program that has ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.lifeline.release();
    }
}

/// A program that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    name: &'static str,
    status: ExitStatus,
    pub(crate) log: String,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ended with {}; the end of its log:\n{}", self.name, self.status, self.log)
    }
}

impl std::error::Error for Ended {}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

/// A folder that only its owner can read, removed when this is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    janitor: Child,
    lifeline: Lifeline,
}

impl Folder {
    /// Makes a folder of an unused name under `parent`.
    pub(crate) fn create(parent: &Path) -> Result<Self> {
        let parent = parent.canonicalize().with_context(|| format!("no folder {}", parent.display()))?;
        let path = parent.join(format!("testbed-{}", random_hex()?));
        let mut command = Command::new("sh");
        command.args(["-c", REMOVE_WHEN_ORPHANED, "sh"]).arg(&path).current_dir("/");
        let (janitor, lifeline) = shell(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
        let folder = Self { path, janitor, lifeline };
        DirBuilder::new()
            .mode(0o700)
            .create(&folder.path)
            .with_context(|| format!("can't create {}", folder.path.display()))?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The janitor tries again where this fails.
        if fs::remove_dir_all(&self.path).is_ok() {
            self.lifeline.release();
            let _ = self.janitor.wait();
        }
    }
}

/// 128 random bits.
pub(crate) fn random_hex() -> Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context("can't read /dev/urandom")?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
