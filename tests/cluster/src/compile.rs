//! From Go modules to programs: those of the cluster once, others whenever they have changed.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{self, Output},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use tokio::{
    process::Command,
    task::spawn_blocking,
    time::{self, MissedTickBehavior},
};

use crate::programs::{Program, Programs, cache};

/// The folder of `go.mod`.
const MODULE: &str = env!("CARGO_MANIFEST_DIR");

/// Strips the programs and stamps the version in, without which kubectl and kwok refuse the server's.
const LINKER_FLAGS: &str = "-s -w \
    -X k8s.io/component-base/version.gitVersion=v1.37.2 \
    -X k8s.io/component-base/version.gitMajor=1 \
    -X k8s.io/component-base/version.gitMinor=37 \
    -X k8s.io/client-go/pkg/version.gitVersion=v1.37.2";

/// The module whose folder has the stages.
const KWOK: &str = "sigs.k8s.io/kwok";

/// Those of kwok's stages that are used, under its folder `kustomize/stage`.
const STAGES: [&str; 11] = [
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
    "pod/chaos/pod-container-running-failed.yaml",
    "pod/chaos/pod-init-container-running-failed.yaml",
    "volume/fast/pv-bind.yaml",
    "volume/fast/pv-delete.yaml",
    "volume/fast/pvc-provision.yaml",
    "volume/fast/pvc-delete.yaml",
];

/// Builds what is missing. Two processes that need it at once build it once.
pub(crate) async fn missing(programs: &Programs) -> Result<()> {
    if absent(programs).is_empty() && programs.stages().is_file() {
        return Ok(());
    }
    require_go().await?;
    let bin = programs.cache().join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("can't create {}", bin.display()))?;
    let _lock = lock(&programs.cache().join("lock")).await?;

    let absent = absent(programs);
    let start = Instant::now();
    if !absent.is_empty() {
        remove_leftovers(&bin)?;
        say(format_args!(
            "building the programs of the test cluster, {} of {}, into {}; once: all of them take 8 to 12 minutes on two cores and 3 GB of disk",
            absent.len(),
            Program::ALL.len(),
            bin.display()
        ));
    }
    for (index, &program) in absent.iter().enumerate() {
        let step = format!("{} ({} of {})", program.name(), index + 1, absent.len());
        build(program, &programs.built(program), &step, start).await?;
    }
    if !programs.stages().is_file() {
        join_stages(&programs.stages()).await?;
    }
    Ok(())
}

/// Builds the program of another Go module and gives its file, which has the name of the module's
/// folder. Where nothing has changed since the last time that takes a second.
///
/// # Errors
/// When there is no `go.sum`, Go is missing or the build fails.
pub async fn go_program(folder: &Path) -> Result<PathBuf> {
    let sums = folder.join("go.sum");
    let sums = fs::read(&sums).with_context(|| format!("can't read {}", sums.display()))?;
    let name = folder.file_name().and_then(OsStr::to_str).context("a folder without a name")?;
    let cache = cache(name, &sums)?;
    require_go().await?;
    fs::create_dir_all(&cache).with_context(|| format!("can't create {}", cache.display()))?;
    let _lock = lock(&cache.join("lock")).await?;
    let target = cache.join(name);
    say(format_args!("building {name}"));
    let args = [OsStr::new("build"), OsStr::new("-o"), target.as_os_str(), OsStr::new(".")];
    go(folder, args).await.with_context(|| format!("can't build {name}"))?;
    Ok(target)
}

fn absent(programs: &Programs) -> Vec<Program> {
    Program::ALL
        .into_iter()
        .filter(|&program| programs.prebuilt(program).is_none() && !programs.built(program).is_file())
        .collect()
}

async fn require_go() -> Result<()> {
    match Command::new("go").arg("version").output().await {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "`go` isn't installed, and what isn't Rust here is built with it: get Go 1.26 or later from \
             https://go.dev/dl/ or the system's packages"
        ),
        Err(error) => Err(error).context("can't run `go version`"),
    }
}

/// The lock is held until the file is dropped, or its process ends.
async fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("can't create {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("can't lock {}", path.display()))
        }
        Err(TryLockError::WouldBlock) => {
            say(format_args!("another process is building the same; waiting for it"));
            let locked = spawn_blocking(move || file.lock().map(|()| file)).await?;
            locked.with_context(|| format!("can't lock {}", path.display()))
        }
    }
}

/// Under the lock, what an earlier build left half done is nobody's.
fn remove_leftovers(bin: &Path) -> Result<()> {
    for entry in fs::read_dir(bin)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

async fn build(program: Program, target: &Path, step: &str, start: Instant) -> Result<()> {
    say(format_args!("building {step}, {} so far", elapsed(start)));
    let unfinished = target.with_file_name(format!(".{}.{}", program.name(), process::id()));
    let args = ["build", "-mod=mod", "-p", "2", "-ldflags", LINKER_FLAGS, "-o"].map(OsStr::new);
    let args = args.into_iter().chain([unfinished.as_os_str(), OsStr::new(program.package())]);
    let build = go(Path::new(MODULE), args);
    tokio::pin!(build);

    let mut tick = time::interval(Duration::from_secs(30));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    tick.tick().await;
    loop {
        tokio::select! {
            built = &mut build => {
                built.with_context(|| format!("can't build {}", program.name()))?;
                break;
            }
            _ = tick.tick() => say(format_args!("still building {step}, {} so far", elapsed(start))),
        }
    }
    fs::rename(&unfinished, target).with_context(|| format!("can't put {} into place", target.display()))
}

async fn join_stages(target: &Path) -> Result<()> {
    go(Path::new(MODULE), ["mod", "download", KWOK]).await?;
    let folder = go(Path::new(MODULE), ["list", "-mod=mod", "-m", "-f", "{{.Dir}}", KWOK]).await?;
    let folder = Path::new(folder.trim()).join("kustomize/stage");
    let mut joined = String::new();
    for stage in STAGES {
        let path = folder.join(stage);
        let text = fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
        joined.push_str(text.trim_end());
        joined.push_str("\n---\n");
    }
    let unfinished = target.with_file_name(format!(".stages.{}", process::id()));
    fs::write(&unfinished, joined).with_context(|| format!("can't write {}", unfinished.display()))?;
    fs::rename(&unfinished, target).with_context(|| format!("can't put {} into place", target.display()))
}

/// Runs `go` in a module's folder and gives what it printed.
async fn go<I, S>(module: &Path, args: I) -> Result<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new("go");
    command.args(args).current_dir(module).kill_on_drop(true);
    let Output { status, stdout, stderr } = command.output().await.context("can't run `go`")?;
    ensure!(status.success(), "`go` ended with {status}: {}", String::from_utf8_lossy(&stderr).trim_end());
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

fn elapsed(start: Instant) -> String {
    let seconds = start.elapsed().as_secs();
    format!("{}:{:02} min", seconds / 60, seconds % 60)
}

/// Straight to standard error: the test harness would keep what `eprintln!` says until a test fails,
/// and a build of minutes that says nothing looks hung.
fn say(line: std::fmt::Arguments<'_>) {
    // Progress that can't be shown is no reason to stop.
    let _ = writeln!(io::stderr(), "testbed: {line}");
}
