use std::{fmt, str::FromStr};

use thiserror::Error;

use super::ResourceName;
use crate::api;

/// Which resources are watched: all but those excluded, by default or on demand, and not included
/// again.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    include: Vec<ResourcePattern>,
    exclude: Vec<ResourcePattern>,
}

/// A pattern for resources, such as `apps/deployments`, `secrets` (of the core group),
/// `metrics.k8s.io/*` or `*/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourcePattern {
    group: String,
    plural: String,
}

/// Why a text is no [`ResourcePattern`].
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "'{0}' must be GROUP/RESOURCE, such as 'apps/deployments', 'metrics.k8s.io/*' or, for the core group, 'secrets'"
)]
pub struct PatternError(String);

/// What is never worth a watch: high churn and no part of an add-on; and `Secret`, whose contents
/// nobody should have to trust us with.
const EXCLUDED: [(&str, &str); 13] = [
    ("", "endpoints"),
    ("", "events"),
    ("", "secrets"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("coordination.k8s.io", "*"),
    ("custom.metrics.k8s.io", "*"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "*"),
    ("external.metrics.k8s.io", "*"),
    ("metrics.k8s.io", "*"),
    ("internal.apiserver.k8s.io", "*"),
    ("cilium.io", "ciliumendpoints"),
    ("cilium.io", "ciliumidentities"),
];

impl Selection {
    /// The default exclusions and `exclude`, less what `include` takes back.
    pub fn new(include: Vec<ResourcePattern>, exclude: Vec<ResourcePattern>) -> Self {
        Self { include, exclude }
    }

    /// Whether the resource is to be watched. `Addon` objects never are: they are followed apart.
    pub fn takes(&self, name: &ResourceName) -> bool {
        if is_addon(name) {
            return false;
        }
        let hits = |pattern: &ResourcePattern| pattern.matches(&name.group, &name.plural);
        let by_default = EXCLUDED
            .iter()
            .any(|(group, plural)| name.group == *group && (*plural == "*" || name.plural == *plural));
        self.include.iter().any(hits) || !(by_default || self.exclude.iter().any(hits))
    }
}

/// Whether these are our `Addon` objects.
pub(super) fn is_addon(name: &ResourceName) -> bool {
    name.group == api::GROUP && name.plural == "addons"
}

impl ResourcePattern {
    fn matches(&self, group: &str, plural: &str) -> bool {
        (self.group == "*" || self.group == group) && (self.plural == "*" || self.plural == plural)
    }
}

impl FromStr for ResourcePattern {
    type Err = PatternError;

    fn from_str(raw: &str) -> Result<Self, PatternError> {
        let (group, plural) = raw.split_once('/').unwrap_or(("", raw));
        let is_name = |text: &str| {
            text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'))
        };
        let plural_fits = plural == "*" || (!plural.is_empty() && is_name(plural));
        if plural_fits && (group == "*" || is_name(group)) {
            Ok(Self { group: if group == "core" { "" } else { group }.to_owned(), plural: plural.to_owned() })
        } else {
            Err(PatternError(raw.escape_debug().to_string()))
        }
    }
}

impl fmt::Display for ResourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        f.write_str(&self.plural)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    fn takes(include: &[&str], exclude: &[&str], name: (&str, &str)) -> bool {
        let parse = |all: &[&str]| all.iter().map(|raw| raw.parse().expect("a pattern")).collect();
        Selection::new(parse(include), parse(exclude))
            .takes(&ResourceName { group: name.0.into(), plural: name.1.into() })
    }

    #[test]
    fn what_is_watched() {
        assert!(takes(&[], &[], ("apps", "deployments")));
        assert!(!takes(&[], &[], ("", "secrets")));
        assert!(takes(&["secrets"], &[], ("", "secrets")));
        assert!(takes(&["core/secrets"], &[], ("", "secrets")));
        assert!(!takes(&["secrets"], &[], ("", "events")));
        assert!(!takes(&[], &["apps/*"], ("apps", "deployments")));
        assert!(takes(&["apps/deployments"], &["*/*"], ("apps", "deployments")));
        assert!(!takes(&["apps/deployments"], &["*/*"], ("apps", "statefulsets")));
        assert!(!takes(&["*/*"], &[], ("addons.x-k8s.io", "addons")));
        assert!(takes(&[], &[], ("addons.x-k8s.io", "statusrules")));
    }

    #[test]
    fn patterns_that_are_none() {
        for raw in ["", "/", "apps/", "a/b/c", "Deployments", "apps/*s", "**/x"] {
            assert!(raw.parse::<ResourcePattern>().is_err(), "{raw}");
        }
    }
}
