use std::{fmt, str::FromStr, sync::Arc};

use thiserror::Error;

use super::{LabelPrefix, identifier::is_label_name};

/// The label that a component must carry beside those of its add-ons where the API server is to leave
/// out all other objects: it can select by one key, and not by a prefix.
///
/// A label's key, and what it may be set to doesn't matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerLabel(Arc<str>);

/// Why a text can't be the key of the marker.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MarkerError {
    /// It is no label's key.
    #[error("a marker must be the key of a label, such as 'watch.addons.x-k8s.io/marked', not '{0}'")]
    NoKey(String),
    /// It would make an add-on of all components.
    #[error("the marker '{marker}' must not begin with '{prefix}': it would be an add-on itself")]
    IsAddon {
        /// Its key.
        marker: String,
        /// The prefix of the labels of add-ons.
        prefix: String,
    },
}

impl MarkerLabel {
    /// The label's key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks that the key names no add-on.
    ///
    /// # Errors
    /// [`MarkerError::IsAddon`].
    pub fn apart_from(&self, prefix: &LabelPrefix) -> Result<(), MarkerError> {
        if self.0.starts_with(prefix.as_str()) {
            let (marker, prefix) = (self.0.to_string(), prefix.to_string());
            return Err(MarkerError::IsAddon { marker, prefix });
        }
        Ok(())
    }
}

impl fmt::Display for MarkerLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for MarkerLabel {
    type Err = MarkerError;

    fn from_str(raw: &str) -> Result<Self, MarkerError> {
        let (domain, name) = match raw.split_once('/') {
            Some((domain, name)) => (Some(domain), name),
            None => (None, raw),
        };
        let domain_fits = domain.is_none_or(|domain| domain.parse::<LabelPrefix>().is_ok());
        if domain_fits && is_label_name(name) {
            Ok(Self(raw.into()))
        } else {
            Err(MarkerError::NoKey(raw.escape_debug().to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    #[test]
    fn a_marker_is_the_key_of_a_label() {
        for good in ["marked", "watch.addons.x-k8s.io/marked", "a/B_c.d-e"] {
            assert_eq!(good.parse::<MarkerLabel>().expect(good).as_str(), good);
        }
        let long = "x".repeat(64);
        for bad in ["", "/", "a/", "/a", "a/b/c", "a=b", "a,b", "!a", "A.b/c", "-a", "a b", &long] {
            assert!(bad.parse::<MarkerLabel>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_marker_names_no_add_on() {
        let prefix = LabelPrefix::default();
        let apart = |raw: &str| raw.parse::<MarkerLabel>().expect(raw).apart_from(&prefix);
        assert_eq!(apart("watch.addons.x-k8s.io/marked"), Ok(()));
        let error = apart("addons.x-k8s.io/marked").expect_err("an add-on").to_string();
        assert!(error.contains("'addons.x-k8s.io/marked' must not begin with 'addons.x-k8s.io/'"), "{error}");
    }
}
