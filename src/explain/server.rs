use std::{sync::Arc, time::Duration};

use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{Listing, Lookup, Named, Pace, Part, Refusal, Source, choose::is_owned_by, kinds};
use crate::{
    discover::Catalogue,
    model::{Event, GroupKind, Kind, Object, ObjectRef, decode::Raw, text},
    watch::{Feed, FeedError, Seen},
};

/// The most objects of one list.
const LIST: usize = 500;

/// The objects of a cluster, as its API server gives them to who may list them. Nothing needs the
/// right to `get`, and nothing is watched.
#[derive(Clone)]
pub struct Server {
    client: Client,
    catalogue: Arc<Catalogue>,
    pace: Option<Pace>,
    deadline: Instant,
}

impl Server {
    /// Asks through `client` until `patience` is over. `catalogue` says which kinds there are besides those
    /// that every cluster serves.
    pub fn new(client: Client, catalogue: Arc<Catalogue>, patience: Duration) -> Self {
        Self { client, catalogue, pace: None, deadline: Instant::now() + patience }
    }

    /// The same, where requests wait for their turn in `pace`.
    #[must_use]
    pub fn paced(self, pace: Pace) -> Self {
        Self { pace: Some(pace), ..self }
    }

    fn kind(&self, group: Option<&str>, kind: &str) -> Result<Arc<Kind>, Refusal> {
        kinds::resolve(&self.catalogue, group, kind).ok_or_else(|| {
            Refusal::NotServed(GroupKind {
                group: group.unwrap_or_default().to_owned(),
                kind: kind.to_owned(),
            })
        })
    }

    /// The objects of `kind` that the selectors take.
    async fn select<T>(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        (labels, fields): (&str, &str),
        read: impl Fn(&Seen<'_>) -> Option<T>,
    ) -> Result<Part<T>, Refusal> {
        let what = || {
            let place = if kind.namespaced && !namespace.is_empty() {
                format!(" in {namespace}")
            } else {
                String::new()
            };
            format!("{}{place}", kind.resource_name())
        };
        let feed = Feed::uncounted(self.client.clone(), Arc::clone(kind)).within(namespace);
        let asked = async {
            if let Some(pace) = &self.pace {
                pace.turn().await;
            }
            feed.select(labels, fields, LIST, read).await
        };
        match timeout_at(self.deadline, asked).await {
            Ok(Ok((items, more))) => Ok(Part { items, more }),
            Ok(Err(error)) => Err(refusal(&error, kind, what())),
            Err(_) => Err(Refusal::Failed { what: what(), why: "it took too long".to_owned() }),
        }
    }
}

fn refusal(error: &FeedError, kind: &Kind, what: String) -> Refusal {
    match error.code() {
        Some(403) => Refusal::Forbidden(what),
        Some(404 | 405) => Refusal::NotServed(kind.group_kind()),
        _ => Refusal::Failed { what, why: text::message(&error.to_string()) },
    }
}

fn object(kind: &Arc<Kind>) -> impl Fn(&Seen<'_>) -> Option<Object> {
    |seen| seen.decode::<Raw>().ok()?.into_object(Arc::clone(kind))
}

impl Source for Server {
    async fn get(&self, wanted: &Named) -> Result<Lookup, Refusal> {
        let kind = self.kind(wanted.group.as_deref(), &wanted.kind)?;
        for name in &wanted.names {
            let fields = format!("metadata.name={name}");
            let found = self.select(&kind, &wanted.namespace, ("", &fields), object(&kind)).await?;
            if let Some(object) = found.items.into_iter().next() {
                return Ok(Lookup::Found(Box::new(object)));
            }
        }
        let namespace = if kind.namespaced { wanted.namespace.as_str() } else { "" };
        Ok(Lookup::Absent(ObjectRef {
            namespace: namespace.into(),
            name: wanted.names.first().map(String::as_str).unwrap_or_default().into(),
            uid: "".into(),
            kind,
        }))
    }

    async fn list(&self, wanted: &Listing) -> Result<Part<Object>, Refusal> {
        let kind = self.kind(Some(&wanted.kind.group), &wanted.kind.kind)?;
        let labels = wanted.selector.to_string();
        let mut part = self.select(&kind, &wanted.namespace, (&labels, ""), object(&kind)).await?;
        if let Some(owner) = &wanted.owner {
            part.items.retain(|object| is_owned_by(object, owner));
        }
        Ok(part)
    }

    async fn events(&self, about: &ObjectRef) -> Result<Part<Event>, Refusal> {
        let kind = kinds::event();
        // Those about cluster-scoped objects live there.
        let namespace = if about.namespace.is_empty() { "default" } else { &about.namespace };
        let fields = format!("involvedObject.uid={}", about.uid);
        let read = |seen: &Seen<'_>| Event::read(&seen.decode::<Value>().ok()?);
        self.select(&kind, namespace, ("", &fields), read).await
    }
}
