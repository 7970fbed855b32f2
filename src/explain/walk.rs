use std::{borrow::Cow, collections::HashSet, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{
    Gap, Lookup, Part, Refusal, Says, Source, Step,
    built_in::{self, asks_events, is_link},
    by_rule,
    choose::{Candidate, Found, likeliest, newest_revision},
    lead::{Bond, Lead, Target, Told},
    report::telling,
};
use crate::{
    health::{Rules, judge},
    model::{Health, Object, ObjectRef, Timeline, Timestamp, Verdict},
};

/// How an object is.
#[derive(Clone, Copy)]
pub(super) struct State<'a> {
    pub(super) verdict: &'a Verdict,
    /// Why, also where the verdict says that it has been so for too long.
    pub(super) reason: &'a str,
}

impl<'a> State<'a> {
    fn at(timeline: &'a Timeline, now: Timestamp) -> Self {
        Self { verdict: timeline.at(now), reason: &timeline.first.reason }
    }

    pub(super) fn health(self) -> Health {
        self.verdict.health
    }
}

/// How far an explanation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most objects that are fetched by name or gone into.
    pub objects: usize,
    /// The most steps down.
    pub depth: usize,
    /// How many of those that may explain an object are followed. One gives the best explanation alone.
    pub breadth: usize,
}

impl Limits {
    /// The best explanation of a component.
    pub const BEST: Self = Self { objects: 20, depth: 6, breadth: 1 };

    /// What people look at: also the next best.
    pub const WIDE: Self = Self { objects: 50, depth: 6, breadth: 3 };
}

/// Looks for the cause of what `object` is like at `now`. An object that is well is judged and not
/// looked into.
pub async fn explain<S: Source>(
    source: &S,
    object: &Object,
    rules: &Rules,
    limits: Limits,
    now: Timestamp,
) -> Step {
    let mut walk = Walk { source, rules, limits, now, visited: HashSet::new(), looked: 0 };
    walk.visited.insert(Visited::of(&object.reference));
    let timeline = judge(object, rules).timeline;
    let state = State::at(&timeline, now);
    let mut step = Step::new(object.reference.clone(), "".into(), Says::Verdict(state.verdict.clone()));
    if state.health().wants_cause() {
        walk.below(&mut step, object, state, 0).await;
    }
    step
}

struct Walk<'a, S> {
    source: &'a S,
    rules: &'a Rules,
    limits: Limits,
    now: Timestamp,
    visited: HashSet<Visited>,
    looked: usize,
}

/// Tells one object from another.
#[derive(PartialEq, Eq, Hash)]
struct Visited(String, String, Arc<str>, Box<str>);

impl Visited {
    fn of(object: &ObjectRef) -> Self {
        let (kind, namespace) = (&object.kind, Arc::clone(&object.namespace));
        Self(kind.group.clone(), kind.kind.clone(), namespace, object.name.clone())
    }
}

