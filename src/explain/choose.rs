//! Which of the objects that were found may be the cause.

use std::cmp::Reverse;

use super::lead::{Bond, Pick, Told};
use crate::{
    health::Judgement,
    model::{Health, Object, ObjectRef, Timestamp, Verdict},
};

/// An object that was found.
pub(super) struct Candidate {
    pub(super) found: Found,
    /// The place of its lead among all.
    pub(super) lead: usize,
    pub(super) bond: Bond,
    pub(super) pick: Pick,
    /// It was among others in a list.
    pub(super) listed: bool,
    /// The object that it was found from says that it fails or isn't there.
    pub(super) told: bool,
}

pub(super) enum Found {
    Object(Box<Object>, Judgement),
    /// There is no such object.
    Absent(ObjectRef),
    /// It can't be looked at, and is said not to be well.
    Told(ObjectRef, Told),
}

impl Candidate {
    pub(super) fn reference(&self) -> &ObjectRef {
        match &self.found {
            Found::Object(object, _) => &object.reference,
            Found::Absent(reference) | Found::Told(reference, _) => reference,
        }
    }

    /// Whether it may explain an object whose health is `above`.
    fn may_explain(&self, above: Health, now: Timestamp) -> bool {
        let judgement = match &self.found {
            Found::Object(_, judgement) => judgement,
            Found::Absent(_) => return self.bond.tells_by_absence(),
            Found::Told(..) => return true,
        };
        if judgement.superseded && self.pick != Pick::Ended {
            return false;
        }
        let verdict = judgement.timeline.at(now);
        let health = verdict.health;
        match self.bond {
            Bond::Through => true,
            Bond::Made | Bond::Needs | Bond::Mentions => health.wants_cause() || is_stuck(verdict),
            Bond::Refers => {
                let is_enough = above != Health::Degraded || health == Health::Degraded;
                (health.wants_cause() && is_enough) || is_stuck(verdict)
            }
        }
    }

    fn rank(&self, now: Timestamp) -> u8 {
        match &self.found {
            // What it is said to be is what makes the other ill.
            Found::Object(_, judgement) if !self.told => judgement.timeline.at(now).health.rank(),
            _ => Health::Degraded.rank(),
        }
    }

    fn created(&self) -> Option<Timestamp> {
        match &self.found {
            Found::Object(object, _) if self.pick == Pick::Ended => object.created,
            _ => None,
        }
    }
}

/// Those that may explain an object whose health is `above`, the likeliest first: the worst, then in
/// the order of the leads, then by name.
pub(super) fn likeliest(mut candidates: Vec<Candidate>, above: Health, now: Timestamp) -> Vec<Candidate> {
    candidates.retain(|candidate| candidate.may_explain(above, now));
    candidates.sort_by(|a, b| {
        let key = |c: &Candidate| (c.rank(now), c.lead, Reverse(c.created()));
        let name = |c: &Candidate| {
            let reference = c.reference();
            (reference.namespace.clone(), reference.name.clone(), reference.uid.clone())
        };
        key(a).cmp(&key(b)).then_with(|| name(a).cmp(&name(b)))
    });
    candidates
}

/// Something that doesn't go away holds up what waits for it to be gone.
fn is_stuck(verdict: &Verdict) -> bool {
    verdict.health == Health::Terminating && verdict.reason == "DeletionStuck"
}

/// Of objects that carry a revision only the newest: the others were replaced by it.
pub(super) fn newest_revision(objects: Vec<Object>) -> Vec<Object> {
    let newest = objects.iter().filter_map(revision).max();
    match newest {
        Some(newest) => objects.into_iter().filter(|object| revision(object) == Some(newest)).collect(),
        None => objects,
    }
}

/// The number that controllers write into an annotation such as `deployment.kubernetes.io/revision`.
fn revision(object: &Object) -> Option<u64> {
    let revisions = object.annotations.iter().filter(|(key, _)| key.ends_with("revision"));
    revisions.filter_map(|(_, value)| value.parse().ok()).max()
}

/// Whether `owner` is among the owners of `object`.
pub(super) fn is_owned_by(object: &Object, owner: &ObjectRef) -> bool {
    if !owner.uid.is_empty() {
        return object.owners.contains(&owner.uid);
    }
    // A file that gives no uids.
    object.controller.as_ref().is_some_and(|controller| {
        controller.uid.is_empty()
            && (&*controller.group, &*controller.kind, &*controller.name)
                == (&*owner.kind.group, &*owner.kind.kind, &*owner.name)
    })
}
