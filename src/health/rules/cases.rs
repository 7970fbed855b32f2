use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;

use super::{Rules, read::Case};
use crate::{
    health::judge,
    model::{Health, Kind, Verdict, decode::Raw},
};

impl Case {
    /// The kind of the object; `None` where it isn't given.
    pub fn kind(&self) -> Option<Kind> {
        let text = |field: &str| self.object.get(field)?.as_str().filter(|text| !text.is_empty());
        Some(Kind::named(text("apiVersion")?, text("kind")?))
    }

    /// What is wrong with what `rules` say of the case; `None` where they say what they must.
    pub fn fault(&self, rules: &Rules) -> Option<String> {
        let Some(kind) = self.kind() else {
            return Some("the object has no apiVersion or no kind".to_owned());
        };
        let Ok(raw) = Raw::deserialize(&self.object) else {
            return Some("the object can't be read".to_owned());
        };
        let object = raw.into_nameless(Arc::new(kind));
        let judgement = judge(&object, rules);
        let verdict = self.now.map_or(&judgement.timeline.first, |now| judgement.timeline.at(now));
        let facts: BTreeMap<_, _> = judgement.facts.iter().map(|fact| (&fact.name, &fact.value)).collect();
        let expected = Health::from(self.health);
        let reason = self.reason.as_deref().filter(|reason| *reason != verdict.reason);
        let fact = self.facts.iter().find(|(name, value)| facts.get(name) != Some(value));
        if verdict.health != expected || reason.is_some() {
            let reason = self.reason.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
            let Verdict { health, reason: actual, rule, .. } = verdict;
            return Some(format!("expected {expected}{reason}, got {health} {actual} by {rule}"));
        }
        let (name, value) = fact?;
        let actual = facts.get(name).map_or("none", |actual| actual.as_str());
        Some(format!("expected the fact {name} to be {value}, got {actual}"))
    }
}
