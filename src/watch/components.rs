use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use super::{
    Compared, Known, Reader, Seen,
    labels::{Illegible, LabelFinder},
};
use crate::{
    api::LabelPrefix,
    health::SharedRules,
    model::Kind,
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
    /// The kind was listed whole: these are all, and some known ones that can't be read now.
    Listed(Vec<Observation>, Vec<ObjectKey>),
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
    labels: LabelFinder,
    rules: SharedRules,
    /// The keys of the labelled objects: an event that doesn't show the label any more takes one away.
    known: HashMap<ObjectKey, Version>,
    staged: HashMap<ObjectKey, (Version, Observation)>,
    /// What is known and can't be read in the list that is staged.
    unread: Vec<ObjectKey>,
    versions: RandomState,
}

/// A resource version in little room: its number, or the hash of what is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version(u64);

/// Set in hashes. Numbers are those of etcd, which are positive.
const HASH: u64 = 1 << 63;

impl Version {
    /// Whether both are numbers, which count up (Kubernetes says so of all its own resources), and this
    /// is the greater one.
    fn is_newer_than(self, other: Self) -> bool {
        (self.0 | other.0) & HASH == 0 && self.0 > other.0
    }
}

impl ComponentReader {
    /// A reader of the objects of `kind` that carry a label of `prefix`, each judged by `rules` as they
    /// are when it comes.
    pub fn new(kind: Arc<Kind>, prefix: LabelPrefix, rules: SharedRules) -> Self {
        let labels = LabelFinder::new(kind, prefix);
        let (known, staged) = (HashMap::new(), HashMap::new());
        Self { labels, rules, known, staged, unread: Vec::new(), versions: RandomState::new() }
    }

    /// Whether a label with this key makes an object a component.
    pub fn takes(&self, key: &str) -> bool {
        self.labels.prefix().identifier(key).is_some()
    }

    /// The object, judged, where it carries a label.
    fn observe(&self, seen: &Seen<'_>) -> Result<Option<Observation>, Illegible> {
        let object = self.labels.read(seen)?;
        Ok(object.and_then(|object| Observation::of(&object, self.labels.prefix(), &self.rules.load())))
    }

    fn is_labelled(&self, seen: &Seen<'_>) -> Result<bool, Illegible> {
        let object = self.labels.read(seen)?;
        Ok(object.is_some_and(|object| Observation::is_of(&object, self.labels.prefix())))
    }

    fn name(&self, seen: &Seen<'_>) -> Box<str> {
        object_key(self.labels.kind(), &seen.head.namespace, &seen.head.name, &seen.head.uid)
    }

    fn key(&self, seen: &Seen<'_>) -> ObjectKey {
        ObjectKey::naming(self.labels.kind(), &seen.head.namespace, &seen.head.name, &seen.head.uid)
    }

    fn version(&self, seen: &Seen<'_>) -> Version {
        let text = &*seen.head.resource_version;
        let number = text.parse().ok().filter(|number| number & HASH == 0);
        Version(number.unwrap_or_else(|| self.versions.hash_one(text) | HASH))
    }

    fn report(&self, news: News) -> Option<Report> {
        Some(Report { kind: Arc::clone(self.labels.kind()), news })
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
        self.unread.clear();
    }

    fn listed(&mut self, seen: &Seen<'_>) -> bool {
        match self.observe(seen) {
            Ok(Some(observation)) => {
                self.staged.insert(self.key(seen), (self.version(seen), observation));
                true
            }
            Ok(None) => false,
            // What was known of it holds.
            Err(Illegible) => {
                let key = self.key(seen);
                let is_known = self.known.contains_key(&key);
                if is_known {
                    self.unread.push(key);
                }
                is_known
            }
        }
    }

    fn complete(&mut self) -> Option<Report> {
        let staged = std::mem::take(&mut self.staged);
        let unread = std::mem::take(&mut self.unread);
        let versions = staged.iter().map(|(key, (version, _))| (*key, *version));
        let held = unread.iter().filter_map(|key| Some((*key, *self.known.get(key)?)));
        self.known = versions.chain(held).collect();
        self.report(News::Listed(staged.into_values().map(|(_, observation)| observation).collect(), unread))
    }

    fn changed(&mut self, seen: &Seen<'_>) -> Option<Report> {
        match self.observe(seen) {
            Ok(Some(observation)) => {
                self.known.insert(self.key(seen), self.version(seen));
                self.report(News::Changed(Box::new(observation)))
            }
            Ok(None) => self.forget(seen),
            // What was known of it holds.
            Err(Illegible) => None,
        }
    }

    fn deleted(&mut self, seen: &Seen<'_>) -> Option<Report> {
        self.forget(seen)
    }

    fn wants(&self, seen: &Seen<'_>) -> bool {
        // What can't be read of its metadata may be read whole.
        self.is_labelled(seen).unwrap_or(true)
    }

    fn state(&mut self, state: &WatchState) -> Option<Report> {
        self.report(News::State(state.clone()))
    }

    fn known(&self) -> Option<Known> {
        Some(Known(self.known.len()))
    }

    fn compare(&self, seen: &Seen<'_>) -> Compared {
        let known = self.known.get(&self.key(seen));
        match (self.is_labelled(seen).unwrap_or(known.is_some()), known) {
            (false, None) => Compared::Alien,
            (true, None) => Compared::New,
            // An object that was read by itself may be newer than what the watch has come to.
            (_, Some(known)) if known.is_newer_than(self.version(seen)) => Compared::Same,
            (true, Some(known)) if *known == self.version(seen) => Compared::Same,
            (_, Some(_)) => Compared::Changed,
        }
    }
}
