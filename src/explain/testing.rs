#![allow(clippy::expect_used)]
//! What the tests of this room share: a cluster of a few objects.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use serde::Deserialize;
use serde_json::Value;

use super::{Files, Listing, Lookup, Named, Part, Refusal, Source, kinds};
use crate::{
    discover::Catalogue,
    model::{Event, Kind, Object, ObjectRef, Timestamp, decode::Raw},
};

/// The object that `value` spells. Its `uid` is its kind and name unless it says another.
pub(super) fn object(mut value: Value) -> Object {
    let uid = format!(
        "{}/{}",
        value["kind"].as_str().unwrap_or_default(),
        value["metadata"]["name"].as_str().unwrap_or_default()
    );
    if value["metadata"]["uid"].is_null() {
        value["metadata"]["uid"] = uid.into();
    }
    let raw = Raw::deserialize(&value).expect("an object");
    let api_version = raw.api_version.clone().expect("apiVersion");
    let kind = raw.kind.clone().expect("kind");
    let namespaced = !value["metadata"]["namespace"].is_null();
    raw.into_object(Arc::new(self::kind(&api_version, &kind, namespaced))).expect("an object with a name")
}

fn kind(api_version: &str, kind: &str, namespaced: bool) -> Kind {
    Kind { plural: format!("{}s", kind.to_lowercase()), namespaced, ..Kind::named(api_version, kind) }
}

pub(super) fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

/// A cluster: what isn't in it isn't there.
#[derive(Default)]
pub(super) struct Lab {
    files: Files,
    /// Kinds that may not be looked at.
    pub(super) forbidden: BTreeSet<&'static str>,
    /// Kinds that can't be asked for now.
    pub(super) broken: BTreeSet<&'static str>,
    asked: Mutex<BTreeMap<String, usize>>,
}

impl Lab {
    /// Objects and events, as YAML documents.
    pub(super) fn of(yaml: &str) -> (Self, Vec<Object>) {
        let mut objects = Vec::new();
        let mut events = Vec::new();
        for document in yaml.split("---\n").filter(|document| !document.trim().is_empty()) {
            let value: Value = serde_saphyr::from_str(document).expect(document);
            match value["kind"].as_str() {
                Some("Event") => events.push(Event::read(&value).expect("an event")),
                _ => objects.push(object(value)),
            }
        }
        (Self { files: Files::new(objects.clone(), events), ..Self::default() }, objects)
    }

    /// A cluster of these objects.
    pub(super) fn with(objects: Vec<Object>) -> Self {
        Self { files: Files::new(objects, Vec::new()), ..Self::default() }
    }

    /// How many requests were made for each kind.
    pub(super) fn asked(&self) -> BTreeMap<String, usize> {
        self.asked.lock().expect("a lock").clone()
    }

    fn ask(&self, kind: &str) -> Result<(), Refusal> {
        *self.asked.lock().expect("a lock").entry(kind.to_owned()).or_default() += 1;
        if self.forbidden.contains(kind) {
            return Err(Refusal::Forbidden(format!("{kind} objects")));
        }
        if self.broken.contains(kind) {
            return Err(Refusal::Failed { what: format!("{kind} objects"), why: "timeout".to_owned() });
        }
        Ok(())
    }
}

impl Source for Lab {
    async fn get(&self, wanted: &Named) -> Result<Lookup, Refusal> {
        self.ask(&wanted.kind)?;
        if let Some(object) = self.files.find(wanted) {
            return Ok(Lookup::Found(Box::new(object.clone())));
        }
        let group = wanted.group.as_deref();
        let known = kinds::resolve(&Catalogue::default(), group, &wanted.kind);
        let other = || Arc::new(kind(&format!("{}/v1", group.unwrap_or_default()), &wanted.kind, true));
        let kind = known.unwrap_or_else(other);
        Ok(Lookup::Absent(ObjectRef {
            namespace: if kind.namespaced { wanted.namespace.as_str() } else { "" }.into(),
            kind,
            name: wanted.names.first().expect("a name").as_str().into(),
            uid: "".into(),
        }))
    }

    async fn list(&self, wanted: &Listing) -> Result<Part<Object>, Refusal> {
        self.ask(&wanted.kind.kind)?;
        self.files.list(wanted).await
    }

    async fn events(&self, about: &ObjectRef) -> Result<Part<Event>, Refusal> {
        self.ask("Event")?;
        self.files.events(about).await
    }
}
