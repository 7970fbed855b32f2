//! Which faults there are now, and what was counted.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::watch;

use super::{
    fault::Fault,
    request::{Ask, Asked, When},
};

/// What the proxy and those who hold it share.
#[derive(Debug, Default)]
pub(super) struct Rules {
    state: Mutex<State>,
    /// Changes with the faults.
    changed: watch::Sender<()>,
    pub(super) page_size: AtomicUsize,
    pub(super) connections: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    made: u64,
    rules: Vec<Rule>,
    counts: BTreeMap<(String, Ask, bool), u64>,
}

#[derive(Debug)]
struct Rule {
    id: u64,
    when: When,
    fault: Fault,
    /// How often it may still happen.
    left: Option<usize>,
    happened: u64,
}

/// A fault that lasts until this is dropped.
#[derive(Debug)]
pub struct Injected {
    rules: Arc<Rules>,
    id: u64,
}

impl Injected {
    /// How often it has happened.
    pub fn happened(&self) -> u64 {
        let state = self.rules.lock();
        state.rules.iter().find(|rule| rule.id == self.id).map_or(0, |rule| rule.happened)
    }
}

impl Drop for Injected {
    fn drop(&mut self) {
        self.rules.lock().rules.retain(|rule| rule.id != self.id);
        self.rules.changed.send_replace(());
    }
}

impl Rules {
    pub(super) fn inject(rules: &Arc<Self>, when: When, fault: Fault, left: Option<usize>) -> Injected {
        let id = {
            let mut state = rules.lock();
            state.made += 1;
            let id = state.made;
            state.rules.push(Rule { id, when, fault, left, happened: 0 });
            id
        };
        rules.changed.send_replace(());
        Injected { rules: Arc::clone(rules), id }
    }

    /// The oldest fault that happens to this request before it is answered. It counts as happened.
    pub(super) fn early(&self, asked: &Asked) -> Option<Fault> {
        let mut state = self.lock();
        let rule = state.find(asked, Fault::is_early)?;
        rule.happens();
        Some(rule.fault.clone())
    }

    /// The oldest fault that may happen to an answer to this request, and its number.
    pub(super) fn late(&self, asked: &Asked) -> Option<(u64, Fault)> {
        let mut state = self.lock();
        state.find(asked, Fault::is_late).map(|rule| (rule.id, rule.fault.clone()))
    }

    /// Notes that a fault happened to an answer; false where it has happened often enough already.
    pub(super) fn happens(&self, id: u64) -> bool {
        let mut state = self.lock();
        match state.rules.iter_mut().find(|rule| rule.id == id && rule.left != Some(0)) {
            Some(rule) => {
                rule.happens();
                true
            }
            None => false,
        }
    }

    /// Whether a fault lasts still, even where it happens to nothing else any more.
    pub(super) fn is_there(&self, id: u64) -> bool {
        self.lock().rules.iter().any(|rule| rule.id == id)
    }

    /// Tells when there are other faults.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn counted(&self, asked: &Asked) {
        *self.lock().counts.entry((asked.path.clone(), asked.ask, asked.continued)).or_default() += 1;
    }

    pub(super) fn count(&self, when: &When) -> u64 {
        let state = self.lock();
        let meant = |(path, ask, continued): &(String, Ask, bool)| {
            when.matches(&Asked { ask: *ask, path: path.clone(), continued: *continued })
        };
        state.counts.iter().filter(|(key, _)| meant(key)).map(|(_, count)| count).sum()
    }

    pub(super) fn busiest(&self) -> Vec<(u64, Ask, String)> {
        let state = self.lock();
        let mut all: Vec<_> =
            state.counts.iter().map(|((path, ask, _), count)| (*count, *ask, path.clone())).collect();
        all.sort_by(|a, b| b.cmp(a));
        all
    }

    pub(super) fn opened(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, asked: &Asked, at: fn(&Fault) -> bool) -> Option<&mut Rule> {
        self.rules.iter_mut().find(|rule| rule.left != Some(0) && at(&rule.fault) && rule.when.matches(asked))
    }
}

impl Rule {
    fn happens(&mut self) {
        self.happened += 1;
        self.left = self.left.map(|left| left.saturating_sub(1));
    }
}
