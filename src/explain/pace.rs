use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// Turns that are set apart in time. Clones share them.
#[derive(Clone, Debug)]
pub struct Pace {
    gap: Duration,
    next: Arc<Mutex<Option<Instant>>>,
}

impl Pace {
    /// So many turns a second.
    pub fn new(per_second: u32) -> Self {
        Self { gap: Duration::from_secs(1) / per_second.max(1), next: Arc::default() }
    }

    /// Waits for the next turn.
    pub async fn turn(&self) {
        let at = self.take(Instant::now());
        sleep_until(at).await;
    }

    /// When the next turn is, which is taken.
    fn take(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = next.map_or(now, |next| next.max(now));
        *next = Some(at + self.gap);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_are_set_apart_and_none_is_saved_up() {
        let pace = Pace::new(10);
        let start = Instant::now();
        for turn in 0..20 {
            pace.clone().turn().await;
            assert_eq!(start.elapsed().as_millis(), turn * 100);
        }
        tokio::time::advance(Duration::from_secs(60)).await;
        let start = Instant::now();
        for turn in 0..20 {
            pace.turn().await;
            assert_eq!(start.elapsed().as_millis(), turn * 100);
        }
    }
}
