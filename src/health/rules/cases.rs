use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;

use super::{Rules, read::Case};
use crate::{
    health::judge,
    model::{Health, Kind, StatusReporting, decode::Raw},
};

impl Case {
    /// What is wrong with what `rules` say of the case; `None` where they say what they must.
    pub fn fault(&self, rules: &Rules) -> Option<String> {
        let mut named = self.object.clone();
        // The name doesn't matter, but an object has one.
        if let Some(fields) = named.as_object_mut() {
            let metadata = fields.entry("metadata").or_insert_with(|| serde_json::json!({}));
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.entry("name").or_insert_with(|| "x".into());
            }
        }
        let raw = Raw::deserialize(&named).ok()?;
        let (Some(api_version), Some(kind)) = (&raw.api_version, &raw.kind) else {
            return Some("the object has no apiVersion or no kind".to_owned());
        };
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let kind = Arc::new(Kind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.clone(),
            plural: String::new(),
            namespaced: true,
            status: StatusReporting::Unsaid,
        });
        let Some(object) = raw.into_object(kind) else {
            return Some("the object has no metadata".to_owned());
        };
        let judgement = judge(&object, rules);
        let verdict = self.now.map_or(&judgement.timeline.first, |now| judgement.timeline.at(now));
        let facts: BTreeMap<_, _> = judgement.facts.iter().map(|fact| (&fact.name, &fact.value)).collect();
        let expected = Health::from(self.health);
        let reason = self.reason.as_deref().filter(|reason| *reason != verdict.reason);
        let fact = self.facts.iter().find(|(name, value)| facts.get(name) != Some(value));
        if verdict.health != expected || reason.is_some() {
            return Some(format!(
                "is {} {} by {}, expected {expected} {}",
                verdict.health,
                verdict.reason,
                verdict.rule,
                self.reason.as_deref().unwrap_or_default()
            ));
        }
        let (name, value) = fact?;
        Some(format!("the fact {name} is {:?}, expected {value:?}", facts.get(name)))
    }
}
