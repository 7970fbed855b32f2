//! What is kept of a labelled object, in little room: what it has in common with others stands once.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use super::{Membership, ObjectKey, Observation, key::is_uuid, members, second::Second, shared::Shared};
use crate::{
    api::Identifier,
    model::{
        Condition, ConditionStatus, Fact, GroupKind, Health, Kind, Later, ObjectRef, Owner, SignedDuration,
        Timeline, Timestamp, Verdict,
    },
};

/// Stands for a generation that the object doesn't tell.
const NO_GENERATION: i64 = i64::MIN;

/// An [`Observation`] as it is kept. Everything that shows an object holds the same record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) key: ObjectKey,
    pub(super) kind: Arc<Kind>,
    pub(super) name: Box<str>,
    marks: Arc<Marks>,
    words: Arc<Words>,
    since: Second,
    conditions: Box<[Said]>,
    rare: Option<Box<Rare>>,
    /// Nobody is shown it: it is noted without a new record.
    generation: AtomicI64,
}

/// What objects of one add-on have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Marks {
    namespace: Arc<str>,
    memberships: Box<[Membership]>,
    version: Option<Box<str>>,
    informational: bool,
    superseded: bool,
}

/// What a verdict says, but for its time.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Words {
    health: Health,
    reason: Cow<'static, str>,
    message: Box<str>,
    rule: Cow<'static, str>,
}

/// A condition of an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    words: Arc<ConditionWords>,
    last_transition: Second,
}

/// What a condition says, but for its time.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ConditionWords {
    pub(super) kind: Box<str>,
    pub(super) status: ConditionStatus,
    pub(super) reason: Box<str>,
    pub(super) message: Box<str>,
}

/// What most objects don't have.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rare {
    /// The `uid`, where the key doesn't spell it.
    uid: Option<Box<str>>,
    controller: Option<(ObjectKey, Arc<Owner>)>,
    sums_up: Option<Identifier>,
    later: Option<Box<Later>>,
    patience: Option<SignedDuration>,
    facts: Box<[Fact]>,
}

/// What records have in common.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    marks: Shared<Marks>,
    words: Shared<Words>,
    conditions: Shared<ConditionWords>,
    owners: Shared<Owner>,
}

impl Vocabulary {
    /// What is to be kept of an object.
    pub(super) fn record(&mut self, observation: Observation) -> Record {
        let key = members::key(&observation.object);
        let ObjectRef { kind, namespace, name, uid } = observation.object;
        let marks = Marks {
            namespace,
            memberships: observation.memberships.into(),
            version: observation.version.map(Into::into),
            informational: observation.informational,
            superseded: observation.superseded,
        };
        let Timeline { first, later, patience } = observation.timeline;
        let Verdict { health, reason, message, since, rule } = first;
        let controller = observation.controller.filter(|owner| !owner.uid.is_empty());
        let controller = controller.map(|owner| (ObjectKey::of(&owner.uid), self.owners.get(*owner)));
        let rare = Rare {
            uid: (!is_uuid(&uid)).then_some(uid),
            controller,
            sums_up: observation.sums_up,
            later,
            patience,
            facts: observation.facts.into(),
        };
        Record {
            key,
            kind,
            name,
            marks: self.marks.get(marks),
            words: self.words.get(Words { health, reason, message: message.into(), rule }),
            since: since.into(),
            conditions: observation.conditions.into_iter().map(|condition| self.said(condition)).collect(),
            rare: (rare != Rare::default()).then(|| Box::new(rare)),
            generation: AtomicI64::new(observation.generation.unwrap_or(NO_GENERATION)),
        }
    }

    fn said(&mut self, condition: Condition) -> Said {
        let Condition { kind, status, reason, message, last_transition, observed_generation: _ } = condition;
        let words =
            ConditionWords { kind: kind.into(), status, reason: reason.into(), message: message.into() };
        Said { words: self.conditions.get(words), last_transition: last_transition.into() }
    }
}

impl PartialEq for Record {
    /// But for the generation.
    fn eq(&self, other: &Self) -> bool {
        let all = |record: &Self| (record.key, record.since);
        all(self) == all(other)
            && self.name == other.name
            && self.words == other.words
            && self.marks == other.marks
            && self.conditions == other.conditions
            && self.rare == other.rare
            && self.kind == other.kind
    }
}

impl Eq for Record {}

impl Record {
    pub(super) fn namespace(&self) -> &Arc<str> {
        &self.marks.namespace
    }

