//! Follows the `Addon` objects: what the API server holds of them, and which are components.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    api::{Addon, LabelPrefix},
    health::SharedRules,
    publish::Seen as Published,
    summary::WatchState,
    watch::{ComponentReader, News, Reader, Report, Seen, addon_kind},
};

/// What happened to the `Addon` objects.
#[derive(Debug)]
pub(super) enum AddonNews {
    /// To what the API server holds, and to those among them that are components.
    Seen(Option<Published>, Option<News>),
    /// To the watch.
    State(WatchState),
}

pub(super) struct AddonReader {
    components: ComponentReader,
    staged: BTreeMap<String, Addon>,
}

impl AddonReader {
    pub(super) fn new(prefix: LabelPrefix, rules: SharedRules) -> Self {
        let components = ComponentReader::new(Arc::new(addon_kind()), prefix, rules);
        Self { components, staged: BTreeMap::new() }
    }
}

impl Reader for AddonReader {
    type News = AddonNews;

    fn begin(&mut self) {
        self.staged.clear();
        self.components.begin();
    }

    fn listed(&mut self, seen: &Seen<'_>) {
        if let Some(addon) = read(seen) {
            self.staged.insert(seen.head.name.to_string(), addon);
        }
        self.components.listed(seen);
    }

    fn unlisted(&mut self, seen: &Seen<'_>) {
        self.staged.remove(&*seen.head.name);
        self.components.unlisted(seen);
    }

    fn complete(&mut self) -> Option<AddonNews> {
        let listed = Published::Listed(std::mem::take(&mut self.staged).into_values().collect());
        Some(AddonNews::Seen(Some(listed), news(self.components.complete())))
    }

    fn changed(&mut self, seen: &Seen<'_>) -> Option<AddonNews> {
        let components = news(self.components.changed(seen));
        let seen = read(seen).map(|addon| Published::Changed(Box::new(addon)));
        (seen.is_some() || components.is_some()).then_some(AddonNews::Seen(seen, components))
    }

    fn deleted(&mut self, seen: &Seen<'_>) -> Option<AddonNews> {
        let components = news(self.components.deleted(seen));
        Some(AddonNews::Seen(Some(Published::Gone(seen.head.name.to_string())), components))
    }

    fn state(&mut self, state: &WatchState) -> Option<AddonNews> {
        Some(AddonNews::State(state.clone()))
    }
}

fn news(report: Option<Report>) -> Option<News> {
    report.map(|report| report.news)
}

fn read(seen: &Seen<'_>) -> Option<Addon> {
    let addon = seen.decode::<Value>().ok().and_then(Addon::read);
    if addon.is_none() {
        let name = crate::model::text::name(&seen.head.name);
        tracing::warn!(%name, "an Addon can't be read");
    }
    addon
}