impl<S: Source> Walk<'_, S> {
    /// Adds to `step` what lies below its object, which is in this state.
    fn below<'b>(
        &'b mut self,
        step: &'b mut Step,
        object: &'b Object,
        state: State<'b>,
        depth: usize,
    ) -> BoxFuture<'b, ()> {
        async move {
            let leads = self.leads(object, state);
            let mut candidates = Vec::new();
            let mut nothing = None;
            for (place, lead) in leads.iter().enumerate() {
                if depth == self.limits.depth {
                    step.miss(Gap::TooDeep(depth));
                    break;
                }
                let found = self.follow(lead, step).await;
                if found.as_ref().is_some_and(Vec::is_empty) {
                    nothing = lead.lacking;
                }
                let listed = matches!(lead.target, Target::Many(_));
                candidates.extend(found.into_iter().flatten().map(|found| Candidate {
                    found,
                    lead: place,
                    bond: lead.bond,
                    pick: lead.pick,
                    listed,
                    told: lead.told.is_some(),
                }));
            }
            for candidate in likeliest(candidates, state.health(), self.now) {
                if step.below.len() == self.limits.breadth {
                    break;
                }
                let via = leads[candidate.lead].via.clone();
                self.enter(candidate, via, step, depth + 1).await;
            }
            if let Some(message) = nothing.filter(|_| step.below.is_empty()) {
                let says = Says::Lacks { reason: "NothingSelected", message: message.to_owned() };
                step.below.push(Step::new(object.reference.clone(), "".into(), says));
            }
            if step.below.is_empty() && asks_events(object, state) {
                self.report(step, state).await;
            }
        }
        .boxed()
    }

    fn leads(&self, object: &Object, state: State<'_>) -> Vec<Lead> {
        let kind = &object.reference.kind;
        let mut leads = built_in::leads(object, state);
        for rule in self.rules.of_kind(&kind.group, &kind.kind).causes() {
            for lead in by_rule::leads(object, state, rule) {
                if leads.iter().all(|known| known.target != lead.target) {
                    leads.push(lead);
                }
            }
        }
        leads
    }

    /// What a lead leads to; `None` where that can't be told.
    async fn follow(&mut self, lead: &Lead, step: &mut Step) -> Option<Vec<Found>> {
        match &lead.target {
            Target::One(named) => {
                if !self.may_look(step) {
                    return None;
                }
                match self.source.get(named).await {
                    Ok(Lookup::Found(object)) => Some(vec![self.judged(*object)]),
                    Ok(Lookup::Absent(reference)) => Some(vec![Found::Absent(reference)]),
                    Err(refusal) => {
                        step.miss(Gap::Refused(refusal));
                        let told = lead.told.as_ref()?;
                        Some(vec![Found::Told(named.reference(), told.clone())])
                    }
                }
            }
            Target::Many(_) if !self.may_look(step) => None,
            Target::Many(listing) => match self.source.list(listing).await {
                Ok(Part { items, more }) => {
                    if more {
                        step.miss(Gap::Part(listing.to_string()));
                    }
                    Some(newest_revision(items).into_iter().map(|object| self.judged(object)).collect())
                }
                Err(refusal) => self.refused(refusal, step),
            },
        }
    }

    fn judged(&self, object: Object) -> Found {
        let judgement = judge(&object, self.rules);
        Found::Object(Box::new(object), judgement)
    }

    fn refused<T>(&self, refusal: Refusal, step: &mut Step) -> Option<T> {
        step.miss(Gap::Refused(refusal));
        None
    }

    /// Counts one more object; false where there were enough.
    fn may_look(&mut self, step: &mut Step) -> bool {
        if self.looked == self.limits.objects {
            step.miss(Gap::TooMany(self.limits.objects));
            return false;
        }
        self.looked += 1;
        true
    }

    /// Adds `candidate` to what lies below `step`, where it explains something.
    async fn enter(&mut self, candidate: Candidate, via: Cow<'static, str>, step: &mut Step, depth: usize) {
        if !self.visited.insert(Visited::of(candidate.reference())) {
            return;
        }
        let Candidate { found, bond, listed, .. } = candidate;
        let (object, judgement) = match found {
            Found::Object(object, judgement) => (object, judgement),
            Found::Absent(reference) => {
                let says = Says::Lacks { reason: "NotFound", message: "doesn't exist".to_owned() };
                return step.below.push(Step::new(reference, via, says));
            }
            Found::Told(reference, Told { word, message }) => {
                let says = Says::Told { reason: word, message };
                return step.below.push(Step::new(reference, via, says));
            }
        };
        // What was fetched by its name is counted already.
        if listed && !self.may_look(step) {
            return;
        }
        let state = State::at(&judgement.timeline, self.now);
        let mut found = Step::new(object.reference.clone(), via, Says::Verdict(state.verdict.clone()));
        self.below(&mut found, &object, state, depth).await;
        let is_link = bond == Bond::Through || is_link(&object.reference, state);
        if is_link && found.below.is_empty() {
            found.gaps.into_iter().for_each(|gap| step.miss(gap));
        } else {
            step.below.push(found);
        }
    }

    /// Adds what was reported last about the object of `step`, where that tells more than its verdict.
    async fn report(&mut self, step: &mut Step, state: State<'_>) {
        match self.source.events(&step.object).await {
            Ok(Part { items, .. }) => {
                if let Some(event) = telling(items, state, self.now) {
                    let event =
                        Step::new(step.object.clone(), "reported about it".into(), Says::Event(event));
                    step.below.push(event);
                }
            }
            Err(refusal) => step.miss(Gap::Refused(refusal)),
        }
    }
}
