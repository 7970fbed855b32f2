//! Where our verdict isn't that of another project, and why ours is right.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disagreement {
    case: String,
    theirs: String,
    ours: String,
    why: String,
}

/// Those that are written down, by case.
pub fn read() -> BTreeMap<String, Disagreement> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/health/disagreements.yaml");
    let text = fs::read_to_string(path).expect("disagreements.yaml");
    let list: Vec<Disagreement> = serde_saphyr::from_str(&text).expect("a list of disagreements");
    let count = list.len();
    let map: BTreeMap<_, _> = list.into_iter().map(|entry| (entry.case.clone(), entry)).collect();
    assert_eq!(map.len(), count, "a case stands twice in disagreements.yaml");
    map
}

impl Disagreement {
    /// What is wrong with the entry, where they say `theirs` and we say `ours`.
    pub fn fault(&self, theirs: &str, ours: &str) -> Option<String> {
        let Self { case, .. } = self;
        if self.why.trim().is_empty() {
            return Some(format!("{case}: it doesn't say why"));
        }
        if theirs == ours {
            return Some(format!("{case}: both say {ours} now"));
        }
        let right = (&*self.theirs, &*self.ours) == (theirs, ours);
        (!right).then(|| format!("{case}: they say {theirs} and we say {ours}"))
    }
}

#[test]
fn an_entry_must_tell_what_is_so() {
    let entry = |ours: &str, why: &str| Disagreement {
        case: "a/b".to_owned(),
        theirs: "Degraded".to_owned(),
        ours: ours.to_owned(),
        why: why.to_owned(),
    };
    assert_eq!(entry("Healthy", "it serves").fault("Degraded", "Healthy"), None);
    assert!(entry("Healthy", " ").fault("Degraded", "Healthy").is_some());
    assert!(entry("Healthy", "it serves").fault("Degraded", "Degraded").is_some());
    assert!(entry("Healthy", "it serves").fault("Degraded", "Unknown").is_some());
    assert!(entry("Healthy", "it serves").fault("Suspended", "Healthy").is_some());
}
