//! `/debug/watches`: how each kind is watched, for who operates the controller and for `addonctl doctor`.

use std::collections::BTreeMap;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::header;
use serde::Serialize;

use super::{Held, SharedState, State, coverage::by_state, failure::Failure, rendered::JSON};
use crate::{
    metrics::{Discovery, WatchCounts},
    model::{Kind, Timestamp},
    summary::KindCoverage,
};

/// The word for what is left out on purpose.
const EXCLUDED: &str = "excluded";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Watches<'a> {
    version: &'static str,
    /// Seconds since the engine was last known to go on.
    heartbeat_age: u64,
    /// `Addon` objects stay as they are for now.
    writes_held: bool,
    /// The label that objects must carry to be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    marker_label: Option<&'a str>,
    /// How many kinds are in each state; every state stands here.
    kinds: BTreeMap<&'static str, usize>,
    discovery: Discovered<'a>,
    watches: Vec<Watch<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Discovered<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    age: Option<u64>,
    stale_groups: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Watch<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    resource: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<&'static str>,
    components: usize,
    /// Seconds since a whole list, an event or a bookmark came.
    #[serde(skip_serializing_if = "Option::is_none")]
    heard_age: Option<u64>,
    events: u64,
    /// Objects that were read one by one, while only metadata was asked for.
    reads: u64,
    relists: u64,
    drift: u64,
    errors: BTreeMap<String, u64>,
}

pub(super) async fn watches(axum::extract::State(state): SharedState) -> Result<Response, Failure> {
    let place = state.large_answer(1)?;
    let body = render(&state, Timestamp::now());
    let body = body.map_err(|error| Failure::render("the watches", &error))?;
    Ok(([(header::CONTENT_TYPE, JSON)], Body::from(Held::bytes(body, place))).into_response())
}

fn render(state: &State, now: Timestamp) -> serde_json::Result<Vec<u8>> {
    let (coverage, discovery) = (state.0.board.coverage(), state.0.metrics.discovery());
    let counts = state.0.metrics.watches();
    let mut kinds = by_state(&coverage);
    kinds.insert(EXCLUDED, discovery.excluded.len() + discovery.unwatchable.len());

    let watched = coverage.iter().map(|kind| {
        let name = (kind.kind.group.clone(), kind.kind.plural.clone());
        Watch::of(kind, counts.get(&name).cloned().unwrap_or_default(), now)
    });
    let watches = Watches {
        version: env!("CARGO_PKG_VERSION"),
        heartbeat_age: state.0.pulse.age().as_secs(),
        writes_held: state.0.metrics.writes_are_held(),
        marker_label: discovery.marker.as_deref(),
        kinds,
        discovery: Discovered::of(&discovery, now),
        watches: watched
            .chain(discovery.excluded.iter().map(|kind| Watch::excluded(kind, None)))
            .chain(discovery.unwatchable.iter().map(|(kind, why)| Watch::excluded(kind, Some(why))))
            .collect(),
    };
    let mut body = serde_json::to_vec(&watches)?;
    body.push(b'\n');
    Ok(body)
}

impl<'a> Discovered<'a> {
    fn of(discovery: &'a Discovery, now: Timestamp) -> Self {
        Self {
            read: discovery.read,
            age: discovery.read.map(|read| age(read, now)),
            stale_groups: &discovery.stale,
            error: discovery.error.as_deref(),
        }
    }
}

impl<'a> Watch<'a> {
    fn of(coverage: &'a KindCoverage, counts: WatchCounts, now: Timestamp) -> Self {
        let read = if counts.is_whole { "whole" } else { "metadata" };
        Self {
            state: coverage.state.as_str(),
            message: coverage.state.message(),
            since: Some(coverage.since),
            read: Some(read),
            components: coverage.components,
            heard_age: counts.heard.map(|heard| age(heard, now)),
            events: counts.events,
            reads: counts.reads,
            relists: counts.relists,
            drift: counts.drift,
            errors: counts.errors.into_iter().map(|(code, count)| (code.to_string(), count)).collect(),
            ..Self::excluded(&coverage.kind, None)
        }
    }

    fn excluded(kind: &'a Kind, message: Option<&'a str>) -> Self {
        Self {
            group: &kind.group,
            version: &kind.version,
            kind: &kind.kind,
            resource: &kind.plural,
            state: EXCLUDED,
            message,
            since: None,
            read: None,
            components: 0,
            heard_age: None,
            events: 0,
            reads: 0,
            relists: 0,
            drift: 0,
            errors: BTreeMap::new(),
        }
    }
}

/// Whole seconds; clocks may be set back.
fn age(then: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(then).as_secs()).unwrap_or_default()
}
