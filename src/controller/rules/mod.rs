//! The rules of users: which are in force, and what follows when they change.

mod reader;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub(super) use self::reader::{RuleNews, RuleReader};
use crate::{
    api::{self, Identifier},
    discover::{Catalogue, ResourceName},
    health::{Acceptance, Decided, Register, Registered, Rule, Rules},
    metrics::{Metrics, RuleState},
    model::{Kind, StatusReporting},
    publish::RuleWish,
    summary::{Combination, WatchState},
    watch::{LiveRules, Turns},
};

/// The shortest time between two changes of the rules that hold: each lists kinds anew.
const GAP: Duration = Duration::from_millis(500);

/// How often it is looked whether an expression was switched off.
const CHECK: Duration = Duration::from_secs(5);

/// How many reports are taken in before what follows is computed.
const BATCH: usize = 1024;

/// What the rules of users depend on.
pub(super) struct RuleInputs {
    pub(super) news: mpsc::Receiver<RuleNews>,
    pub(super) catalogue: watch::Receiver<Option<Arc<Catalogue>>>,
}

/// Whom they concern.
pub(super) struct RuleOutputs {
    /// The rules that kinds are judged by.
    pub(super) live: LiveRules,
    /// How the components of add-ons combine.
    pub(super) combinations: watch::Sender<Arc<BTreeMap<Identifier, Combination>>>,
    /// What the objects are to say of themselves.
    pub(super) wishes: watch::Sender<Arc<Vec<RuleWish>>>,
    /// Those of the watch of the `StatusRule` objects.
    pub(super) turns: Turns,
    pub(super) metrics: Metrics,
}

/// Keeps the rules that hold the same as the `StatusRule` objects.
pub(super) struct UserRules {
    out: RuleOutputs,
    held: BTreeMap<String, Registered>,
    register: Register,
    decided: Decided,
    /// What fails in rules that are in force, and in built-in ones.
    troubles: Troubles,
    built_in_troubles: Troubles,
    state: WatchState,
    listed: bool,
    /// Something changed that wasn't decided about.
    open: bool,
    /// Before this the rules that hold don't change again.
    not_before: Instant,
}

impl UserRules {
    pub(super) fn new(out: RuleOutputs) -> Self {
        Self {
            out,
            held: BTreeMap::new(),
            register: Register::default(),
            decided: Decided::default(),
            troubles: Troubles::default(),
            built_in_troubles: Troubles::default(),
            state: WatchState::Syncing,
            listed: false,
            open: false,
            not_before: Instant::now(),
        }
    }

    /// Runs until `cancel`.
    pub(super) async fn run(mut self, mut from: RuleInputs, cancel: CancellationToken) {
        loop {
            let due = tokio::time::sleep_until(self.wake());
            tokio::select! {
                () = cancel.cancelled() => return,
                Some(news) = from.news.recv() => {
                    self.hear(news);
                    for _ in 1..BATCH {
                        let Ok(news) = from.news.try_recv() else { break };
                        self.hear(news);
                    }
                }
                Ok(()) = from.catalogue.changed() => {
                    // Their CustomResourceDefinition may have come.
                    self.out.turns.hurry();
                }
                () = due => {}
            }
            if self.are_gone(from.catalogue.borrow().as_deref()) {
                self.held.clear();
                self.open = true;
            }
            self.look_for_trouble();
            if self.open && self.listed && self.not_before <= Instant::now() {
                self.decide();
            }
        }
    }

    fn wake(&self) -> Instant {
        let now = Instant::now();
        let look = now + CHECK;
        if self.open && self.listed { self.not_before.clamp(now, look) } else { look }
    }

    fn hear(&mut self, news: RuleNews) {
        match news {
            RuleNews::Listed(rules) => {
                self.held = rules;
                (self.listed, self.open) = (true, true);
            }
            RuleNews::Changed(rule) => {
                self.held.insert(rule.name.clone(), *rule);
                self.open = true;
            }
            RuleNews::Gone(name) => self.open |= self.held.remove(&name).is_some(),
            RuleNews::State(state) => self.watched(state),
        }
    }

    /// Notes how the objects are watched.
    fn watched(&mut self, state: WatchState) {
        match &state {
            WatchState::Forbidden(why) => {
                tracing::warn!(%why, "may not read StatusRule objects: the built-in rules hold");
            }
            WatchState::Absent(_) => {
                tracing::info!("there is no StatusRule resource: the built-in rules hold");
            }
            WatchState::Failing(why) => tracing::warn!(%why, "can't read StatusRule objects"),
            WatchState::Synced if self.state.message().is_some() => {
                tracing::info!("StatusRule objects can be read");
            }
            WatchState::Synced | WatchState::Syncing | WatchState::Unserved(_) => {}
        }
        let is_answer = matches!(state, WatchState::Forbidden(_) | WatchState::Absent(_));
        self.state = state;
        if is_answer && !self.listed {
            self.out.live.settle();
        }
    }

    /// Whether the resource is known to be gone, and its objects with it.
    fn are_gone(&self, catalogue: Option<&Catalogue>) -> bool {
        let name = ResourceName { group: api::GROUP.to_owned(), plural: rule_kind().plural };
        let is_unknown = |catalogue: &Catalogue| {
            !(catalogue.kinds.contains_key(&name) || catalogue.stale.contains(&name.group))
        };
        matches!(self.state, WatchState::Absent(_))
            && !self.held.is_empty()
            && catalogue.is_some_and(is_unknown)
    }

