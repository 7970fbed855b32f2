use sha2::{Digest as _, Sha256};

use super::{MANAGED_BY, MANAGER};
use crate::{
    api::{Addon, AddonStatus, Identifier, object_name},
    model::Timestamp,
};

/// Tells one status from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(status: Option<&AddonStatus>) -> Self {
        // Our own type can always be written; were it not, the API server would be sent nothing either.
        Self(Sha256::digest(serde_json::to_vec(&status).unwrap_or_default()).into())
    }
}

/// An `Addon` as the API server holds it: as much of it as tells whether to write it.
#[derive(Clone, Debug)]
pub struct Held {
    pub(super) name: String,
    pub(super) live: Live,
}

impl Held {
    /// What is kept of `addon`; `None` for one without a name.
    pub fn of(addon: &Addon) -> Option<Self> {
        Some(Self { name: addon.metadata.name.clone()?, live: Live::of(addon) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it carries the label that says that we made it.
    pub fn is_ours(&self) -> bool {
        self.live.managed
    }

    /// Which add-on it says that it sums up; `None` where that is no identifier.
    pub fn identifier(&self) -> Option<Identifier> {
        Identifier::new(&self.live.identifier)
    }
}

/// What is kept of an `Addon`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Live {
    pub uid: String,
    /// `None` where it isn't a number, which the API server never says.
    pub version: Option<u64>,
    pub status: Digest,
    /// It carries the label that says that we made it.
    pub managed: bool,
    /// `spec.identifier`.
    pub identifier: String,
    /// Its name is that of its identifier.
    pub named: bool,
    pub created: Timestamp,
    /// It is being deleted and waits for a finalizer.
    pub deleting: bool,
    /// What it says itself, where a notice may be written into it.
    pub before: Option<Box<AddonStatus>>,
}

impl Live {
    pub(super) fn of(addon: &Addon) -> Self {
        let Addon { metadata, spec, status } = addon;
        let labels = metadata.labels.as_ref();
        let managed = labels.and_then(|labels| labels.get(MANAGED_BY)).is_some_and(|by| by == MANAGER);
        let own_name = Identifier::new(&spec.identifier).map(|identifier| object_name(&identifier));
        let version = metadata.resource_version.as_ref();
        Self {
            uid: metadata.uid.clone().unwrap_or_default(),
            version: version.and_then(|version| version.parse().ok()),
            status: Digest::of(status.as_ref()),
            managed,
            identifier: spec.identifier.clone(),
            named: own_name.is_some_and(|own| Some(&own) == metadata.name.as_ref()),
            created: metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0),
            deleting: metadata.deletion_timestamp.is_some(),
            before: status.as_ref().filter(|_| !managed).map(|status| {
                Box::new(AddonStatus { conditions: status.conditions.clone(), ..AddonStatus::default() })
            }),
        }
    }

    /// Whether nothing differs but the version.
    pub(super) fn says_the_same_as(&self, other: &Self) -> bool {
        Self { version: other.version, ..self.clone() } == *other
    }

    /// Whether it is known to be older than `other`. Versions are numbers of one sequence.
    pub(super) fn is_older_than(&self, other: &Self) -> bool {
        self.version.zip(other.version).is_some_and(|(own, other)| own < other)
    }
}
