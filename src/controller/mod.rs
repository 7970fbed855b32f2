//! The rooms wired into `addon-controller`.
//!
//! Watches report to the engine, which owns the index. What follows is shown on the board, where
//! HTTP reads it, and handed to the publisher, which writes it to the API server. The rules of users
//! are followed apart: what they change is judged anew.

mod addons;
mod blackout;
mod engine;
mod kinds;
mod log;
mod memory;
mod options;
mod owners;
mod rules;
#[cfg(test)]
mod tests;

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, Result, anyhow};
use kube::Client;
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::{
    addons::AddonReader,
    engine::{Engine, Inputs, Outputs, READY_WHEN},
    owners::OwnerSearch,
    rules::{RuleInputs, RuleOutputs, RuleReader, UserRules, rule_kind},
};
pub use self::{log::init as init_log, options::Options};
use crate::{
    connect,
    discover::Selection,
    explain::Explainer,
    metrics::Metrics,
    publish::{Limits, Publisher, RuleStatuses},
    serve::{self, Listen, Pulse, Readiness},
    summary::Board,
    watch::{Feed, Fleet, LiveRules, Turns, addon_kind, follow},
};

/// How many reports may wait for the engine before the watches wait for it.
const QUEUE: usize = 1024;

/// A controller that listens already and watches nothing yet.
pub struct Controller {
    options: Options,
    listener: TcpListener,
    address: SocketAddr,
    client: Client,
}

impl Controller {
    /// Reads the kubeconfig and listens. Nothing is asked of the API server yet.
    ///
    /// # Errors
    /// What is wrong with the marker, the address or the kubeconfig.
    pub async fn bind(options: Options) -> Result<Self> {
        if let Some(marker) = &options.marker_label {
            marker.apart_from(&options.label_prefix)?;
        }
        let listen = Listen { address: options.listen, insecure_bind: options.insecure_bind };
        let listener = listen.bind().await?;
        let address = listener.local_addr().context("can't tell where the server listens")?;
        if !address.ip().to_canonical().is_loopback() {
            tracing::warn!(%address, "whoever reaches this address reads the names and messages of every add-on");
        }
        let cluster = &options.cluster;
        let client = connect::client(cluster.kubeconfig.as_deref(), cluster.context.as_deref()).await?;
        Ok(Self { options, listener, address, client })
    }

    /// Where the HTTP endpoint is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// Where a part of it breaks, which ends all of it.
    pub async fn run(self, stop: CancellationToken) -> Result<()> {
        tracing::info!("listening on http://{}/", self.address);
        let mut tasks = self.begin(&stop);
        let ended = tokio::select! {
            // Once it is told to stop, parts may end before it gets here.
            biased;
            () = stop.cancelled() => Ok(()),
            // No part ends by itself. A restart is the way out.
            Some(ended) = tasks.join_next() => match ended {
                Ok(name) => Err(anyhow!("{name} ended by itself")),
                Err(error) => Err(error).context("a part of the controller broke"),
            },
        };
        stop.cancel();
        while tasks.join_next().await.is_some() {}
        ended
    }

    fn begin(self, stop: &CancellationToken) -> JoinSet<&'static str> {
        let Self { options, listener, client, .. } = self;
        let prefix = options.label_prefix;
        let rules = LiveRules::default();
        let board = Arc::new(Board::default());
        let metrics = Metrics::default();
        let pulse = Pulse::default();
        let readiness = Readiness::waiting_for(READY_WHEN, "the kinds are listed for the first time");
        let (report, reports) = mpsc::channel(QUEUE);
        let (addon_news, addons) = mpsc::channel(QUEUE);
        let (found, owners) = mpsc::channel(QUEUE);
        let (explain, explained) = mpsc::channel(QUEUE);
        let (commands, commanded) = mpsc::channel(QUEUE);
        let (rule_news, rules_seen) = mpsc::channel(QUEUE);
        let (wishes, wished) = watch::channel(Arc::default());
        let (combine, combinations) = watch::channel(Arc::default());
        let (discovered, catalogue) = watch::channel(None);

        let state = serve::State::new(Arc::clone(&board), &metrics, pulse.clone(), readiness.clone());
        let serving = serve::run(listener, state, stop.clone());

        let selection = Selection::new(options.include, options.exclude);
        let fleet =
            Fleet::new(client.clone(), selection, prefix.clone(), rules.clone(), metrics.clone(), report);
        let turns = fleet.turns();
        let watching = fleet.marked(options.marker_label).run(discovered, stop.clone());

        let kind = Arc::new(addon_kind());
        let feed = Feed::new(client.clone(), Arc::clone(&kind), metrics.watch(&kind));
        let reader = AddonReader::new(prefix.clone(), rules.shared());
        let addon_turns = Turns::new(1);
        let following = follow(feed, reader, addon_news, addon_turns.under(&rules, &kind), stop.clone());

        let kind = Arc::new(rule_kind());
        // The same kind is counted where it is watched for components.
        let feed = Feed::uncounted(client.clone(), Arc::clone(&kind));
        let rule_turns = Turns::new(1);
        let reading = follow(feed, RuleReader::default(), rule_news, rule_turns.clone(), stop.clone());
        let explainer = Explainer::new(client.clone(), catalogue.clone(), rules.shared(), explain);
        let outputs = RuleOutputs {
            live: rules,
            combinations: combine,
            wishes,
            turns: rule_turns,
            metrics: metrics.clone(),
        };
        let from = RuleInputs { news: rules_seen, catalogue: catalogue.clone() };
        let ruling = UserRules::new(outputs).run(from, stop.clone());
        let telling = RuleStatuses::new(client.clone()).run(wished, stop.clone());

        let owner_search = OwnerSearch::new(client.clone(), catalogue.clone(), found);
        let outputs = Outputs {
            board,
            publisher: commands,
            owners: owner_search,
            explainer,
            turns,
            addon_turns,
            metrics: metrics.clone(),
            pulse,
            readiness,
        };
        let engine = Engine::new(outputs, options.removal_grace);
        let inputs = Inputs { reports, addons, owners, explained, catalogue, combinations };
        let computing = engine.run(inputs, stop.clone());

        let count = move |result| metrics.status_write(result);
        let publishing =
            Publisher::new(client, prefix, Limits::default(), count).run(commanded, stop.clone());

        let mut tasks = JoinSet::new();
        tasks.spawn(named("the HTTP server", serving));
        tasks.spawn(named("the fleet of watches", watching));
        tasks.spawn(named("the watch of Addon objects", following));
        tasks.spawn(named("the watch of StatusRule objects", reading));
        tasks.spawn(named("the rules of users", ruling));
        tasks.spawn(named("the status of rules", telling));
        tasks.spawn(named("the engine", computing));
        tasks.spawn(named("the publisher", publishing));
        tasks
    }
}

async fn named(name: &'static str, part: impl Future<Output = ()>) -> &'static str {
    part.await;
    name
}
