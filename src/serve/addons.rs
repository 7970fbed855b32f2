use std::sync::Arc;

use axum::{
    extract::{Path, rejection::PathRejection},
    response::Response,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{
    Held, SharedState, State,
    failure::Failure,
    list,
    rendered::{JSON, Rendered},
};
use crate::summary::{Board, Summary};

/// Seconds since the controller was last known to follow the cluster. On every answer with data, so
/// that a reader sees that it is old even when the data says nothing new.
const HEARTBEAT_AGE: HeaderName = HeaderName::from_static("addons-heartbeat-age");

/// Components that are written in about a megabyte.
const COMPONENTS_A_MEGABYTE: usize = 2000;

pub(super) async fn list(
    axum::extract::State(state): SharedState,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let rendered = state.0.list.of(&state.0.board).await;
    let rendered = rendered.map_err(|error| Failure::render("the list of add-ons", &error))?;
    Ok(with_heartbeat(&state, rendered.answer(&headers)))
}

pub(super) async fn one(
    axum::extract::State(state): SharedState,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let Path(asked) = path.map_err(|_| Failure::not_text())?;
    let summary = find(&state.0.board, &asked).ok_or_else(|| Failure::no_such_addon(&asked))?;
    let components = usize::try_from(summary.status.counts.total).unwrap_or_default();
    let place = state.large_answer(components / COMPONENTS_A_MEGABYTE)?;
    let addon = list::addon(&summary, summary.whole());
    let body = serde_json::to_vec(&addon).map_err(|error| Failure::render("the add-on", &error))?;
    Ok(with_heartbeat(&state, Rendered::new(JSON, Held::bytes(body, place)).answer(&headers)))
}

/// By identifier, or by the name of the object where that isn't the identifier.
fn find(board: &Board, asked: &str) -> Option<Arc<Summary>> {
    board.get(asked).or_else(|| board.get_by_object_name(asked))
}

fn with_heartbeat(state: &State, mut response: Response) -> Response {
    let age = HeaderValue::from(state.0.pulse.age().as_secs());
    response.headers_mut().insert(HEARTBEAT_AGE, age);
    response
}
