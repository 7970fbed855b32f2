use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most bytes of an identifier: that of the name part of a label key.
const IDENTIFIER_BYTES: usize = 63;

/// Names one add-on: the part of a label's key after the prefix.
///
/// 1 to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends: what Kubernetes
/// takes as the name part of a label key. Upper and lower case are different.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Identifier(Arc<str>);

impl Identifier {
    /// The identifier, `None` where `raw` isn't one.
    pub fn new(raw: &str) -> Option<Self> {
        is_label_name(raw).then(|| Self(raw.into()))
    }

    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::borrow::Borrow<str> for Identifier {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<Identifier> for String {
    fn from(identifier: Identifier) -> Self {
        identifier.0.as_ref().to_owned()
    }
}

impl TryFrom<String> for Identifier {
    type Error = String;

    fn try_from(raw: String) -> Result<Self, String> {
        Self::new(&raw).ok_or_else(|| format!("'{}' must be a label name", raw.escape_debug()))
    }
}

/// The prefix of the labels that mark components: a DNS name and a slash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabelPrefix(Arc<str>);

/// Why a text can't be the prefix of a label.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("a label prefix must be a DNS name and a slash, such as 'addons.x-k8s.io/', not '{0}'")]
pub struct PrefixError(String);

impl LabelPrefix {
    /// The identifier in a label's key; `None` where the key has another prefix or no valid
    /// identifier after it.
    pub fn identifier(&self, key: &str) -> Option<Identifier> {
        Identifier::new(key.strip_prefix(&*self.0)?)
    }

    /// The key of the annotation `name` under this prefix.
    pub fn annotation(&self, name: &str) -> String {
        format!("{}{name}", self.0)
    }

    /// The prefix with its slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for LabelPrefix {
    fn default() -> Self {
        Self("addons.x-k8s.io/".into())
    }
}

impl fmt::Display for LabelPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for LabelPrefix {
    type Err = PrefixError;

    fn from_str(raw: &str) -> Result<Self, PrefixError> {
        let domain = raw.strip_suffix('/').unwrap_or(raw);
        if domain.len() <= 253 && domain.split('.').all(is_dns_label) {
            Ok(Self(format!("{domain}/").into()))
        } else {
            Err(PrefixError(raw.escape_debug().to_string()))
        }
    }
}

/// The rule of Kubernetes for the name part of a label key.
pub(super) fn is_label_name(raw: &str) -> bool {
    let inner = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let bytes = raw.as_bytes();
    bytes.len() <= IDENTIFIER_BYTES
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(inner)
}

/// RFC 1123: lower case letters, digits and `-`, alphanumeric at both ends, at most 63.
pub(super) fn is_dns_label(raw: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = raw.as_bytes();
    bytes.len() <= 63
        && bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_the_rule_for_label_names() {
        let longest = "a".repeat(63);
        for good in ["a", "Foo", "my_addon", "a..b", "a.-b", "v1.2_Beta", "0", longest.as_str()] {
            assert!(Identifier::new(good).is_some(), "{good}");
        }
        let too_long = "a".repeat(64);
        for bad in ["", "-a", "a-", ".a", "a_", "a b", "a/b", "ä", "a\0", too_long.as_str()] {
            assert!(Identifier::new(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_prefix_is_matched_whole() {
        let prefix = LabelPrefix::default();
        assert_eq!(prefix.identifier("addons.x-k8s.io/dns"), Identifier::new("dns"));
        for other in
            ["addons.x-k8s.io", "addons.x-k8s.io/", "addons.x-k8s.iox/dns", "x.addons.x-k8s.io/dns", "dns"]
        {
            assert_eq!(prefix.identifier(other), None, "{other}");
        }
    }

    #[test]
    fn prefixes_are_dns_names() {
        assert_eq!("addons.x-k8s.io".parse(), Ok(LabelPrefix::default()));
        assert_eq!("addons.x-k8s.io/".parse(), Ok(LabelPrefix::default()));
        for bad in ["", "/", "Addons.io", "a/b/", "a..b", "-a.b"] {
            assert!(bad.parse::<LabelPrefix>().is_err(), "{bad}");
        }
    }
}
