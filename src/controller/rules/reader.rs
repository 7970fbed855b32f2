use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    health::Registered,
    model::text,
    summary::WatchState,
    watch::{Reader, Seen},
};

/// What happened to the `StatusRule` objects.
#[derive(Debug)]
pub(in crate::controller) enum RuleNews {
    /// These are all that there are.
    Listed(BTreeMap<String, Registered>),
    /// One is new or changed.
    Changed(Box<Registered>),
    /// The one of this name is gone.
    Gone(String),
    /// How they are watched has changed.
    State(WatchState),
}

/// Reads `StatusRule` objects.
#[derive(Default)]
pub(in crate::controller) struct RuleReader {
    staged: BTreeMap<String, Registered>,
}

impl Reader for RuleReader {
    type News = RuleNews;

    fn begin(&mut self) {
        self.staged.clear();
    }

    fn listed(&mut self, seen: &Seen<'_>) -> bool {
        let Some(rule) = read(seen) else { return false };
        self.staged.insert(rule.name.clone(), rule);
        true
    }

    fn complete(&mut self) -> Option<RuleNews> {
        Some(RuleNews::Listed(std::mem::take(&mut self.staged)))
    }

    fn changed(&mut self, seen: &Seen<'_>) -> Option<RuleNews> {
        read(seen).map(|rule| RuleNews::Changed(Box::new(rule)))
    }

    fn deleted(&mut self, seen: &Seen<'_>) -> Option<RuleNews> {
        Some(RuleNews::Gone(text::name(&seen.head.name)))
    }

    fn state(&mut self, state: &WatchState) -> Option<RuleNews> {
        Some(RuleNews::State(state.clone()))
    }
}

fn read(seen: &Seen<'_>) -> Option<Registered> {
    let rule = seen.decode::<Value>().ok().and_then(|object| Registered::read(&object));
    if rule.is_none() {
        let name = text::name(&seen.head.name);
        tracing::warn!(%name, "a StatusRule can't be read");
    }
    rule
}
