//! Who may list at the same time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

use super::live_rules::{Asked, LiveRules};
use crate::model::Kind;

/// How long a list that goes on keeps its turn, so that a kind that takes long holds up no other.
const TURN: Duration = Duration::from_secs(3);

/// So many lists for each turn may go on after theirs was over. Only where more than these take long at the same
/// time, others wait for them.
const SLOW: usize = 4;

/// The shortest time between two times at which the followers are hurried.
const HURRY: Duration = Duration::from_secs(1);

/// Who may list at the same time: the API server gives one client a bounded share. Kinds that failed
/// have turns of their own, so that they hold up nobody else.
#[derive(Clone, Debug)]
pub struct Turns {
    first: Pool,
    again: Pool,
    hurry: Arc<Notify>,
    hurried: Arc<Mutex<Option<Instant>>>,
    asked: Option<Asked>,
}

/// Turns, and places for those whose turn is over.
#[derive(Clone, Debug)]
struct Pool {
    turns: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

/// A turn that somebody has.
pub(super) struct Turn {
    permit: OwnedSemaphorePermit,
    slow: Arc<Semaphore>,
}

impl Pool {
    fn new(turns: usize) -> Self {
        Self { turns: Arc::new(Semaphore::new(turns)), slow: Arc::new(Semaphore::new(turns * SLOW)) }
    }

    fn turn(&self, permit: OwnedSemaphorePermit) -> Turn {
        Turn { permit, slow: Arc::clone(&self.slow) }
    }
}

impl Turns {
    /// So many kinds at the same time, and a quarter of that of those that failed.
    pub fn new(kinds: usize) -> Self {
        Self {
            first: Pool::new(kinds),
            again: Pool::new(kinds.div_ceil(4)),
            hurry: Arc::default(),
            hurried: Arc::default(),
            asked: None,
        }
    }

    /// The same turns for the follower of `kind`, which lists anew whenever its `rules` change.
    #[must_use]
    pub fn under(&self, rules: &LiveRules, kind: &Arc<Kind>) -> Self {
        Self { asked: Some(rules.followed(kind)), ..self.clone() }
    }

    /// Ends the wait of every follower that waits after a failure, unless the API server asked it to wait:
    /// there is a sign that asking again is worth it. Once a second at most, whatever the signs are.
    pub fn hurry(&self) {
        let now = Instant::now();
        let mut last = self.hurried.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| now.duration_since(last) >= HURRY) {
            *last = Some(now);
            self.hurry.notify_waiters();
        }
    }

    /// Waits until others are hurried.
    pub(super) async fn hurried(&self) {
        self.hurry.notified().await;
    }

    /// Waits for a turn: one of those of kinds that failed, where it `is_in_doubt`. `None` while everything
    /// ends.
    pub(super) async fn take(&self, is_in_doubt: bool) -> Option<Turn> {
        let pool = if is_in_doubt { &self.again } else { &self.first };
        let permit = Arc::clone(&pool.turns).acquire_owned().await.ok()?;
        Some(pool.turn(permit))
    }

    /// A turn, where nobody has to wait for it.
    pub(super) fn try_take(&self) -> Option<Turn> {
        let permit = Arc::clone(&self.first.turns).try_acquire_owned().ok()?;
        Some(self.first.turn(permit))
    }

    /// A list begins.
    pub(super) fn begin(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.answered();
        }
    }

    /// Waits until another list is asked for.
    pub(super) async fn asked(&mut self) {
        match &mut self.asked {
            Some(asked) => asked.heard().await,
            None => std::future::pending().await,
        }
    }
}

impl Turn {
    /// Waits for requests, and gives the turn back early where they take long.
    pub(super) async fn during<T>(self, requests: impl Future<Output = T>) -> T {
        let mut requests = std::pin::pin!(requests);
        if let Ok(answer) = timeout(TURN, &mut requests).await {
            return answer;
        }
        tokio::select! {
            biased;
            answer = &mut requests => answer,
            _slow = self.slow.acquire() => {
                drop(self.permit);
                requests.await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use std::future::pending;

    use tokio::time::sleep;

    use super::*;

    /// Takes a turn and never ends.
    async fn hang(turns: Turns, is_in_doubt: bool) {
        let turn = turns.take(is_in_doubt).await.expect("a turn");
        turn.during(pending::<()>()).await;
    }

    /// Whether a turn comes within some time.
    async fn comes(turns: &Turns, is_in_doubt: bool, within: Duration) -> bool {
        timeout(within, turns.take(is_in_doubt)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn lists_that_take_long_hold_up_no_other_unless_they_are_very_many() {
        let turns = Turns::new(4);
        for _ in 0..4 {
            tokio::spawn(hang(turns.clone(), false));
        }
        tokio::task::yield_now().await;
        assert!(!comes(&turns, false, TURN / 2).await && turns.try_take().is_none());
        assert!(comes(&turns, false, TURN).await);
        for _ in 0..4 * SLOW {
            tokio::spawn(hang(turns.clone(), false));
        }
        sleep(TURN * 10).await;
        assert!(!comes(&turns, false, TURN * 100).await);
        assert!(comes(&turns, true, Duration::ZERO).await, "those that failed have their own");
    }

    #[tokio::test(start_paused = true)]
    async fn kinds_that_failed_hold_up_only_each_other() {
        let turns = Turns::new(4);
        for _ in 0..100 {
            tokio::spawn(hang(turns.clone(), true));
        }
        sleep(TURN * 10).await;
        assert!(!comes(&turns, true, TURN * 100).await);
        for _ in 0..4 * SLOW {
            tokio::spawn(hang(turns.clone(), false));
        }
        assert!(comes(&turns, false, TURN * 10).await);
    }

    #[tokio::test(start_paused = true)]
    async fn signs_hurry_once_a_second() {
        let turns = Turns::new(1);
        for (wait, hurried) in [(0, true), (10, false), (1000, true)] {
            sleep(Duration::from_millis(wait)).await;
            let waits = turns.hurried();
            tokio::pin!(waits);
            // It has to wait before it can be woken.
            assert!(timeout(Duration::ZERO, &mut waits).await.is_err());
            turns.hurry();
            assert_eq!(timeout(Duration::ZERO, &mut waits).await.is_ok(), hurried, "after {wait} ms");
        }
    }
}
