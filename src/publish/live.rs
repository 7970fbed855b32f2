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

/// What is kept of an `Addon` as the API server holds it.
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
    /// The name of `addon` and what is kept of it; `None` for one without a name.
    pub(super) fn of(addon: Addon) -> Option<(String, Self)> {
        let name = addon.metadata.name?;
        let managed = addon
            .metadata
            .labels
            .is_some_and(|labels| labels.get(MANAGED_BY).is_some_and(|by| by == MANAGER));
        let identifier = addon.spec.identifier;
        let named = Identifier::new(&identifier).is_some_and(|identifier| object_name(&identifier) == name);
        let live = Self {
            uid: addon.metadata.uid.unwrap_or_default(),
            version: addon.metadata.resource_version.and_then(|version| version.parse().ok()),
            status: Digest::of(addon.status.as_ref()),
            managed,
            identifier,
            named,
            created: addon.metadata.creation_timestamp.map_or(Timestamp::UNIX_EPOCH, |time| time.0),
            deleting: addon.metadata.deletion_timestamp.is_some(),
            before: addon.status.filter(|_| !managed).map(|status| {
                Box::new(AddonStatus { conditions: status.conditions, ..AddonStatus::default() })
            }),
        };
        Some((name, live))
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
