use sha2::{Digest, Sha256};

use super::object_key;
use crate::model::Kind;

/// Where the hyphens of a UUID stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Names an object among all, in little room: the number that its `uid` spells, and of any other text
/// the first half of its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey([u8; 16]);

impl ObjectKey {
    /// The key of the object with this [`object_key`](super::object_key).
    pub fn of(text: &str) -> Self {
        uuid(text.as_bytes()).map_or_else(|| Self::digest(text), Self)
    }

    /// The key of the object that these name.
    pub fn naming(kind: &Kind, namespace: &str, name: &str, uid: &str) -> Self {
        if uid.is_empty() { Self::of(&object_key(kind, namespace, name, "")) } else { Self::of(uid) }
    }

    fn digest(text: &str) -> Self {
        let mut key = [0; 16];
        key.iter_mut().zip(Sha256::digest(text)).for_each(|(byte, of)| *byte = of);
        Self(key)
    }

    /// The UUID that the key spells, where it is one.
    pub(super) fn to_uuid(self) -> String {
        let mut text = String::with_capacity(36);
        for (place, byte) in self.0.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            for digit in [byte >> 4, byte & 15] {
                text.extend(char::from_digit(digit.into(), 16));
            }
        }
        text
    }
}

/// Whether [`ObjectKey::to_uuid`] gives `text` again.
pub(super) fn is_uuid(text: &str) -> bool {
    uuid(text.as_bytes()).is_some()
}

fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != 36 || HYPHENS.iter().any(|place| text[*place] != b'-') {
        return None;
    }
    let mut number = [0; 16];
    let mut digits = text.iter().enumerate().filter(|(place, _)| !HYPHENS.contains(place));
    for byte in &mut number {
        for _ in 0..2 {
            *byte = (*byte << 4) | digit(*digits.next()?.1)?;
        }
    }
    Some(number)
}

/// Capital letters are no digits: they would not come back.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_comes_back_as_it_was() {
        for text in ["6f0f8f5e-9d5b-4d43-8f0c-0a4b0a9f2a11", "00000000-0000-0000-0000-000000000000"] {
            assert!(is_uuid(text));
            assert_eq!(ObjectKey::of(text).to_uuid(), text);
        }
    }

    #[test]
    fn what_is_no_uuid_has_a_key_of_its_own() {
        let texts = [
            "",
            "web",
            "apps/Deployment/ns/web",
            "6F0F8F5E-9D5B-4D43-8F0C-0A4B0A9F2A11",
            "6f0f8f5e-9d5b-4d43-8f0c-0a4b0a9f2a1",
            "6f0f8f5e-9d5b-4d43-8f0c-0a4b0a9f2a1g",
            "6f0f8f5e19d5b14d4318f0c10a4b0a9f2a11",
        ];
        assert!(texts.iter().all(|text| !is_uuid(text)));
        let keys: std::collections::HashSet<_> = texts.iter().map(|text| ObjectKey::of(text)).collect();
        assert_eq!(keys.len(), texts.len());
    }
}
