//! What was found below components.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
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

/// How much is looked into.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The most components of one add-on, the worst of them.
    each: usize,
    /// The most of all add-ons.
    all: usize,
    /// How far each look goes.
    limits: Limits,
}

impl Bounds {
    /// As the controller looks.
    pub(super) const FILES: Self = Self { each: usize::MAX, all: usize::MAX, limits: Limits::BEST };

    /// The same where each look costs requests.
    pub(super) const CLUSTER: Self = Self { each: LOOKED_INTO, all: 2 * LOOKED_INTO, limits: Limits::BEST };

    /// What a tree of one add-on shows: also what is next to the best explanation.
    pub(super) fn tree(all: bool) -> Self {
        let each = if all { usize::MAX } else { LOOKED_INTO };
        Self { each, all: usize::MAX, limits: Limits::WIDE }
    }
}

/// How many components of an add-on are looked into that aren't well.
const LOOKED_INTO: usize = 100;

/// What was found below components.
pub(super) struct Looks {
    bounds: Bounds,
    /// By the keys of the components.
    found: BTreeMap<Box<str>, Found>,
    /// How many more aren't well.
    left_out: usize,
}

/// Whether something is wrong with a component.
pub(super) fn is_ill(component: &ComponentStatus) -> bool {
    Health::parse(&component.health).is_ill()
}

fn key(object: &ObjectRef) -> Box<str> {
    object_key(&object.kind, &object.namespace, &object.name, &object.uid)
}

impl Looks {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, found: BTreeMap::new(), left_out: 0 }
    }

    /// Looks into the components of `addon` that aren't well, the worst first.
    pub(super) async fn look(&mut self, addon: &Addon, below: &Below, rules: &Rules) {
        let Bounds { each, all, limits } = self.bounds;
        let components = addon.status.iter().flat_map(|status| &status.components);
        let mut ill: Vec<(Box<str>, ObjectRef)> = components
            .filter(|component| is_ill(component))
            .map(ComponentStatus::reference)
            .map(|object| (key(&object), object))
            .filter(|(key, _)| !self.found.contains_key(key))
            .collect();
        let most = each.min(all.saturating_sub(self.found.len())).min(ill.len());
        self.left_out += ill.len() - most;
        ill.truncate(most);
        let looks = ill.into_iter().map(|(key, object)| async move {
            let found = below.look(&object, rules, limits).await;
            (key, found)
        });
        let found: Vec<_> = futures::stream::iter(looks).buffered(CONCURRENT).collect().await;
        self.found.extend(found);
    }

    /// Says what may lie below components and isn't in the answer.
    pub(super) fn say(&self, stderr: &mut dyn Write) -> io::Result<()> {
        let hint = "addonctl why NAME shows more";
        let refused = self.found.values().filter(|found| !found.is_whole()).count();
        if refused > 0 {
            writeln!(
                stderr,
                "note: below {refused} components that aren't well not everything could be looked at; {hint}"
            )?;
        }
        match self.left_out {
            0 => Ok(()),
            more => {
                writeln!(stderr, "note: {more} more components that aren't well were not looked into; {hint}")
            }
        }
    }

    /// What explains each, as the controller would take it in.
    pub(super) fn explanations(&self) -> HashMap<Arc<str>, Explanation> {
        let steps = self.found.iter().filter_map(|(key, found)| match found {
            Found::Step(step) => Some((key.as_ref().into(), step.explanation())),
            Found::Gone | Found::Refused(_) => None,
        });
        steps.filter(|(_, explanation)| !explanation.steps.is_empty()).collect()
    }

    /// Whether nothing was refused that might have been shown.
    pub(super) fn are_whole(&self) -> bool {
        self.found.values().all(Found::is_whole)
    }

    /// Takes what was found below an object.
    pub(super) fn take(&mut self, object: &ObjectRef) -> Option<Found> {
        self.found.remove(&key(object))
    }
}

impl Found {
    fn is_whole(&self) -> bool {
        match self {
            Self::Step(step) => is_whole(step),
            Self::Gone => true,
            Self::Refused(_) => false,
        }
    }
}

fn is_whole(step: &Step) -> bool {
    let refused = |gap: &Gap| matches!(gap, Gap::Refused(Refusal::Forbidden(_) | Refusal::Failed { .. }));
    !step.gaps.iter().any(refused) && step.below.iter().all(is_whole)
}

impl Below {
    async fn look(&self, object: &ObjectRef, rules: &Rules, limits: Limits) -> Found {
        match self {
            Self::Cluster(server) => match explain::explain_by_name(server, object, rules, limits).await {
                Ok(Some(step)) => Found::Step(Box::new(step)),
                Ok(None) => Found::Gone,
                Err(refusal) => Found::Refused(refusal),
            },
            Self::Files(files, now) => {
                let kind = &object.kind;
                let named = Named::new(&kind.group, &kind.kind, &object.namespace, &object.name);
                match files.find(&named) {
                    Some(object) => {
                        let step = explain::explain(files, object, rules, limits, *now).await;
                        Found::Step(Box::new(step))
                    }
                    None => Found::Gone,
                }
            }
        }
    }
}
