use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};

use super::SharedState;

/// How long the engine may be silent before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// The heartbeat of the engine. Clones share it.
///
/// The engine beats each time its loop comes round, every few seconds when nothing happens, whether
/// or not the API server answers: a server that is down must not get the controller restarted.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Beats>);

#[derive(Debug)]
struct Beats {
    started: Instant,
    /// Milliseconds after `started`.
    last: AtomicU64,
    patience: Duration,
}

impl Pulse {
    /// A pulse that beats now and is dead after `patience` without another beat.
    pub fn new(patience: Duration) -> Self {
        Self(Arc::new(Beats { started: Instant::now(), last: AtomicU64::new(0), patience }))
    }

    /// Says that the engine is alive.
    pub fn beat(&self) {
        let since_start = u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last.fetch_max(since_start, Ordering::Relaxed);
    }

    /// The time since the last beat.
    pub fn age(&self) -> Duration {
        let last = Duration::from_millis(self.0.last.load(Ordering::Relaxed));
        self.0.started.elapsed().saturating_sub(last)
    }

    fn is_alive(&self) -> bool {
        self.age() <= self.0.patience
    }
}

impl Default for Pulse {
    /// Dead after a minute without a beat.
    fn default() -> Self {
        Self::new(PATIENCE)
    }
}

/// What the controller still waits for before it is ready. Clones share it.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<Mutex<BTreeMap<&'static str, String>>>);

impl Readiness {
    /// Not ready: waits for `what`, a word such as `sync`. `why` is a short sentence for people.
    pub fn waiting_for(what: &'static str, why: impl Into<String>) -> Self {
        let readiness = Self(Arc::default());
        readiness.wait_for(what, why);
        readiness
    }

    /// Waits for `what` too, or says anew why it is waited for.
    pub fn wait_for(&self, what: &'static str, why: impl Into<String>) {
        self.missing().insert(what, why.into());
    }

    /// `what` is there.
    pub fn reached(&self, what: &str) {
        self.missing().remove(what);
    }

    /// Whether nothing is waited for.
    pub fn is_ready(&self) -> bool {
        self.missing().is_empty()
    }

    fn missing(&self) -> MutexGuard<'_, BTreeMap<&'static str, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) async fn livez(axum::extract::State(state): SharedState, uri: Uri) -> Response {
    let pulse = &state.0.pulse;
    let seen = format!("the engine was last seen {:.1} s ago", pulse.age().as_secs_f32());
    let check = Check { name: "heartbeat", passed: pulse.is_alive(), says: seen };
    answer("livez", &uri, &[check])
}

pub(super) async fn readyz(axum::extract::State(state): SharedState, uri: Uri) -> Response {
    let missing = state.0.readiness.missing().clone();
    let mut checks: Vec<_> =
        missing.into_iter().map(|(name, says)| Check { name, passed: false, says }).collect();
    if checks.is_empty() {
        let coverage = state.0.board.coverage();
        let says = format!("{} kinds are known", coverage.len());
        checks.push(Check { name: "sync", passed: true, says });
    }
    answer("readyz", &uri, &checks)
}

struct Check {
    name: &'static str,
    passed: bool,
    says: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mark, word) = if self.passed { ("+", "ok") } else { ("-", "failed") };
        writeln!(f, "[{mark}]{} {word}: {}", self.name, self.says)
    }
}

/// In the form of the API server's own probes: `ok`, or a line a check where one failed or more was
/// asked for.
fn answer(probe: &str, uri: &Uri, checks: &[Check]) -> Response {
    let passed = checks.iter().all(|check| check.passed);
    if passed && !is_verbose(uri) {
        return "ok\n".into_response();
    }
    let mut body = String::new();
    for check in checks {
        // Writing to a string doesn't fail.
        let _ = write!(body, "{check}");
    }
    let (status, word) =
        if passed { (StatusCode::OK, "passed") } else { (StatusCode::SERVICE_UNAVAILABLE, "failed") };
    (status, format!("{body}{probe} check {word}\n")).into_response()
}

fn is_verbose(uri: &Uri) -> bool {
    let parameters = uri.query().unwrap_or_default().split('&');
    parameters.filter_map(|parameter| parameter.split('=').next()).any(|name| name == "verbose")
}