    /// Empty where the object has none.
    pub(super) fn uid(&self) -> Cow<'_, str> {
        let odd = self.rare.as_ref().and_then(|rare| rare.uid.as_deref());
        odd.map_or_else(|| self.key.to_uuid().into(), Cow::Borrowed)
    }

    /// The object in full.
    pub(super) fn object(&self) -> ObjectRef {
        ObjectRef {
            kind: Arc::clone(&self.kind),
            namespace: Arc::clone(self.namespace()),
            name: self.name.clone(),
            uid: self.uid().into(),
        }
    }

    pub(super) fn group_kind(&self) -> GroupKind {
        self.kind.group_kind()
    }

    /// Whether both are of one kind, in any version.
    pub(super) fn is_of_kind_of(&self, other: &Self) -> bool {
        (&self.kind.group, &self.kind.kind) == (&other.kind.group, &other.kind.kind)
    }

    /// Whether it is of this kind, in any version.
    pub(super) fn is_of(&self, kind: &GroupKind) -> bool {
        (&self.kind.group, &self.kind.kind) == (&kind.group, &kind.kind)
    }

    /// The add-ons that it belongs to, in order of identifier. Never empty.
    pub(super) fn memberships(&self) -> &[Membership] {
        &self.marks.memberships
    }

    /// The add-ons that it belongs to.
    pub(super) fn identifiers(&self) -> impl Iterator<Item = &Identifier> {
        self.memberships().iter().map(|membership| &membership.identifier)
    }

    /// The owner that controls it, with its key.
    pub(super) fn controller(&self) -> Option<(ObjectKey, &Owner)> {
        let (key, owner) = self.rare.as_ref()?.controller.as_ref()?;
        Some((*key, owner))
    }

    /// The add-on that it sums up, where it is an `Addon` itself.
    pub(super) fn sums_up(&self) -> Option<&Identifier> {
        self.rare.as_ref()?.sums_up.as_ref()
    }

    /// What becomes of it when time passes.
    pub(super) fn later(&self) -> Option<&Later> {
        self.rare.as_ref()?.later.as_deref()
    }

    /// How long it may stay as it is, counted by whoever watches.
    pub(super) fn patience(&self) -> Option<SignedDuration> {
        self.rare.as_ref()?.patience
    }

    /// What rules extracted from it.
    pub(super) fn facts(&self) -> &[Fact] {
        self.rare.as_ref().map(|rare| &*rare.facts).unwrap_or_default()
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.marks.version.as_deref()
    }

    /// Whether both have the same labels and live in the same namespace: quickly, so it may be that they
    /// do though it isn't told.
    pub(super) fn is_marked_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.marks, &other.marks)
    }

    /// It is shown and doesn't colour.
    pub(super) fn is_informational(&self) -> bool {
        self.marks.informational
    }

    /// It ended or was replaced, and says nothing any more about the owner that made it.
    pub(super) fn is_superseded(&self) -> bool {
        self.marks.superseded
    }

    pub(super) fn generation(&self) -> Option<i64> {
        Some(self.generation.load(Ordering::Relaxed)).filter(|generation| *generation != NO_GENERATION)
    }

    /// Notes the generation of `other`, which is the same but for that.
    pub(super) fn take_generation(&self, other: &Self) {
        self.generation.store(other.generation.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Its own conditions, in order of type.
    pub(super) fn conditions(&self) -> &[Said] {
        &self.conditions
    }

    /// The health that it has until time passes.
    pub(super) fn health(&self) -> Health {
        self.words.health
    }

    pub(super) fn reason(&self) -> &str {
        &self.words.reason
    }

    pub(super) fn message(&self) -> &str {
        &self.words.message
    }

    pub(super) fn rule(&self) -> &str {
        &self.words.rule
    }

    pub(super) fn since(&self) -> Second {
        self.since
    }

    /// How it is until time passes.
    pub(super) fn first(&self) -> Verdict {
        let Words { health, reason, message, rule } = &*self.words;
        Verdict {
            health: *health,
            reason: reason.clone(),
            message: message.to_string(),
            since: self.since.get(),
            rule: rule.clone(),
        }
    }

    /// The health that it has at a time, as it says itself.
    pub(super) fn health_at(&self, now: Timestamp) -> Health {
        match self.later() {
            Some(later) if later.at <= now => later.verdict.health,
            _ => self.health(),
        }
    }

    /// How it is, and what becomes of that.
    pub(super) fn timeline(&self) -> Timeline {
        Timeline {
            first: self.first(),
            later: self.rare.as_ref().and_then(|rare| rare.later.clone()),
            patience: self.patience(),
        }
    }

    /// Whether it carries the label of this add-on.
    pub(super) fn belongs_to(&self, identifier: &Identifier) -> bool {
        self.identifiers().any(|known| known == identifier)
    }

    /// The pairs of parent and child that it makes, where it is an `Addon`.
    pub(super) fn nests(&self) -> Vec<(Identifier, Identifier)> {
        let Some(child) = self.sums_up() else { return Vec::new() };
        self.identifiers().map(|parent| (parent.clone(), child.clone())).collect()
    }
}

impl fmt::Display for Record {
    /// As an [`ObjectRef`] is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind.kind)?;
        if !self.namespace().is_empty() {
            write!(f, "{}/", self.namespace())?;
        }
        f.write_str(&self.name)
    }
}

impl Said {
    pub(super) fn words(&self) -> &ConditionWords {
        &self.words
    }

    /// When its status changed last.
    pub(super) fn last_transition(&self) -> Option<Timestamp> {
        self.last_transition.get()
    }
}
