use std::collections::HashMap;

use super::{Listing, Lookup, Named, Part, Refusal, Source, choose::is_owned_by};
use crate::model::{Event, Object, ObjectRef};

/// Objects and events that were read from files. What isn't among them may exist all the same.
#[derive(Debug, Default)]
pub struct Files {
    by_kind: HashMap<String, Vec<Object>>,
    events: Vec<Event>,
}

impl Files {
    /// All that was read.
    pub fn new(objects: Vec<Object>, events: Vec<Event>) -> Self {
        let mut by_kind: HashMap<String, Vec<Object>> = HashMap::new();
        for object in objects {
            by_kind.entry(object.reference.kind.kind.clone()).or_default().push(object);
        }
        Self { by_kind, events }
    }

    /// The object that `wanted` names, if it was read.
    pub fn find(&self, wanted: &Named) -> Option<&Object> {
        let fits = |object: &&Object, name: &str| {
            let reference = &object.reference;
            *reference.name == *name
                && wanted.group.as_ref().is_none_or(|group| *group == reference.kind.group)
                && (reference.namespace.is_empty() || *reference.namespace == *wanted.namespace)
        };
        let objects = self.by_kind.get(&wanted.kind)?;
        wanted.names.iter().find_map(|name| objects.iter().find(|object| fits(object, name)))
    }

    fn listed<'a>(&'a self, wanted: &'a Listing) -> impl Iterator<Item = &'a Object> {
        let objects = self.by_kind.get(&wanted.kind.kind).into_iter().flatten();
        objects.filter(|object| {
            let reference = &object.reference;
            reference.kind.group == wanted.kind.group
                && (reference.namespace.is_empty()
                    || wanted.namespace.is_empty()
                    || *reference.namespace == *wanted.namespace)
                && wanted.selector.takes(&object.labels)
                && wanted.owner.as_ref().is_none_or(|owner| is_owned_by(object, owner))
        })
    }
}

impl Source for Files {
    async fn get(&self, wanted: &Named) -> Result<Lookup, Refusal> {
        match self.find(wanted) {
            Some(object) => Ok(Lookup::Found(Box::new(object.clone()))),
            None => Err(Refusal::Unknown(wanted.to_string())),
        }
    }

    async fn list(&self, wanted: &Listing) -> Result<Part<Object>, Refusal> {
        Ok(Part { items: self.listed(wanted).cloned().collect(), more: false })
    }

    async fn events(&self, about: &ObjectRef) -> Result<Part<Event>, Refusal> {
        let events = self.events.iter().filter(|event| event.is_about(about));
        Ok(Part { items: events.cloned().collect(), more: false })
    }
}
