use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Debug},
    sync::Arc,
};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::header;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, text},
    metrics::{MetricType, info::Info},
    registry::Registry,
};

use super::{Held, SharedState, coverage::Coverage, failure::Failure};
use crate::{
    api::object_name,
    metrics::{Label, Metrics},
    model::Health,
    summary::{Board, WatchState},
};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything that `/metrics` shows.
pub(super) fn registry(board: &Arc<Board>, metrics: &Metrics) -> Registry {
    let mut registry = Registry::default();
    let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("addons_controller_build", "The program that serves this", build);
    registry.register_collector(Box::new(BoardMetrics(Arc::clone(board))));
    registry.register_collector(Box::new(metrics.clone()));
    registry
}

pub(super) async fn metrics(axum::extract::State(state): SharedState) -> Result<Response, Failure> {
    let place = state.large_answer(1)?;
    let mut body = String::new();
    text::encode(&mut body, &state.0.registry).map_err(|error| Failure::render("the metrics", &error))?;
    let body = Body::from(Held::bytes(body.into_bytes(), place));
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], body).into_response())
}

/// What the board shows at the moment of the scrape: the series of an add-on vanish with it.
struct BoardMetrics(Arc<Board>);

impl Debug for BoardMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoardMetrics").field(&self.0.generation()).finish()
    }
}

impl Collector for BoardMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let addons: Vec<_> =
            self.0.all().into_iter().map(|summary| (object_name(&summary.identifier), summary)).collect();

        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let tasks = i64::try_from(runtime.metrics().num_alive_tasks()).unwrap_or(i64::MAX);
            let help = "Tasks that are under way: one a watch and one a connection, and a few more.";
            gauge(&mut encoder, "addons_controller_tasks", help)?.encode_gauge(&tasks)?;
        }

        let help = "An add-on: the name of its object, its identifier and what it says of its version.";
        let mut info = encoder.encode_descriptor("addon", help, None, MetricType::Info)?;
        for (name, summary) in &addons {
            let version = summary.status.version.as_deref().unwrap_or_default();
            info.encode_info(&[
                ("addon", Label(name)),
                ("identifier", Label(summary.identifier.as_str())),
                ("version", Label(version)),
            ])?;
        }

        let help = "The health of an add-on: 1 for the word that holds, 0 for the others.";
        let mut health = gauge(&mut encoder, "addon_health", help)?;
        for (name, summary) in &addons {
            let holds = Health::parse(&summary.status.health);
            for word in Health::ALL {
                set(&mut health, &addon_labels(name, word), i64::from(word == holds))?;
            }
        }

        let help = "Components of an add-on by their health.";
        let mut components = gauge(&mut encoder, "addon_components", help)?;
        for (name, summary) in &addons {
            let mut counts = summary.status.counts;
            for word in Health::ALL {
                set(&mut components, &addon_labels(name, word), i64::from(*counts.of(word)))?;
            }
        }

        let coverage = self.0.coverage();
        let mut kinds = gauge(&mut encoder, "addons_controller_kinds", "Kinds by how they are watched.")?;
        for (state, count) in Coverage::of(&coverage).kinds {
            set(&mut kinds, &[("state", Label(state))], i64::try_from(count).unwrap_or(i64::MAX))?;
        }

        let mut seen = BTreeSet::new();
        let help = "The state of the watch of a kind: 1 for the one that holds.";
        let mut states = gauge(&mut encoder, "addons_controller_watch_state", help)?;
        for kind in coverage.iter() {
            let labels = [
                ("group", Label(&kind.kind.group)),
                ("resource", Label(&kind.kind.plural)),
                ("state", Label(kind.state.as_str())),
            ];
            if seen.insert(labels.map(|(_, Label(value))| value)) {
                set(&mut states, &labels, 1)?;
            }
        }

        // One series a resource, even while two of its versions are watched.
        let mut up: BTreeMap<_, bool> = BTreeMap::new();
        for kind in coverage.iter() {
            let synced = kind.state == WatchState::Synced;
            up.entry((&*kind.kind.group, &*kind.kind.plural))
                .and_modify(|up| *up &= synced)
                .or_insert(synced);
        }
        let help = "Whether a kind was listed whole and is followed.";
        let mut watch_up = gauge(&mut encoder, "addons_controller_watch_up", help)?;
        for ((group, plural), up) in up {
            let labels = [("group", Label(group)), ("resource", Label(plural))];
            set(&mut watch_up, &labels, i64::from(up))?;
        }
        Ok(())
    }
}

fn addon_labels(name: &str, health: Health) -> [(&'static str, Label<'_>); 2] {
    [("addon", Label(name)), ("health", Label(health.as_str()))]
}

fn gauge<'a>(
    encoder: &'a mut DescriptorEncoder<'_>,
    name: &'a str,
    help: &str,
) -> Result<MetricEncoder<'a>, fmt::Error> {
    encoder.encode_descriptor(name, help, None, MetricType::Gauge)
}

fn set<const N: usize>(
    family: &mut MetricEncoder<'_>,
    labels: &[(&str, Label<'_>); N],
    value: i64,
) -> fmt::Result {
    family.encode_family(labels)?.encode_gauge(&value)
}
