//! Follows the `Addon` objects: what the API server holds of them, and which are components.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    api::{Addon, AddonCondition, ComponentStatus, LabelPrefix},
    health::SharedRules,
    publish::{self, Held},
    summary::{ObjectKey, Unnamed, WatchState},
    watch::{ComponentReader, News, Reader, Report, Seen as Object, addon_kind},
};

/// What happened to the `Addon` objects.
#[derive(Debug)]
pub(super) enum AddonNews {
    /// To what the API server holds, and to those among them that are components.
    Seen(Option<Seen>, Option<News>),
    /// To the watch.
    State(WatchState),
}

/// What a list or a watch of the `Addon` objects showed.
#[derive(Debug)]
pub(super) enum Seen {
    /// All that there are.
    Listed(Vec<Written>),
    /// One as it is now.
    Changed(Box<Written>),
    /// The one of this name isn't there any more.
    Gone(String),
}

/// An `Addon` as somebody wrote it: all of them are held at once when they were listed, and so as little as
/// there is use for.
#[derive(Debug)]
pub(super) struct Written {
    /// What tells whether to write it.
    pub(super) held: Held,
    pub(super) conditions: Vec<AddonCondition>,
    /// What it counts beyond the components that it names.
    pub(super) unnamed: Option<Box<Unnamed>>,
    /// What it tells of its components, where that is wanted.
    pub(super) components: Told,
}

/// What an `Addon` tells of its components, as it came.
#[derive(Debug, Default)]
pub(super) struct Told {
    json: Box<[u8]>,
    keys: Box<[ObjectKey]>,
}

pub(super) struct AddonReader {
    components: ComponentReader,
    staged: BTreeMap<String, Written>,
    /// What they tell of their components is wanted once.
    was_listed: bool,
}

impl Written {
    /// What is kept of an `Addon`, with what it tells of its components or without; `None` for one without a
    /// name.
    pub(super) fn of(addon: &Addon, with_components: bool) -> Option<Self> {
        let held = Held::of(addon)?;
        let status = addon.status.as_ref();
        // Nothing is to be concluded from what somebody else wrote.
        let told = status.filter(|_| with_components && held.is_ours());
        let components = told.map(|status| Told::of(&status.components));
        Some(Self {
            conditions: status.map(|status| status.conditions.clone()).unwrap_or_default(),
            unnamed: status.and_then(Unnamed::of).map(Box::new),
            components: components.unwrap_or_default(),
            held,
        })
    }
}

impl Told {
    fn of(components: &[ComponentStatus]) -> Self {
        let key = |component: &ComponentStatus| {
            let object = component.reference();
            ObjectKey::naming(&object.kind, &object.namespace, &object.name, &object.uid)
        };
        // Our own type can always be written.
        let json = serde_json::to_vec(components).unwrap_or_default().into();
        Self { json, keys: components.iter().map(key).collect() }
    }

    /// The key of each.
    pub(super) fn keys(&self) -> &[ObjectKey] {
        &self.keys
    }

    /// Each, in the same order.
    pub(super) fn read(&self) -> Vec<ComponentStatus> {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }
}

impl From<Seen> for publish::Seen {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Listed(all) => Self::Listed(all.into_iter().map(|written| written.held).collect()),
            Seen::Changed(written) => Self::Changed(Box::new(written.held)),
            Seen::Gone(name) => Self::Gone(name),
        }
    }
}

impl AddonReader {
    pub(super) fn new(prefix: LabelPrefix, rules: SharedRules) -> Self {
        let components = ComponentReader::new(Arc::new(addon_kind()), prefix, rules);
        Self { components, staged: BTreeMap::new(), was_listed: false }
    }

    /// What is kept of it, and whether it may be a component itself. Few are.
    fn read(&self, seen: &Object<'_>) -> (Option<Written>, bool) {
        let strange = || seen.decode::<Value>().ok().and_then(Addon::read);
        let addon = seen.decode::<Addon>().ok().or_else(strange);
        let written = addon.as_ref().and_then(|addon| Written::of(addon, !self.was_listed));
        if written.is_none() {
            let name = crate::model::text::name(&seen.head.name);
            tracing::warn!(%name, "an Addon can't be read");
        }
        let is_part =
            |addon: &Addon| addon.metadata.labels.iter().flatten().any(|(key, _)| self.components.takes(key));
        (written, addon.is_none_or(|addon| is_part(&addon)))
    }
}

