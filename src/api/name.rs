//! From an identifier to the name of its `Addon` object.
//!
//! Identifiers may be valid label names and invalid object names (`Foo`, `my_addon`, `a..b`). The
//! mapping is injective: two add-ons never share an object.

use sha2::{Digest, Sha256};

use super::identifier::{Identifier, is_dns_label};

/// The most bytes of the readable part of a name that had to be changed.
const SLUG_BYTES: usize = 48;

/// Hexadecimal digits of the hash at the end of a name that had to be changed.
const HASH_DIGITS: usize = 10;

/// The name of the `Addon` object of `identifier`: a valid RFC 1123 subdomain.
///
/// The identifier itself wherever it is one. Otherwise a readable slug of it and `-x` with the first
/// 10 hexadecimal digits of its SHA-256. An identifier that looks like such a name already is
/// changed too, so that no two identifiers meet.
pub fn object_name(identifier: &Identifier) -> String {
    let raw = identifier.as_str();
    if raw.split('.').all(is_dns_label) && !looks_changed(raw) {
        return raw.to_owned();
    }
    let mut slug = String::with_capacity(SLUG_BYTES);
    for c in raw.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }) {
        if slug.len() < SLUG_BYTES && !(c == '-' && (slug.is_empty() || slug.ends_with('-'))) {
            slug.push(c);
        }
    }
    let hash = Sha256::digest(raw.as_bytes());
    let digits: String = hash.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-x{digits}", slug.trim_end_matches('-'))
}

/// The identifier whose `Addon` has this name, where the name alone tells; `None` for names that
/// end in a hash, whose identifier stands in `spec.identifier`.
pub fn identifier_of_name(name: &str) -> Option<Identifier> {
    Identifier::new(name).filter(|identifier| object_name(identifier) == name)
}

fn looks_changed(name: &str) -> bool {
    name.rsplit_once("-x").is_some_and(|(_, digits)| {
        digits.len() == HASH_DIGITS && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn name(raw: &str) -> String {
        object_name(&Identifier::new(raw).expect("an identifier"))
    }

    #[test]
    fn valid_names_stay_as_they_are() {
        for raw in ["ingress-nginx", "a", "1.2.3", "cert-manager.v1", "box-x123", "a-x0123456789a"] {
            assert_eq!(name(raw), raw);
        }
    }

    /// The names are part of the interface: a change would leave every such Addon behind.
    #[test]
    fn the_mapping_is_stable() {
        assert_eq!(name("Foo"), "foo-x1cbec737f8");
        assert_eq!(name("my_addon"), "my-addon-xca98fde44b");
        assert_eq!(name("a..b"), "a-b-xf62b42414c");
        assert_eq!(name("v1.2_Beta"), "v1-2-beta-x9e53946a83");
        assert_eq!(name("dns-x0123456789"), "dns-x0123456789-xa963eada6e");
    }

    fn identifiers() -> impl Strategy<Value = Identifier> {
        // Few letters, so that twins are found; now and then a name that looks changed already.
        prop_oneof![
            "[aAbB0]([aAbB0._-]{0,6}[aAbB0])?",
            "[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?",
            "[aA_]{0,1}a-x[0-9a-f]{10}".prop_filter("starts with a letter", |s| !s.starts_with('_')),
        ]
        .prop_filter_map("an identifier", |raw| Identifier::new(&raw))
    }

    proptest! {
        #[test]
        fn names_are_valid_and_stable(identifier in identifiers()) {
            let name = object_name(&identifier);
            prop_assert!(name.len() <= 253 && name.split('.').all(is_dns_label), "{}", name);
            prop_assert_eq!(&name, &object_name(&identifier));
        }

        #[test]
        fn no_two_identifiers_share_a_name(all in prop::collection::vec(identifiers(), 0..200)) {
            let mut seen: HashMap<String, Identifier> = HashMap::new();
            // Feeding a name back as an identifier is the attack on a mapping of this form.
            let fed_back: Vec<Identifier> = all.iter().filter_map(|i| Identifier::new(&object_name(i))).collect();
            for identifier in all.into_iter().chain(fed_back) {
                let name = object_name(&identifier);
                if let Some(other) = seen.insert(name.clone(), identifier.clone()) {
                    prop_assert_eq!(other, identifier, "both are {}", name);
                }
            }
        }
    }
}
