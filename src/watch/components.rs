use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use memchr::memmem;

use super::{Reader, Seen};
use crate::{
    api::LabelPrefix,
    health::SharedRules,
    model::{Kind, decode::Raw},
    summary::{Observation, WatchState, object_key},
};

/// What happened to a kind.
#[derive(Clone, Debug)]
pub struct Report {
    /// The kind.
    pub kind: Arc<Kind>,
    /// What happened.
    pub news: News,
}

/// What happened to the labelled objects of a kind, or to its watch.
#[derive(Clone, Debug)]
pub enum News {
    /// The kind was listed whole: these are all.
    Listed(Vec<Observation>),
    /// An object has the label, and is so.
    Changed(Box<Observation>),
    /// The object with this key is gone or has no label any more.
    Gone(Box<str>),
    /// How the kind is watched.
    State(WatchState),
    /// The kind is not served any more.
    Left,
}

/// Reads the labelled objects of a kind. Of objects without the label nothing is kept.
pub struct ComponentReader {
    kind: Arc<Kind>,
    prefix: LabelPrefix,
    rules: SharedRules,
    finder: memmem::Finder<'static>,
    /// The keys of the labelled objects: an event that doesn't show the label any more takes one away.
    known: HashSet<Box<str>>,
    staged: HashMap<Box<str>, Observation>,
}

impl ComponentReader {
    /// A reader of the objects of `kind` that carry a label of `prefix`, each judged by `rules` as they
    /// are when it comes.
    pub fn new(kind: Arc<Kind>, prefix: LabelPrefix, rules: SharedRules) -> Self {
        let finder = memmem::Finder::new(prefix.as_str().as_bytes()).into_owned();
        Self { kind, prefix, rules, finder, known: HashSet::new(), staged: HashMap::new() }
    }

    /// The object, where it carries a label. Most JSON doesn't hold the prefix anywhere and is not
    /// looked at further: the API server doesn't escape slashes.
    fn observe(&self, seen: &Seen<'_>) -> Option<Observation> {
        self.finder.find(seen.json)?;
        match seen.decode::<Raw>() {
            Ok(raw) => {
                let object = raw.into_object(Arc::clone(&self.kind))?;
                Observation::of(&object, &self.prefix, &self.rules.load())
            }
            Err(error) => {
                let name = crate::model::text::name(&seen.head.name);
                tracing::warn!(kind = %self.kind.resource_name(), %name, %error, "an object can't be read");
                None
            }
        }
    }

    fn key(&self, seen: &Seen<'_>) -> Box<str> {
        object_key(&self.kind, &seen.head.namespace, &seen.head.name, &seen.head.uid)
    }

    fn report(&self, news: News) -> Option<Report> {
        Some(Report { kind: Arc::clone(&self.kind), news })
    }

    fn forget(&mut self, seen: &Seen<'_>) -> Option<Report> {
        let key = self.known.take(&self.key(seen))?;
        self.report(News::Gone(key))
    }
}

impl Reader for ComponentReader {
    type News = Report;

    fn begin(&mut self) {
        self.staged.clear();
    }

    fn listed(&mut self, seen: &Seen<'_>) {
        match self.observe(seen) {
            Some(observation) => drop(self.staged.insert(self.key(seen), observation)),
            None => self.unlisted(seen),
        }
    }

    fn unlisted(&mut self, seen: &Seen<'_>) {
        if !self.staged.is_empty() {
            self.staged.remove(&self.key(seen));
        }
    }

    fn complete(&mut self) -> Option<Report> {
        let staged = std::mem::take(&mut self.staged);
        self.known = staged.keys().cloned().collect();
        self.report(News::Listed(staged.into_values().collect()))
    }

    fn changed(&mut self, seen: &Seen<'_>) -> Option<Report> {
        match self.observe(seen) {
            Some(observation) => {
                self.known.insert(self.key(seen));
                self.report(News::Changed(Box::new(observation)))
            }
            None => self.forget(seen),
        }
    }

    fn deleted(&mut self, seen: &Seen<'_>) -> Option<Report> {
        self.forget(seen)
    }

    fn state(&mut self, state: &WatchState) -> Option<Report> {
        self.report(News::State(state.clone()))
    }
}
