//! The requests to the API server, and what their failures mean.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header::RETRY_AFTER};
use http_body_util::BodyExt;
use kube::{
    Client, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
    client::Body,
    core::{ObjectMeta, Status},
};
use serde::Serialize;
use tokio::time::timeout;

use super::{MANAGED_BY, MANAGER, decide::Draft, live::Digest};
use crate::{
    api::{Addon, AddonSpec, AddonStatus, Identifier},
    model::text,
};

/// What is to be done about the `Addon` of a name.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub name: Arc<str>,
    pub task: Task,
}

#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Make the object first where an identifier is given, then write its status.
    Write { create: Option<Identifier>, draft: Box<Draft> },
    /// Delete the object of this `uid`.
    Delete(String),
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// The API server can't take it now, whatever it is.
    #[error("the API server can't be reached or is overloaded: {why}")]
    Busy { why: String, asked: Option<Duration> },
    /// It never takes this.
    #[error("the API server refuses it: {0}")]
    Refused(String),
    /// The object isn't there.
    #[error("it isn't there any more: {0}")]
    Missing(String),
    /// Somebody else was there first.
    #[error("it was changed in the meantime: {0}")]
    Conflict(String),
    /// It failed at it, by what it says itself.
    #[error("the API server failed: {0}")]
    Broken(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// Sends requests for `Addon` objects.
#[derive(Clone)]
pub(super) struct Requests {
    pub client: Client,
    pub timeout: Duration,
}

impl Requests {
    /// Does the work. Gives the object as the API server holds it then; `None` where it is gone.
    pub(super) async fn carry_out(&self, work: &Work) -> Result<Option<Addon>, Failure> {
        match &work.task {
            Task::Write { create, draft } => {
                if let Some(identifier) = create {
                    self.create(&work.name, identifier).await?;
                }
                self.write(&work.name, draft).await.map(Some)
            }
            Task::Delete(uid) => self.delete(&work.name, uid).await,
        }
    }

    /// Makes the object without its status, which the API server would drop. One that somebody made a
    /// moment ago is left as it is.
    async fn create(&self, name: &str, identifier: &Identifier) -> Result<(), Failure> {
        let addon = Addon {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                labels: Some([(MANAGED_BY.to_owned(), MANAGER.to_owned())].into()),
                ..ObjectMeta::default()
            },
            spec: AddonSpec { identifier: identifier.to_string() },
            status: None,
        };
        let body = serde_json::to_vec(&addon).map_err(|error| Failure::Other(error.to_string()))?;
        match self.send(resource().create(&parameters(), body)).await {
            Ok(_) | Err(Failure::Conflict(_)) => Ok(()),
            // Where an object is made, the kind itself isn't there.
            Err(Failure::Missing(why)) => Err(Failure::Busy { why, asked: None }),
            Err(failure) => Err(failure),
        }
    }

    /// Writes the status. What another field manager added stays when ours is applied, so where the
    /// object still says something else the status is replaced, once.
    async fn write(&self, name: &str, draft: &Draft) -> Result<Addon, Failure> {
        let mut addon = match self.apply(name, &draft.status).await {
            // So it answers where the CRD is older than we are and lacks a field. A merge drops it.
            Err(Failure::Broken(_)) => self.merge(name, &draft.status).await?,
            taken => taken?,
        };
        if Digest::of(addon.status.as_ref()) == draft.digest {
            return Ok(addon);
        }
        addon.status = Some(draft.status.clone());
        let body = serde_json::to_vec(&addon).map_err(|error| Failure::Other(error.to_string()))?;
        read(&self.send(resource().replace_subresource("status", name, &parameters(), body)).await?)
    }

    async fn apply(&self, name: &str, status: &AddonStatus) -> Result<Addon, Failure> {
        read(&self.apply_status::<Addon>(name, None, status).await?)
    }

    /// Applies the status of an object that is there, which must be the one of `uid` where that is given.
    pub(super) async fn apply_status<K: Resource<DynamicType = ()>>(
        &self,
        name: &str,
        uid: Option<&str>,
        status: &impl Serialize,
    ) -> Result<Bytes, Failure> {
        let patch = Patch::Apply(Applied {
            api_version: K::api_version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            metadata: Named { name, uid },
            status,
        });
        let parameters = PatchParams::apply(MANAGER).force();
        let resource = kube::core::Request::new(K::url_path(&(), None));
        self.send(resource.patch_subresource("status", name, &parameters, &patch)).await
    }

    async fn merge(&self, name: &str, status: &AddonStatus) -> Result<Addon, Failure> {
        let patch = Patch::Merge(Merged { status });
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        read(&self.send(resource().patch_subresource("status", name, &parameters, &patch)).await?)
    }

    async fn delete(&self, name: &str, uid: &str) -> Result<Option<Addon>, Failure> {
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        let request = resource().delete(name, &DeleteParams::default().preconditions(preconditions));
        match self.send(request).await {
            // A deletion that waits for a finalizer answers with the object, another with a Status.
            Ok(body) => Ok(read(&body).ok()),
            Err(Failure::Missing(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn send(
        &self,
        request: Result<Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Bytes, Failure> {
        let request = request.map_err(|error| Failure::Other(error.to_string()))?;
        let exchange = async {
            let response =
                self.client.send(request.map(Body::from)).await.map_err(|error| unreachable(&error))?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| unreachable(&error))?.to_bytes();
            if head.status.is_success() { Ok(body) } else { Err(failure(head.status, &head.headers, &body)) }
        };
        timeout(self.timeout, exchange)
            .await
            .unwrap_or_else(|_| Err(Failure::Other(format!("no answer in {:?}", self.timeout))))
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a, S> {
    api_version: String,
    kind: String,
    metadata: Named<'a>,
    status: &'a S,
}

#[derive(Debug, Serialize)]
struct Merged<'a> {
    status: &'a AddonStatus,
}

#[derive(Debug, Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
}

fn resource() -> kube::core::Request {
    kube::core::Request::new(Addon::url_path(&(), None))
}

fn parameters() -> PostParams {
    PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() }
}

fn read(body: &[u8]) -> Result<Addon, Failure> {
    let unreadable = || Failure::Other("the answer isn't an Addon".to_owned());
    let strange = || serde_json::from_slice(body).ok().and_then(Addon::read);
    serde_json::from_slice(body).ok().or_else(strange).ok_or_else(unreadable)
}

fn unreachable(error: &dyn std::error::Error) -> Failure {
    // The reason that a person can use stands at the end of the chain.
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    Failure::Busy { why: text::message(&innermost.to_string()), asked: None }
}

fn failure(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
    let status = serde_json::from_slice::<Status>(body).ok();
    let why = match status.as_ref().map(|status| status.message.as_str()).filter(|why| !why.is_empty()) {
        Some(why) => text::message(why),
        None => text::message(&format!("{code}: {}", String::from_utf8_lossy(body))),
    };
    match code {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => {
            let header = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            let detail = status.and_then(|status| Some(status.details?.retry_after_seconds.into()));
            Failure::Busy { why, asked: header.or(detail).map(Duration::from_secs) }
        }
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Failure::Refused(why)
        }
        StatusCode::NOT_FOUND => Failure::Missing(why),
        StatusCode::CONFLICT => Failure::Conflict(why),
        StatusCode::INTERNAL_SERVER_ERROR => Failure::Broken(why),
        _ => Failure::Other(why),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use http::Response;
    use serde_json::json;

    use super::*;

    fn of(code: u16, headers: &[(&'static str, &'static str)], body: &str) -> Failure {
        let mut response = Response::builder().status(code);
        for (key, value) in headers {
            response = response.header(*key, *value);
        }
        let (head, ()) = response.body(()).unwrap().into_parts();
        failure(head.status, &head.headers, body.as_bytes())
    }

    #[test]
    fn failures_are_told_apart_by_their_code() {
        let status = |message: &str| json!({"kind": "Status", "message": message}).to_string();
        let busy = |why: &str, asked: Option<u64>| Failure::Busy {
            why: why.into(),
            asked: asked.map(Duration::from_secs),
        };
        let cases = [
            (
                of(429, &[("retry-after", "3")], "slow down"),
                busy("429 Too Many Requests: slow down", Some(3)),
            ),
            (of(429, &[], ""), busy("429 Too Many Requests:", None)),
            (
                of(503, &[], r#"{"message":"later","details":{"retryAfterSeconds":7}}"#),
                busy("later", Some(7)),
            ),
            (of(504, &[("retry-after", "soon")], &status("x")), busy("x", None)),
            (of(422, &[], &status("too long")), Failure::Refused("too long".into())),
            (of(413, &[], &status("too large")), Failure::Refused("too large".into())),
            (of(400, &[], &status("what?")), Failure::Refused("what?".into())),
            (of(404, &[], &status("gone")), Failure::Missing("gone".into())),
            (of(409, &[], &status("twice")), Failure::Conflict("twice".into())),
            (of(403, &[], &status("no")), Failure::Other("no".into())),
            (of(500, &[], &status("a\u{1b}[2J")), Failure::Broken("a\u{fffd}[2J".into())),
        ];
        for (is, should_be) in cases {
            assert_eq!(is, should_be);
        }
    }
}
