use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kube::client::{APIGroupDiscovery, APIResourceDiscovery, APIVersionDiscovery};

use super::{Selection, selection::is_addon};
use crate::model::{GroupKind, Kind, StatusReporting};

/// The kinds that are to be watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// By group and resource.
    pub kinds: BTreeMap<ResourceName, Arc<Kind>>,
    /// The groups whose documents are stale: what is known of them may be out of date.
    pub stale: BTreeSet<String>,
    /// What could be watched and is not to be. `Addon` isn't among them: it is followed apart.
    pub excluded: BTreeMap<ResourceName, Arc<Kind>>,
    /// What can be listed and is not to be left out, and why it can't be watched.
    pub unwatchable: BTreeMap<ResourceName, (Arc<Kind>, &'static str)>,
    /// It was read from an API server that says that it isn't up whole yet: what is missing may come.
    pub is_preliminary: bool,
}

/// Why a resource that can be listed isn't watched.
const UNWATCHED: &str = "it can be listed and not watched";
const DOUBLED: &str = "another resource of its group shows the same objects";

/// A group and the plural name of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceName {
    /// API group, empty for the core group.
    pub group: String,
    /// For example `deployments`.
    pub plural: String,
}

impl Catalogue {
    /// The kinds among `groups` that can be listed and watched and that `selection` takes, each in
    /// the first version, in the group's order of preference, that serves it so.
    pub fn resolve(
        groups: impl IntoIterator<Item = APIGroupDiscovery>,
        selection: &Selection,
        previous: &Self,
    ) -> Self {
        let mut catalogue = Self::default();
        for group in groups {
            let name = group.metadata.and_then(|metadata| metadata.name).unwrap_or_default();
            for version in &group.versions {
                if version.freshness.as_deref() == Some("Stale") {
                    catalogue.stale.insert(name.clone());
                }
                for resource in &version.resources {
                    catalogue.add(&name, version, resource, selection);
                }
            }
        }
        // Another version of it can be.
        catalogue.unwatchable.retain(|name, _| !catalogue.kinds.contains_key(name));
        for (resource, kind) in &previous.kinds {
            if catalogue.stale.contains(&resource.group) && !catalogue.kinds.contains_key(resource) {
                catalogue.kinds.insert(resource.clone(), Arc::clone(kind));
            }
        }
        catalogue
    }

    /// Whether a kind is among the kinds, under whichever plural.
    pub fn serves(&self, kind: &GroupKind) -> bool {
        self.kinds.values().any(|served| (&served.group, &served.kind) == (&kind.group, &kind.kind))
    }

    /// The kinds that `other` doesn't have.
    pub fn lacking_in(&self, other: &Self) -> Vec<(ResourceName, Arc<Kind>)> {
        let lacking = self.kinds.iter().filter(|(name, _)| !other.kinds.contains_key(*name));
        lacking.map(|(name, kind)| (name.clone(), Arc::clone(kind))).collect()
    }

    fn add(
        &mut self,
        group: &str,
        version: &APIVersionDiscovery,
        resource: &APIResourceDiscovery,
        selection: &Selection,
    ) {
        let (Some(version), Some(plural)) = (&version.version, &resource.resource) else { return };
        let served = resource.response_kind.as_ref().and_then(|kind| kind.kind.as_deref());
        let Some(served_kind) = served.filter(|kind| !kind.is_empty()) else { return };
        let can = |verb: &str| resource.verbs.iter().any(|v| v == verb);
        let name = ResourceName { group: group.to_owned(), plural: plural.clone() };
        if !can("list") {
            return;
        }
        let kind = || {
            Arc::new(Kind {
                group: group.to_owned(),
                version: version.clone(),
                kind: served_kind.to_owned(),
                plural: plural.clone(),
                namespaced: resource.scope.as_deref() == Some("Namespaced"),
                status: reporting(group, resource),
            })
        };
        if !selection.takes(&name) {
            if can("watch") && !is_addon(&name) {
                self.excluded.entry(name).or_insert_with(kind);
            }
            return;
        }
        let is_another =
            |known: &Arc<Kind>| known.group == group && known.kind == served_kind && known.plural != *plural;
        let why = if !can("watch") {
            UNWATCHED
        } else if self.kinds.values().any(is_another) {
            DOUBLED
        } else {
            self.kinds.entry(name).or_insert_with(kind);
            return;
        };
        self.unwatchable.entry(name).or_insert_with(|| (kind(), why));
    }
}

/// A custom resource may keep its status in the object without the subresource.
fn reporting(group: &str, resource: &APIResourceDiscovery) -> StatusReporting {
    let has_status = resource.subresources.iter().any(|sub| sub.subresource.as_deref() == Some("status"));
    if has_status {
        StatusReporting::Yes
    } else if is_built_in(group) {
        StatusReporting::No
    } else {
        StatusReporting::Unsaid
    }
}

