//! What was found below components.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use futures::StreamExt;

use crate::{
    api::{Addon, ComponentStatus},
    explain::{self, Files, Gap, Limits, Named, Refusal, Step},
    health::Rules,
    model::{Explanation, Health, ObjectRef, Timestamp},
    summary::object_key,
};

/// How many components are looked into at the same time.
const CONCURRENT: usize = 4;

/// Where the objects below components are looked for.
pub(super) enum Below {
    Cluster(explain::Server),
    /// With the time at which they are judged.
    Files(Files, Timestamp),
}

/// What was found below a component.
pub(super) enum Found {
    Step(Box<Step>),
    /// The component isn't there any more.
    Gone,
    Refused(Refusal),
}

/// What was found below components, by their keys.
#[derive(Default)]
pub(super) struct Looks(BTreeMap<Box<str>, Found>);

/// Whether something is wrong with a component.
pub(super) fn is_ill(component: &ComponentStatus) -> bool {
    Health::parse(&component.health).is_ill()
}

fn key(object: &ObjectRef) -> Box<str> {
    object_key(&object.kind, &object.namespace, &object.name, &object.uid)
}

impl Looks {
    /// Looks into the components of `addon` that aren't well, at most so many, the worst first.
    pub(super) async fn look(&mut self, addon: &Addon, below: &Below, rules: &Rules, most: usize) {
        let components = addon.status.iter().flat_map(|status| &status.components);
        let ill: Vec<(Box<str>, ObjectRef)> = components
            .filter(|component| is_ill(component))
            .take(most)
            .map(ComponentStatus::reference)
            .map(|object| (key(&object), object))
            .filter(|(key, _)| !self.0.contains_key(key))
            .collect();
        let looks = ill.into_iter().map(|(key, object)| async move {
            let found = below.look(&object, rules).await;
            (key, found)
        });
        let found: Vec<_> = futures::stream::iter(looks).buffered(CONCURRENT).collect().await;
        self.0.extend(found);
    }

    /// What explains each, as the controller would take it in.
    pub(super) fn explanations(&self) -> HashMap<Arc<str>, Explanation> {
        let steps = self.0.iter().filter_map(|(key, found)| match found {
            Found::Step(step) => Some((key.as_ref().into(), step.explanation())),
            Found::Gone | Found::Refused(_) => None,
        });
        steps.filter(|(_, explanation)| !explanation.steps.is_empty()).collect()
    }

    /// Whether nothing was refused that might have been shown.
    pub(super) fn are_whole(&self) -> bool {
        self.0.values().all(|found| match found {
            Found::Step(step) => is_whole(step),
            Found::Gone => true,
            Found::Refused(_) => false,
        })
    }

    /// Takes what was found below an object.
    pub(super) fn take(&mut self, object: &ObjectRef) -> Option<Found> {
        self.0.remove(&key(object))
    }
}

fn is_whole(step: &Step) -> bool {
    let refused = |gap: &Gap| matches!(gap, Gap::Refused(Refusal::Forbidden(_) | Refusal::Failed { .. }));
    !step.gaps.iter().any(refused) && step.below.iter().all(is_whole)
}

impl Below {
    async fn look(&self, object: &ObjectRef, rules: &Rules) -> Found {
        match self {
            Self::Cluster(server) => {
                match explain::explain_by_name(server, object, rules, Limits::WIDE).await {
                    Ok(Some(step)) => Found::Step(Box::new(step)),
                    Ok(None) => Found::Gone,
                    Err(refusal) => Found::Refused(refusal),
                }
            }
            Self::Files(files, now) => {
                let kind = &object.kind;
                let named = Named::new(&kind.group, &kind.kind, &object.namespace, &object.name);
                match files.find(&named) {
                    Some(object) => {
                        let step = explain::explain(files, object, rules, Limits::WIDE, *now).await;
                        Found::Step(Box::new(step))
                    }
                    None => Found::Gone,
                }
            }
        }
    }
}
