use std::collections::BTreeMap;

use serde::Serialize;

use crate::summary::{KindCoverage, WatchState};

/// How much of the cluster is seen.
#[derive(Debug, Serialize)]
pub(super) struct Coverage<'a> {
    /// How many kinds are in each state; every state stands here.
    pub(super) kinds: BTreeMap<&'static str, usize>,
    /// The kinds that aren't seen whole.
    gaps: Vec<Gap<'a>>,
}

#[derive(Debug, Serialize)]
struct Gap<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    resource: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    components: usize,
}

impl<'a> Coverage<'a> {
    pub(super) fn of(kinds: &'a [KindCoverage]) -> Self {
        let gaps = kinds.iter().filter(|kind| kind.state != WatchState::Synced).map(Gap::of).collect();
        Self { kinds: by_state(kinds), gaps }
    }
}

/// How many kinds are in each state; every state stands there.
pub(super) fn by_state(kinds: &[KindCoverage]) -> BTreeMap<&'static str, usize> {
    let mut counts: BTreeMap<_, _> = WatchState::WORDS.into_iter().map(|word| (word, 0)).collect();
    for kind in kinds {
        *counts.entry(kind.state.as_str()).or_default() += 1;
    }
    counts
}

impl<'a> Gap<'a> {
    fn of(coverage: &'a KindCoverage) -> Self {
        let kind = &coverage.kind;
        Self {
            group: &kind.group,
            version: &kind.version,
            kind: &kind.kind,
            resource: &kind.plural,
            state: coverage.state.as_str(),
            message: coverage.state.message(),
            components: coverage.components,
        }
    }
}