/// The API groups of Kubernetes itself: the old ones without a dot, and those under `k8s.io` that
/// aren't custom resources. Custom resources under protected groups are the exceptions.
fn is_built_in(group: &str) -> bool {
    const BUILT_IN: [&str; 17] = [
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    ];
    !group.contains('.') || BUILT_IN.contains(&group)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version of a group: its name, freshness and resources.
    type Version<'a> = (&'a str, &'a str, &'a [&'a str]);

    /// Groups as the API server writes them.
    fn groups(table: &[(&str, &[Version<'_>])]) -> Vec<APIGroupDiscovery> {
        table
            .iter()
            .map(|(group, versions)| {
                let versions: Vec<_> = versions
                    .iter()
                    .map(|(version, freshness, resources)| {
                        let resources: Vec<_> = resources.iter().map(|plural| serde_json::json!({
                            "resource": plural, "scope": "Namespaced", "verbs": ["get", "list", "watch"],
                            "responseKind": {"group": "", "version": "", "kind": plural.trim_end_matches('s')},
                            "subresources": [{"subresource": "status"}],
                        })).collect();
                        serde_json::json!({"version": version, "freshness": freshness, "resources": resources})
                    })
                    .collect();
                let json = serde_json::json!({"metadata": {"name": group}, "versions": versions});
                serde_json::from_value(json).unwrap_or_default()
            })
            .collect()
    }

    fn resolve(table: &[(&str, &[Version<'_>])], previous: &Catalogue) -> Catalogue {
        Catalogue::resolve(groups(table), &Selection::default(), previous)
    }

    fn names(catalogue: &Catalogue) -> Vec<String> {
        catalogue.kinds.values().map(|kind| format!("{} {}", kind.api_version(), kind.plural)).collect()
    }

    #[test]
    fn the_first_version_that_serves_a_resource_is_taken() {
        let found = resolve(
            &[("a.io", &[("v2", "Current", &["wings"]), ("v1", "Current", &["wings", "legs"])])],
            &Catalogue::default(),
        );
        assert_eq!(names(&found), ["a.io/v1 legs", "a.io/v2 wings"]);
    }

    #[test]
    fn a_stale_group_keeps_what_was_known() {
        let before = resolve(
            &[("a.io", &[("v1", "Current", &["wings"])]), ("b.io", &[("v1", "Current", &["legs"])])],
            &Catalogue::default(),
        );
        let after =
            resolve(&[("a.io", &[("v1", "Stale", &[])]), ("b.io", &[("v1", "Current", &[])])], &before);
        assert_eq!(names(&after), ["a.io/v1 wings"]);
        assert!(after.stale.contains("a.io"));
    }

    #[test]
    fn what_shows_no_objects_of_its_own_is_told_apart() {
        let resource = |plural: &str, verbs: &[&str]| serde_json::json!({"resource": plural, "verbs": verbs, "responseKind": {"kind": "Wing"}});
        let group = serde_json::json!({"metadata": {"name": "a.io"}, "versions": [
            {"version": "v2", "resources": [resource("wings", &["list"]), resource("pinions", &["list", "watch"])]},
            {"version": "v1", "resources": [resource("wings", &["list", "watch"]), resource("pinions", &["list", "watch"])]},
        ]});
        let group = serde_json::from_value(group).unwrap_or_default();
        let found = Catalogue::resolve([group], &Selection::default(), &Catalogue::default());
        assert_eq!(names(&found), ["a.io/v2 pinions"]);
        let unwatchable: Vec<_> = found.unwatchable.keys().map(|name| name.plural.as_str()).collect();
        assert_eq!(unwatchable, ["wings"]);
    }

    #[test]
    fn broken_groups_and_resources_hide_no_other() {
        let mut all = groups(&[("", &[("v1", "Current", &["pods", "events", "secrets"])])]);
        all.push(APIGroupDiscovery::default());
        all.push(serde_json::from_value(serde_json::json!({"metadata": {"name": "x.io"}, "versions": [
            {"resources": [{"resource": "a"}]},
            {"version": "v1", "resources": [{}, {"resource": "b"}, {"resource": "c", "verbs": ["list"], "responseKind": {"kind": "C"}},
                {"resource": "d", "verbs": ["list", "watch"], "responseKind": {"kind": ""}},
                {"resource": "e", "verbs": ["list", "watch"], "responseKind": {"group": "x.io", "version": "v1", "kind": "E"}}]}
        ]})).unwrap_or_default());
        let found = Catalogue::resolve(all, &Selection::default(), &Catalogue::default());
        assert_eq!(names(&found), ["v1 pods", "x.io/v1 es"].map(|name| name.replace("es", "e")));
        let excluded: Vec<_> = found.excluded.keys().map(|name| name.plural.as_str()).collect();
        assert_eq!(excluded, ["events", "secrets"]);
        let unwatchable: Vec<_> =
            found.unwatchable.iter().map(|(name, (_, why))| (name.plural.as_str(), *why)).collect();
        assert_eq!(unwatchable, [("c", UNWATCHED)]);
        let e = &found.kinds.values().last().map(|kind| kind.status);
        assert_eq!(*e, Some(StatusReporting::Unsaid));
    }
}
