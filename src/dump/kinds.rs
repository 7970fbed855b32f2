use std::{collections::HashMap, sync::Arc};

use crate::model::{Kind, text};

/// Every kind that was read, each once.
#[derive(Default)]
pub(super) struct Kinds(HashMap<(String, String, bool), Arc<Kind>>);

impl Kinds {
    /// The kind that an object names. A file doesn't say whether a kind is namespaced or what its
    /// resource is called: the first is read off the object, the second is guessed.
    pub fn kind(&mut self, api_version: &str, kind: &str, namespaced: bool) -> Arc<Kind> {
        let key = (text::name(api_version), text::name(kind), namespaced);
        if let Some(known) = self.0.get(&key) {
            return Arc::clone(known);
        }
        let new = Arc::new(Kind { plural: plural(&key.1), namespaced, ..Kind::named(&key.0, &key.1) });
        self.0.insert(key, Arc::clone(&new));
        new
    }
}

/// The resource of a kind, guessed as kubectl does where it has no discovery
/// (`meta.UnsafeGuessKindToResource` of apimachinery).
fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        return singular;
    }
    match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if singular.ends_with('s') => format!("{singular}es"),
        None => format!("{singular}s"),
    }
}

/// Orders versions of an API as Kubernetes does: stable before beta before alpha before any other
/// word, then by number. The greater is the preferred one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionRank(u8, u64, u64);

impl VersionRank {
    pub fn of(version: &str) -> Self {
        Self::parse(version).unwrap_or(Self(0, 0, 0))
    }

    fn parse(version: &str) -> Option<Self> {
        let rest = version.strip_prefix('v')?;
        for (word, stability) in [("beta", 2), ("alpha", 1)] {
            if let Some((major, minor)) = rest.split_once(word) {
                return Some(Self(stability, major.parse().ok()?, minor.parse().ok()?));
            }
        }
        Some(Self(3, rest.parse().ok()?, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_guessed_as_kubectl_does() {
        for (kind, expected) in [
            ("Deployment", "deployments"),
            ("NetworkPolicy", "networkpolicies"),
            ("Ingress", "ingresses"),
            ("Endpoints", "endpoints"),
            ("StorageClass", "storageclasses"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn kinds_are_shared() {
        let mut kinds = Kinds::default();
        let first = kinds.kind("apps/v1", "Deployment", true);
        assert!(Arc::ptr_eq(&first, &kinds.kind("apps/v1", "Deployment", true)));
        assert_eq!((&*first.group, &*first.version, &*first.api_version()), ("apps", "v1", "apps/v1"));
        assert_eq!(kinds.kind("v1", "Namespace", false).group, "");
    }

    #[test]
    fn stable_versions_come_first() {
        let order = ["x", "v1alpha1", "v1alpha2", "v1beta1", "v2beta1", "v2beta2", "v1", "v2", "v10"];
        assert!(order.is_sorted_by_key(|version| VersionRank::of(version)));
    }
}
