use std::{fmt, sync::Arc};

use serde_json::Value;

use super::Timestamp;

/// A kind of object, as the API server serves it or as a file names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// API group, empty for the core group.
    pub group: String,
    /// API version, for example `v1`.
    pub version: String,
    /// For example `Deployment`.
    pub kind: String,
    /// The resource, for example `deployments`.
    pub plural: String,
    /// Whether its objects live in a namespace.
    pub namespaced: bool,
    /// Whether its objects report a status.
    pub status: StatusReporting,
}

/// Whether objects of a kind report a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusReporting {
    /// The kind has a status subresource: a missing status means that nobody has looked yet.
    Yes,
    /// The kind has none: it is well because it exists.
    No,
    /// Nobody said (objects from files, custom resources without the subresource).
    Unsaid,
}

/// The group and the version in an `apiVersion`. The core group is empty.
pub fn group_version(api_version: &str) -> (&str, &str) {
    api_version.rsplit_once('/').unwrap_or(("", api_version))
}

impl Kind {
    /// The kind that an object names by `apiVersion` and `kind`. What only an API server knows stays
    /// open: there is no resource, it counts as namespaced, and nobody said whether it reports a status.
    pub fn named(api_version: &str, kind: &str) -> Self {
        let (group, version) = group_version(api_version);
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: String::new(),
            namespaced: true,
            status: StatusReporting::Unsaid,
        }
    }

    /// The group and kind without the version: what stays the same when the served version changes.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }

    /// `apiVersion` as it stands in an object: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Whether the metadata of its objects says all that there is to say of how they are.
    pub fn is_read_by_metadata(&self) -> bool {
        self.status == StatusReporting::No
    }

    /// `deployments.apps`, the name that kubectl takes.
    pub fn resource_name(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }
}

/// A group and a kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// API group, empty for the core group.
    pub group: String,
    /// For example `Deployment`.
    pub kind: String,
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

/// Names one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectRef {
    /// Its kind, shared by all objects of the kind.
    pub kind: Arc<Kind>,
    /// Empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Box<str>,
    /// `metadata.uid`. Empty for objects from files that have none.
    pub uid: Box<str>,
}

impl fmt::Display for ObjectRef {
    /// `Deployment ingress/controller`, `Namespace ingress`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// An owner that an object names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The owner's `uid`.
    pub uid: Box<str>,
    /// The owner's group.
    pub group: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name. It lives in the same namespace or is cluster-scoped.
    pub name: String,
}

/// An object as far as judging it needs: read from a watch, a list or a file, judged and dropped.
#[derive(Clone, Debug)]
pub struct Object {
    /// Which object it is.
    pub reference: ObjectRef,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Timestamp>,
    /// `metadata.deletionTimestamp`: when it is to be gone.
    pub deletion: Option<Timestamp>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// `metadata.labels`.
    pub labels: Vec<(String, String)>,
    /// `metadata.annotations`, without the big ones that no rule reads.
    pub annotations: Vec<(String, String)>,
    /// The owner that is marked as the controller.
    pub controller: Option<Owner>,
    /// The `uid`s of all owners.
    pub owners: Vec<Box<str>>,
    /// `spec`, `Null` where there is none.
    pub spec: Value,
    /// `status`, `Null` where there is none.
    pub status: Value,
    /// `webhooks`, where the configuration of an admission webhook holds what others keep in a spec.
    pub webhooks: Value,
}