    /// Looks how rules do: one of users of which an expression was switched off is no longer in force.
    fn look_for_trouble(&mut self) {
        let in_force = || self.decided.in_force.iter().map(|rule| &**rule);
        self.open |= in_force().any(|rule| rule.switched_off().is_some());
        for (rule, why) in self.troubles.found(in_force()) {
            tracing::warn!(rule, why, "a rule fails");
        }
        for (rule, why) in self.built_in_troubles.found(Rules::builtin().own()) {
            tracing::warn!(rule, why, "a built-in rule fails: what it was for is judged without it");
        }
    }

    fn decide(&mut self) {
        self.open = false;
        let before = std::mem::take(&mut self.decided);
        self.decided = self.register.decide(self.held.values());
        self.log(&before);
        let names: BTreeSet<&str> = self.decided.in_force.iter().map(|rule| rule.name()).collect();
        self.troubles.keep(&names);
        let changed = difference(&before.in_force, &self.decided.in_force);
        if !changed.is_empty() {
            let combines = self.decided.in_force.iter().filter_map(|rule| rule.combine());
            let combinations = Combination::of(combines);
            self.out.combinations.send_if_modified(|before| {
                let changed = **before != combinations;
                *before = Arc::new(combinations);
                changed
            });
            let rules = Rules::with(self.decided.in_force.iter().cloned());
            let concerned = |kind: &Kind| changed.iter().any(|rule| rule.is_for(&kind.group, &kind.kind));
            let kinds = self.out.live.replace(rules, concerned);
            let in_force = self.decided.in_force.len();
            tracing::info!(in_force, kinds, "the rules of users changed; these kinds are listed anew");
            self.not_before = Instant::now() + GAP;
        }
        self.out.live.settle();
        self.count();
        self.out.wishes.send_replace(Arc::new(self.wishes()));
    }

    fn wishes(&self) -> Vec<RuleWish> {
        let wish = |(name, acceptance): (&String, &Acceptance)| {
            let rule = self.held.get(name)?;
            Some(RuleWish {
                name: name.clone(),
                uid: rule.uid.clone(),
                generation: rule.generation,
                acceptance: acceptance.clone(),
                says: rule.accepted.clone(),
            })
        };
        self.decided.by_name.iter().filter_map(wish).collect()
    }

    fn log(&self, before: &Decided) {
        for (name, acceptance) in &self.decided.by_name {
            match acceptance {
                _ if before.by_name.get(name) == Some(acceptance) => {}
                Acceptance::Accepted => tracing::info!(rule = %name, "a StatusRule is in force"),
                refusal => {
                    let (reason, why) = (refusal.reason(), refusal.message());
                    tracing::warn!(rule = %name, reason, why, "a StatusRule is not in force");
                }
            }
        }
    }

    fn count(&self) {
        let mut counts = [0; RuleState::ALL.len()];
        for acceptance in self.decided.by_name.values() {
            let state = match acceptance {
                Acceptance::Accepted => RuleState::Accepted,
                Acceptance::SwitchedOff(_) => RuleState::SwitchedOff,
                Acceptance::Invalid(_) | Acceptance::Conflict(_) | Acceptance::TooMany(_) => {
                    RuleState::Refused
                }
            };
            counts[state as usize] += 1;
        }
        self.out.metrics.rules(counts);
    }
}

/// What was seen to fail, by name of the rule: a rule has few expressions, and each fails in a first way
/// and is switched off once.
#[derive(Debug, Default)]
struct Troubles {
    seen: BTreeSet<(String, String)>,
}

impl Troubles {
    /// What fails and wasn't seen before, with the name of the rule.
    fn found<'a>(&mut self, rules: impl Iterator<Item = &'a Rule>) -> Vec<(String, String)> {
        let troubled = rules.filter_map(|rule| Some((rule.name().to_owned(), rule.trouble()?)));
        troubled.filter(|trouble| self.seen.insert(trouble.clone())).collect()
    }

    /// Forgets all but the rules of these names.
    fn keep(&mut self, names: &BTreeSet<&str>) {
        self.seen.retain(|(name, _)| names.contains(name.as_str()));
    }
}

/// The kind of the objects.
pub(super) fn rule_kind() -> Kind {
    Kind {
        group: api::GROUP.to_owned(),
        version: api::VERSION.to_owned(),
        kind: "StatusRule".to_owned(),
        plural: "statusrules".to_owned(),
        namespaced: false,
        status: StatusReporting::Yes,
    }
}

/// The rules that are only in one of two lists.
fn difference(before: &[Arc<Rule>], after: &[Arc<Rule>]) -> Vec<Arc<Rule>> {
    let lacks = |list: &[Arc<Rule>], rule: &Arc<Rule>| !list.iter().any(|other| Arc::ptr_eq(other, rule));
    let gone = before.iter().filter(|rule| lacks(after, rule));
    let new = after.iter().filter(|rule| lacks(before, rule));
    gone.chain(new).cloned().collect()
}
