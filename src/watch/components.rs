use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use memchr::memmem;

use super::{Compared, Known, Reader, Seen};
use crate::{
    api::LabelPrefix,
    health::SharedRules,
    model::{Kind, Object, decode::Raw},
    summary::{ObjectKey, Observation, WatchState, object_key},
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
    known: HashMap<ObjectKey, Version>,
    staged: HashMap<ObjectKey, (Version, Observation)>,
    versions: RandomState,
}

/// Tells one resource version from another, in little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version(u64);

impl ComponentReader {
    /// A reader of the objects of `kind` that carry a label of `prefix`, each judged by `rules` as they
    /// are when it comes.
    pub fn new(kind: Arc<Kind>, prefix: LabelPrefix, rules: SharedRules) -> Self {
        let finder = memmem::Finder::new(prefix.as_str().as_bytes()).into_owned();
        let (known, staged) = (HashMap::new(), HashMap::new());
        Self { kind, prefix, rules, finder, known, staged, versions: RandomState::new() }
    }

    /// The object, judged, where it carries a label. Most of what comes doesn't hold the prefix anywhere
    /// and is not looked at further: the API server doesn't escape slashes.
    fn observe(&self, seen: &Seen<'_>) -> Option<Observation> {
        Observation::of(&self.read(seen)?, &self.prefix, &self.rules.load())
    }

    /// The object, where it may carry a label.
    fn read(&self, seen: &Seen<'_>) -> Option<Object> {
        if !seen.holds(&self.finder) {
            return None;
        }
        match seen.decode::<Raw>() {
            Ok(raw) => raw.into_object(Arc::clone(&self.kind)),
            Err(error) => {
                let name = crate::model::text::name(&seen.head.name);
                tracing::warn!(kind = %self.kind.resource_name(), %name, %error, "an object can't be read");
                None
            }
        }
    }

    fn is_labelled(&self, seen: &Seen<'_>) -> bool {
        self.read(seen).is_some_and(|object| Observation::is_of(&object, &self.prefix))
    }

    fn name(&self, seen: &Seen<'_>) -> Box<str> {
        object_key(&self.kind, &seen.head.namespace, &seen.head.name, &seen.head.uid)
    }

    fn key(&self, seen: &Seen<'_>) -> ObjectKey {
        ObjectKey::naming(&self.kind, &seen.head.namespace, &seen.head.name, &seen.head.uid)
    }

    fn version(&self, seen: &Seen<'_>) -> Version {
        Version(self.versions.hash_one(&*seen.head.resource_version))
    }

    fn report(&self, news: News) -> Option<Report> {
        Some(Report { kind: Arc::clone(&self.kind), news })
    }

    fn forget(&mut self, seen: &Seen<'_>) -> Option<Report> {
        self.known.remove(&self.key(seen))?;
        self.report(News::Gone(self.name(seen)))
    }
}

impl Reader for ComponentReader {
    type News = Report;

    fn begin(&mut self) {
        self.staged.clear();
    }

    fn listed(&mut self, seen: &Seen<'_>) -> bool {
        let Some(observation) = self.observe(seen) else { return false };
        self.staged.insert(self.key(seen), (self.version(seen), observation));
        true
    }

    fn complete(&mut self) -> Option<Report> {
        let staged = std::mem::take(&mut self.staged);
        self.known = staged.iter().map(|(key, (version, _))| (*key, *version)).collect();
        self.report(News::Listed(staged.into_values().map(|(_, observation)| observation).collect()))
    }

    fn changed(&mut self, seen: &Seen<'_>) -> Option<Report> {
        match self.observe(seen) {
            Some(observation) => {
                self.known.insert(self.key(seen), self.version(seen));
                self.report(News::Changed(Box::new(observation)))
            }
            None => self.forget(seen),
        }
    }

    fn deleted(&mut self, seen: &Seen<'_>) -> Option<Report> {
        self.forget(seen)
    }

    fn wants(&self, seen: &Seen<'_>) -> bool {
        self.is_labelled(seen)
    }

    fn state(&mut self, state: &WatchState) -> Option<Report> {
        self.report(News::State(state.clone()))
    }

    fn known(&self) -> Option<Known> {
        Some(Known(self.known.len()))
    }

    fn compare(&self, seen: &Seen<'_>) -> Compared {
        match (self.is_labelled(seen), self.known.get(&self.key(seen))) {
            (false, None) => Compared::Alien,
            (true, None) => Compared::New,
            (true, Some(version)) if *version == self.version(seen) => Compared::Same,
            (_, Some(_)) => Compared::Changed,
        }
    }
}
