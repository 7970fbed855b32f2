//! From a group and kind to how the API server serves it.

use std::sync::Arc;

use crate::{
    discover::Catalogue,
    model::{Kind, StatusReporting},
};

/// What every cluster serves and explanations lead to: group, kind, resource, whether it is namespaced
/// and whether it has a status. They are found also where they aren't watched.
const EVERYWHERE: [(&str, &str, &str, bool, bool); 14] = [
    ("", "Node", "nodes", false, true),
    ("", "PersistentVolume", "persistentvolumes", false, true),
    ("", "PersistentVolumeClaim", "persistentvolumeclaims", true, true),
    ("", "Pod", "pods", true, true),
    ("", "ReplicationController", "replicationcontrollers", true, true),
    ("", "Service", "services", true, true),
    ("apiregistration.k8s.io", "APIService", "apiservices", false, true),
    ("apps", "DaemonSet", "daemonsets", true, true),
    ("apps", "Deployment", "deployments", true, true),
    ("apps", "ReplicaSet", "replicasets", true, true),
    ("apps", "StatefulSet", "statefulsets", true, true),
    ("batch", "CronJob", "cronjobs", true, true),
    ("batch", "Job", "jobs", true, true),
    ("storage.k8s.io", "StorageClass", "storageclasses", false, false),
];

/// The kind as it is served, in any group where none is named: Kubernetes' own goes first.
pub(super) fn resolve(catalogue: &Catalogue, group: Option<&str>, kind: &str) -> Option<Arc<Kind>> {
    let fits = |of: &str, name: &str| name == kind && group.is_none_or(|group| group == of);
    let mut served = catalogue.kinds.values().filter(|known| fits(&known.group, &known.kind));
    let everywhere = EVERYWHERE.iter().find(|row| fits(row.0, row.1));
    match everywhere {
        Some(&(group, kind, plural, namespaced, status)) => {
            let watched = served.find(|known| known.group == group).cloned();
            Some(watched.unwrap_or_else(|| own(group, kind, plural, namespaced, status)))
        }
        None => served.next().cloned(),
    }
}

/// Events of the core group, which can be selected by what they are about.
pub(super) fn event() -> Arc<Kind> {
    let kind = own("", "Event", "events", true, false);
    // There is no status, and all of it is wanted all the same.
    Arc::new(Kind { status: StatusReporting::Unsaid, ..Kind::clone(&kind) })
}

fn own(group: &str, kind: &str, plural: &str, namespaced: bool, status: bool) -> Arc<Kind> {
    Arc::new(Kind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced,
        status: if status { StatusReporting::Yes } else { StatusReporting::No },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use crate::discover::ResourceName;

    fn catalogue(kinds: &[(&str, &str)]) -> Catalogue {
        let kinds = kinds.iter().map(|(group, kind)| {
            let plural = format!("{}s", kind.to_lowercase());
            let name = ResourceName { group: (*group).to_owned(), plural: plural.clone() };
            (name, own(group, kind, &plural, true, true))
        });
        Catalogue { kinds: kinds.collect(), ..Catalogue::default() }
    }

    #[test]
    fn kinds_are_found_by_what_is_said_of_them() {
        let served = catalogue(&[("a.io", "Deployment"), ("a.io", "Gear"), ("b.io", "Gear")]);
        let found = |group, kind| resolve(&served, group, kind).map(|kind| kind.group_kind().to_string());
        assert_eq!(found(Some("a.io"), "Deployment").as_deref(), Some("Deployment.a.io"));
        assert_eq!(found(None, "Deployment").as_deref(), Some("Deployment.apps"));
        assert_eq!(found(Some("b.io"), "Gear").as_deref(), Some("Gear.b.io"));
        assert_eq!(found(None, "Gear").as_deref(), Some("Gear.a.io"));
        assert_eq!(found(Some("apps"), "Gear"), None);
        assert_eq!(found(Some(""), "Pod").as_deref(), Some("Pod"));
        assert_eq!(found(None, "Secret"), None);
    }

    #[test]
    fn a_watched_kind_is_asked_for_as_it_is_watched() {
        let mut served = catalogue(&[("apps", "Deployment")]);
        let kind = served.kinds.values_mut().next().expect("one");
        *kind = Arc::new(Kind { version: "v2".into(), ..Kind::clone(kind) });
        assert_eq!(resolve(&served, Some("apps"), "Deployment").expect("a kind").version, "v2");
    }
}
