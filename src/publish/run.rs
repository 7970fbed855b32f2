use std::time::Instant;

use futures::{StreamExt, stream::FuturesUnordered};
use kube::Client;
use tokio::{sync::mpsc, time};
use tokio_util::sync::CancellationToken;

use super::{
    Command, Limits,
    ledger::{Ledger, Next},
    request::Requests,
};
use crate::{api::LabelPrefix, metrics::WriteResult, model::Timestamp};

/// Keeps the `Addon` objects of a cluster up to date.
pub struct Publisher<F> {
    client: Client,
    prefix: LabelPrefix,
    limits: Limits,
    report: F,
}

impl<F: FnMut(WriteResult)> Publisher<F> {
    /// Writes through `client`, which should not retry by itself. `prefix` is the label's, for
    /// messages. `report` hears what became of each write.
    pub fn new(client: Client, prefix: LabelPrefix, limits: Limits, report: F) -> Self {
        Self { client, prefix, limits, report }
    }

    /// Follows `commands` until `cancel` is cancelled or nobody can send any more. What is under way
    /// then is dropped: whoever starts next sees what came of it.
    ///
    /// Of several replicas only the one that leads may run this; the others have nobody who reads.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Command>, cancel: CancellationToken) {
        let requests = Requests { client: self.client, timeout: self.limits.timeout };
        let mut ledger = Ledger::new(self.prefix, self.limits);
        let mut under_way = FuturesUnordered::new();
        loop {
            let wake = match ledger.next(Instant::now()) {
                Next::Start(work) => {
                    let requests = requests.clone();
                    under_way.push(async move {
                        let result = requests.carry_out(&work).await;
                        (work.name, result)
                    });
                    continue;
                }
                Next::At(at) => Some(at),
                Next::Idle => None,
            };
            let due = async {
                match wake {
                    Some(at) => time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = cancel.cancelled() => return,
                command = commands.recv() => match command {
                    Some(command) => ledger.told(command, Instant::now(), Timestamp::now()),
                    None => return,
                },
                Some((name, result)) = under_way.next() => {
                    if let Some(outcome) = ledger.finished(&name, result, Instant::now()) {
                        (self.report)(outcome);
                    }
                }
                () = due => {}
            }
        }
    }
}
