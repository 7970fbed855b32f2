use std::sync::Arc;

use arc_swap::ArcSwapOption;
use serde::Serialize;
use tokio::sync::Mutex;

use super::{
    coverage::Coverage,
    rendered::{JSON, Rendered},
};
use crate::{
    api::{self, Addon, AddonSpec, AddonStatus, object_name},
    summary::{Board, Summary},
};

/// The list of all add-ons as finished bytes, rendered again only when the board has changed and
/// somebody asks.
#[derive(Default)]
pub(super) struct List {
    last: ArcSwapOption<Version>,
    rendering: Mutex<()>,
}

struct Version {
    generation: u64,
    rendered: Rendered,
}

impl List {
    /// The list as the board shows it.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when it can't write a summary.
    pub(super) async fn of(&self, board: &Board) -> serde_json::Result<Rendered> {
        let asked = board.generation();
        if let Some(rendered) = self.since(asked) {
            return Ok(rendered);
        }
        // Those who come while it is being rendered wait for it and don't render it too, also where something
        // changes all the time.
        let _turn = self.rendering.lock().await;
        if let Some(rendered) = self.since(asked) {
            return Ok(rendered);
        }
        // Read before the content: what changes in between is rendered once more the next time.
        let generation = board.generation();
        let rendered = render(board)?;
        self.last.store(Some(Arc::new(Version { generation, rendered: rendered.clone() })));
        Ok(rendered)
    }

    /// The last one, where it is as new as that.
    fn since(&self, generation: u64) -> Option<Rendered> {
        let last = self.last.load();
        let version = last.as_ref().filter(|version| version.generation >= generation)?;
        Some(version.rendered.clone())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddonList<'a> {
    api_version: String,
    kind: &'static str,
    metadata: ListMeta,
    items: Vec<Addon>,
    coverage: Coverage<'a>,
}

#[derive(Serialize)]
struct ListMeta {}

fn render(board: &Board) -> serde_json::Result<Rendered> {
    // Before the coverage, which is shown before the add-ons that it explains.
    let addons = board.all();
    let coverage = board.coverage();
    let list = AddonList {
        api_version: format!("{}/{}", api::GROUP, api::VERSION),
        kind: "AddonList",
        metadata: ListMeta {},
        items: addons.iter().map(|summary| addon(summary, without_components(&summary.status))).collect(),
        coverage: Coverage::of(&coverage),
    };
    Ok(Rendered::new(JSON, serde_json::to_vec(&list)?.into()))
}

/// The `Addon` object of a summary, with `status`.
pub(super) fn addon(summary: &Summary, status: AddonStatus) -> Addon {
    let spec = AddonSpec { identifier: summary.identifier.as_str().to_owned() };
    let mut addon = Addon::new(&object_name(&summary.identifier), spec);
    addon.status = Some(status);
    addon
}

/// All but the components, which are counted as left out.
fn without_components(status: &AddonStatus) -> AddonStatus {
    AddonStatus {
        conditions: status.conditions.clone(),
        health: status.health.clone(),
        reason: status.reason.clone(),
        message: status.message.clone(),
        ready: status.ready.clone(),
        counts: status.counts,
        version: status.version.clone(),
        facts: status.facts.clone(),
        installs: status.installs.clone(),
        components: Vec::new(),
        omitted: status.counts.total,
    }
}