impl Reader for AddonReader {
    type News = AddonNews;

    fn begin(&mut self) {
        self.staged.clear();
        self.components.begin();
    }

    fn listed(&mut self, seen: &Object<'_>) -> bool {
        let (written, is_part) = self.read(seen);
        let is_read = written.is_some();
        if let Some(written) = written {
            self.staged.insert(seen.head.name.to_string(), written);
        }
        (is_part && self.components.listed(seen)) || is_read
    }

    fn complete(&mut self) -> Option<AddonNews> {
        self.was_listed = true;
        let listed = Seen::Listed(std::mem::take(&mut self.staged).into_values().collect());
        Some(AddonNews::Seen(Some(listed), news(self.components.complete())))
    }

    fn changed(&mut self, seen: &Object<'_>) -> Option<AddonNews> {
        let (written, is_part) = self.read(seen);
        let components = if is_part { self.components.changed(seen) } else { self.components.deleted(seen) };
        let components = news(components);
        let seen = written.map(|written| Seen::Changed(Box::new(written)));
        (seen.is_some() || components.is_some()).then_some(AddonNews::Seen(seen, components))
    }

    fn deleted(&mut self, seen: &Object<'_>) -> Option<AddonNews> {
        let components = news(self.components.deleted(seen));
        Some(AddonNews::Seen(Some(Seen::Gone(seen.head.name.to_string())), components))
    }

    fn state(&mut self, state: &WatchState) -> Option<AddonNews> {
        Some(AddonNews::State(state.clone()))
    }
}

fn news(report: Option<Report>) -> Option<News> {
    report.map(|report| report.news)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::api::Identifier;

    fn addon(managed_by: &str) -> Vec<u8> {
        let addon = serde_json::json!({
            "metadata": {"name": "dns", "uid": "u", "labels": {"app.kubernetes.io/managed-by": managed_by}},
            "spec": {"identifier": "dns"},
            "status": {
                "counts": {"total": 3}, "omitted": 1,
                "components": [
                    {"group": "apps", "kind": "Deployment", "resource": "deployments", "version": "v1",
                     "namespace": "kube-system", "name": "coredns", "uid": "d", "health": "Healthy", "reason": "Fine",
                     "rule": "test"},
                    {"kind": "Service", "resource": "services", "version": "v1",
                     "namespace": "kube-system", "name": "dns", "uid": "s", "health": "Healthy", "reason": "Fine",
                     "rule": "test"},
                ],
            },
        });
        serde_json::to_vec(&addon).expect("JSON")
    }

    /// The only `Addon` of a list.
    fn listed(reader: &mut AddonReader, json: &[u8]) -> Written {
        reader.begin();
        assert!(reader.listed(&Object::of_json(json)));
        match reader.complete() {
            Some(AddonNews::Seen(Some(Seen::Listed(mut all)), _)) => all.pop().expect("one"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_ours_tell_of_their_components_is_read_from_the_first_list_alone() {
        let mut reader = AddonReader::new(LabelPrefix::default(), SharedRules::default());
        let first = listed(&mut reader, &addon("addon-controller"));
        let names: Vec<String> =
            first.components.read().into_iter().map(|component| component.name).collect();
        assert_eq!((names, first.components.keys().len()), (vec!["coredns".into(), "dns".into()], 2));
        assert_eq!(first.unnamed.map(|unnamed| unnamed.total), Some(3));

        let again = listed(&mut reader, &addon("addon-controller"));
        assert!(again.components.read().is_empty() && again.components.keys().is_empty());
        assert_eq!(again.held.identifier(), Identifier::new("dns"));

        let mut reader = AddonReader::new(LabelPrefix::default(), SharedRules::default());
        let theirs = listed(&mut reader, &addon("somebody"));
        assert!(theirs.components.keys().is_empty() && !theirs.held.is_ours());
    }
}
