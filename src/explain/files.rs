use std::collections::{BTreeMap, HashMap};

use super::{Listing, Lookup, Named, Part, Refusal, Source, choose::is_owned_by};
use crate::model::{Event, Object, ObjectRef};

/// Objects and events that were read from files. What isn't among them may exist all the same.
#[derive(Debug, Default)]
pub struct Files {
    /// By kind and then by namespace, which is empty for objects without one.
    by_place: HashMap<String, BTreeMap<String, Vec<Object>>>,
    events: Vec<Event>,
}

impl Files {
    /// All that was read.
    pub fn new(objects: Vec<Object>, events: Vec<Event>) -> Self {
        let mut by_place: HashMap<String, BTreeMap<String, Vec<Object>>> = HashMap::new();
        for object in objects {
            let (kind, namespace) =
                (object.reference.kind.kind.clone(), object.reference.namespace.to_string());
            by_place.entry(kind).or_default().entry(namespace).or_default().push(object);
        }
        Self { by_place, events }
    }

    /// The object that `wanted` names, if it was read.
    pub fn find(&self, wanted: &Named) -> Option<&Object> {
        let fits = |object: &&Object, name: &str| {
            let reference = &object.reference;
            *reference.name == *name
                && wanted.group.as_ref().is_none_or(|group| *group == reference.kind.group)
        };
        let objects = || self.at(&wanted.kind, Some(&wanted.namespace));
        wanted.names.iter().find_map(|name| objects().find(|object| fits(object, name)))
    }

    /// The objects of a kind in a namespace, or in all, and those without one.
    fn at<'a>(&'a self, kind: &str, namespace: Option<&str>) -> impl Iterator<Item = &'a Object> {
        let takes = move |of: &str| namespace.is_none_or(|namespace| of.is_empty() || of == namespace);
        let places = self.by_place.get(kind).into_iter().flatten();
        places.filter(move |(of, _)| takes(of)).flat_map(|(_, objects)| objects)
    }

    fn listed<'a>(&'a self, wanted: &'a Listing) -> impl Iterator<Item = &'a Object> {
        let namespace = Some(wanted.namespace.as_str()).filter(|namespace| !namespace.is_empty());
        self.at(&wanted.kind.kind, namespace).filter(|object| {
            object.reference.kind.group == wanted.kind.group
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
