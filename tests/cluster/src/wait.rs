//! The one place that waits: a condition is asked again and again until it holds or its time is up.

use std::{
    fmt::{self, Display},
    panic::Location,
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout_at};

/// How long to wait between two looks at a condition.
const INTERVAL: Duration = Duration::from_millis(50);

/// What one look at a condition may give: the value waited for, or what was seen instead.
pub trait Look {
    /// The value waited for.
    type Value;

    /// The value, or what was seen instead, in words.
    ///
    /// # Errors
    /// What was seen instead.
    fn look(self) -> Result<Self::Value, String>;
}

impl<T, E: Display> Look for Result<T, E> {
    type Value = T;

    fn look(self) -> Result<T, String> {
        // The alternate form of an `anyhow::Error` has its causes too.
        self.map_err(|seen| format!("{seen:#}"))
    }
}

impl<T> Look for Option<T> {
    type Value = T;

    fn look(self) -> Result<T, String> {
        self.ok_or_else(|| "nothing".to_owned())
    }
}

/// A condition that didn't hold in time.
#[derive(Debug)]
pub struct TimedOut {
    what: String,
    after: Duration,
    seen: Option<String>,
}

impl Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not within {:?}: {}; ", self.after, self.what)?;
        match &self.seen {
            Some(seen) => write!(f, "seen last: {seen}"),
            None => f.write_str("no look at it came to an end"),
        }
    }
}

impl std::error::Error for TimedOut {}

/// Waits until `probe` gives a value, and gives that.
///
/// `what` says what is waited for. A look that hangs ends with the deadline.
///
/// # Errors
/// [`TimedOut`], with what was seen last.
pub async fn until<P, F>(
    deadline: Duration,
    what: &str,
    mut probe: P,
) -> Result<<F::Output as Look>::Value, TimedOut>
where
    P: FnMut() -> F,
    F: Future<Output: Look>,
{
    let end = Instant::now() + deadline;
    let mut seen = None;
    while let Ok(look) = timeout_at(end, probe()).await {
        match look.look() {
            Ok(value) => return Ok(value),
            Err(other) => seen = Some(other),
        }
        if timeout_at(end, sleep(INTERVAL)).await.is_err() {
            break;
        }
    }
    Err(TimedOut { what: what.to_owned(), after: deadline, seen })
}

/// Waits as [`until`] does, for tests.
///
/// ```no_run
/// # use std::time::Duration;
/// # use addons_testbed::eventually;
/// # async fn test(nodes: kube::Api<k8s_openapi::api::core::v1::Node>) {
/// let node = eventually(Duration::from_secs(10), "node-1 has an address", || async {
///     let node = nodes.get("node-1").await.map_err(|error| error.to_string())?;
///     match node.status.as_ref().and_then(|status| status.addresses.as_ref()) {
///         Some(_) => Ok(node),
///         None => Err(format!("{:?}", node.status)),
///     }
/// })
/// .await;
/// # }
/// ```
///
/// # Panics
/// When the deadline is over, with `what`, what was seen last and the caller's place.
#[track_caller]
pub fn eventually<P, F>(
    deadline: Duration,
    what: &str,
    probe: P,
) -> impl Future<Output = <F::Output as Look>::Value>
where
    P: FnMut() -> F,
    F: Future<Output: Look>,
{
    let place = Location::caller();
    async move {
        match until(deadline, what, probe).await {
            Ok(value) => value,
            Err(timed_out) => panic!("{place}: {timed_out}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::unwrap_used)]

    use std::{cell::Cell, future::pending};

    use super::*;

    #[tokio::test]
    async fn gives_the_first_value() {
        let looks = Cell::new(0);
        let value = until(Duration::from_secs(5), "a third look", || async {
            looks.set(looks.get() + 1);
            (looks.get() == 3).then_some("here")
        })
        .await;
        assert_eq!(value.unwrap(), "here");
    }

    #[tokio::test]
    async fn says_what_was_seen_last() {
        let error = until(Duration::from_millis(1), "the moon", || async { Err::<(), _>("a cloud") }).await;
        assert_eq!(error.unwrap_err().to_string(), "not within 1ms: the moon; seen last: a cloud");
    }

    #[tokio::test]
    async fn a_look_that_hangs_ends_too() {
        let error = until(Duration::from_millis(1), "the moon", pending::<Option<()>>).await;
        assert!(error.unwrap_err().to_string().ends_with("no look at it came to an end"));
    }

    #[tokio::test]
    #[should_panic(expected = "src/wait.rs")]
    async fn a_panic_names_the_caller() {
        eventually(Duration::from_millis(1), "the moon", || async { None::<()> }).await;
    }
}
