//! Who may list at the same time.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::live_rules::{Asked, LiveRules};
use crate::model::Kind;

/// How long a list that goes on keeps its turn, so that a kind that takes long holds up no other.
const TURN: Duration = Duration::from_secs(3);

/// So many lists for each turn may go on after theirs was over. On an API server where all take long, the
/// next ones wait for these.
const SLOW: usize = 2;

/// Who may list at the same time: the API server gives one client a bounded share. Kinds that failed
/// have turns of their own, so that they hold up nobody else.
#[derive(Clone, Debug)]
pub struct Turns {
    first: Arc<Semaphore>,
    again: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    hurry: Arc<Notify>,
    asked: Option<Asked>,
}

/// A turn that somebody has.
pub(super) struct Turn {
    permit: OwnedSemaphorePermit,
    slow: Arc<Semaphore>,
}

impl Turns {
    /// So many kinds at the same time, and a quarter of that of those that failed.
    pub fn new(kinds: usize) -> Self {
        Self {
            first: Arc::new(Semaphore::new(kinds)),
            again: Arc::new(Semaphore::new(kinds.div_ceil(4))),
            slow: Arc::new(Semaphore::new(kinds * SLOW)),
            hurry: Arc::default(),
            asked: None,
        }
    }

    /// The same turns for the follower of `kind`, which lists anew whenever its `rules` change.
    #[must_use]
    pub fn under(&self, rules: &LiveRules, kind: &Arc<Kind>) -> Self {
        Self { asked: Some(rules.followed(kind)), ..self.clone() }
    }

    /// Ends the wait of every follower that waits after a failure, unless the API server asked it to wait:
    /// there is a sign that asking again is worth it.
    pub fn hurry(&self) {
        self.hurry.notify_waiters();
    }

    /// Waits until others are hurried.
    pub(super) async fn hurried(&self) {
        self.hurry.notified().await;
    }

    /// Waits for a turn, among those that failed where that `is_in_doubt`. `None` while everything ends.
    pub(super) async fn take(&self, is_in_doubt: bool) -> Option<Turn> {
        let turns = if is_in_doubt { &self.again } else { &self.first };
        let permit = Arc::clone(turns).acquire_owned().await.ok()?;
        Some(Turn { permit, slow: Arc::clone(&self.slow) })
    }

    /// A turn, where nobody has to wait for it.
    pub(super) fn try_take(&self) -> Option<Turn> {
        let permit = Arc::clone(&self.first).try_acquire_owned().ok()?;
        Some(Turn { permit, slow: Arc::clone(&self.slow) })
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
