//! What `StatusRule` objects say of themselves: whether they are in force.

mod ledger;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Instant};

use kube::Client;
use serde_json::Value;
use tokio::{sync::watch, time};
use tokio_util::sync::CancellationToken;

use self::ledger::{Ledger, Next, Work};
use super::{
    Limits,
    request::{Failure, Requests},
};
use crate::{
    api::{AddonCondition, StatusRule, StatusRuleStatus},
    health::{Acceptance, Registered},
    model::Timestamp,
};

/// What a rule is to say, and what it says.
#[derive(Clone, Debug)]
pub struct RuleWish {
    /// The object's name.
    pub name: String,
    /// The object's uid.
    pub uid: String,
    /// The version of the spec that was decided about.
    pub generation: Option<i64>,
    /// What became of it.
    pub acceptance: Acceptance,
    /// What the API server holds.
    pub says: Option<AddonCondition>,
}

/// Keeps the status of `StatusRule` objects up to date.
///
/// # Guarantees
/// - Only the condition `Accepted` is written, by server-side apply, and only where it doesn't say already
///   what it should: a restart writes nothing.
/// - The time of the condition changes with its status only.
/// - One request at a time. What the API server can't take waits, longer each time; what it refuses isn't sent
///   again, and what somebody else changes back is written ever more seldom.
pub struct RuleStatuses {
    requests: Requests,
}

impl RuleStatuses {
    /// Writes through `client`, which should not retry by itself.
    pub fn new(client: Client) -> Self {
        Self { requests: Requests { client, timeout: Limits::default().timeout } }
    }

    /// Follows `wishes`, each time for all rules that there are, until `cancel` or until nobody wishes.
    pub async fn run(self, mut wishes: watch::Receiver<Arc<Vec<RuleWish>>>, cancel: CancellationToken) {
        let _ = cancel.run_until_cancelled(self.follow(&mut wishes)).await;
    }

    async fn follow(&self, wishes: &mut watch::Receiver<Arc<Vec<RuleWish>>>) {
        let mut ledger = Ledger::default();
        loop {
            let next = ledger.next(Instant::now());
            let due = async {
                match next {
                    Next::Start(_) => {}
                    Next::At(at) => time::sleep_until(at.into()).await,
                    Next::Idle => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                changed = wishes.changed() => match changed {
                    Ok(()) => {
                        let wishes = Arc::clone(&wishes.borrow_and_update());
                        ledger.take(&wishes, Instant::now(), Timestamp::now());
                        continue;
                    }
                    Err(_) => return,
                },
                () = due => {}
            }
            if let Next::Start(work) = next {
                let result = self.write(&work).await;
                ledger.finished(&work, result, Instant::now());
            }
        }
    }

    async fn write(&self, work: &Work) -> Result<Option<AddonCondition>, Failure> {
        let status = StatusRuleStatus { conditions: vec![work.condition.clone()] };
        let body = self.requests.apply_status::<StatusRule>(&work.name, Some(&work.uid), &status).await?;
        let answer: Value =
            serde_json::from_slice(&body).map_err(|error| Failure::Other(error.to_string()))?;
        Ok(Registered::read(&answer).and_then(|rule| rule.accepted))
    }
}
