//! Finds the objects that carry a label of an add-on among all that come.

use std::sync::Arc;

use memchr::memmem;

use super::Seen;
use crate::{
    api::{Identifier, LabelPrefix},
    model::{Kind, Object, decode::Raw, text},
};

/// An object can't be read. It was logged which.
#[derive(Debug)]
pub(super) struct Illegible;

/// Finds the objects of one kind that carry a label of a prefix.
pub(super) struct LabelFinder {
    kind: Arc<Kind>,
    prefix: LabelPrefix,
    /// The prefix without its slash: whoever writes JSON may escape that.
    domain: memmem::Finder<'static>,
}

impl LabelFinder {
    pub(super) fn new(kind: Arc<Kind>, prefix: LabelPrefix) -> Self {
        let domain = prefix.as_str().trim_end_matches('/');
        let domain = memmem::Finder::new(domain.as_bytes()).into_owned();
        Self { kind, prefix, domain }
    }

    pub(super) fn kind(&self) -> &Arc<Kind> {
        &self.kind
    }

    pub(super) fn prefix(&self) -> &LabelPrefix {
        &self.prefix
    }

    /// The object, where it may carry a label. Most of what comes doesn't hold the domain anywhere and isn't
    /// looked at further.
    ///
    /// # Errors
    /// Where it may, and can't be read.
    pub(super) fn read(&self, seen: &Seen<'_>) -> Result<Option<Object>, Illegible> {
        if !seen.holds(&self.domain) {
            return Ok(None);
        }
        match seen.decode::<Raw>() {
            Ok(raw) => Ok(raw.into_object(Arc::clone(&self.kind))),
            Err(error) => {
                let name = text::name(&seen.head.name);
                tracing::warn!(kind = %self.kind.resource_name(), %name, %error, "an object can't be read");
                Err(Illegible)
            }
        }
    }

    /// The add-ons that the object belongs to.
    pub(super) fn identifiers(&self, object: &Object) -> Vec<Identifier> {
        object.labels.iter().filter_map(|(key, _)| self.prefix.identifier(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StatusReporting;

    fn found(json: &str) -> Vec<String> {
        let kind = Kind {
            group: String::new(),
            version: "v1".into(),
            kind: "ConfigMap".into(),
            plural: "configmaps".into(),
            namespaced: true,
            status: StatusReporting::No,
        };
        let finder = LabelFinder::new(kind.into(), LabelPrefix::default());
        let object = finder.read(&Seen::of_json(json.as_bytes())).unwrap_or_default();
        let identifiers = object.map(|object| finder.identifiers(&object)).unwrap_or_default();
        identifiers.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn labels_are_found_however_their_slash_is_written() {
        for slash in ["/", r"\/"] {
            let json = format!(
                r#"{{"metadata":{{"name":"one","labels":{{"addons.x-k8s.io{slash}dns":"","addons.x-k8s.io{slash}":""}}}}}}"#
            );
            assert_eq!(found(&json), ["dns"], "{json}");
        }
    }

    #[test]
    fn a_prefix_elsewhere_is_no_label() {
        let json = r#"{"metadata":{"name":"one","annotations":{"addons.x-k8s.io/dns":""},"labels":{"x":"addons.x-k8s.io/dns"}}}"#;
        assert!(found(json).is_empty());
        assert!(found(r#"{"metadata":{"labels":{"addons.x-k8s.io/dns":""}}}"#).is_empty(), "it has no name");
    }
}
