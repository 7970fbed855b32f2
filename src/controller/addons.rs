//! Follows the `Addon` objects: what the API server holds of them, and which are components.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    api::{Addon, LabelPrefix},
    publish::Seen as Published,
    summary::WatchState,
    watch::{ComponentReader, News, Reader, Report, Seen, addon_kind},
};

/// What happened to the `Addon` objects.
#[derive(Debug)]
pub(super) enum AddonNews {
    /// To what the API server holds, and to those among them that are components.
    Seen(Published, Option<News>),
    /// To the watch.
    State(WatchState),
}

pub(super) struct AddonReader {
    components: ComponentReader,
    staged: Vec<Addon>,
}

impl AddonReader {
    pub(super) fn new(prefix: LabelPrefix) -> Self {
        Self { components: ComponentReader::new(Arc::new(addon_kind()), prefix), staged: Vec::new() }
    }
}

impl Reader for AddonReader {
    type News = AddonNews;

    fn begin(&mut self) {
        self.staged.clear();
        self.components.begin();
    }

    fn listed(&mut self, seen: &Seen<'_>) {
        self.unlisted(seen);
        self.staged.extend(read(seen));
        self.components.listed(seen);
    }

    fn unlisted(&mut self, seen: &Seen<'_>) {
        self.staged.retain(|addon| addon.metadata.name.as_deref() != Some(&*seen.head.name));
        self.components.unlisted(seen);
    }

    fn complete(&mut self) -> Option<AddonNews> {
        let listed = Published::Listed(std::mem::take(&mut self.staged));
        Some(AddonNews::Seen(listed, news(self.components.complete())))
    }

    fn changed(&mut self, seen: &Seen<'_>) -> Option<AddonNews> {
        let components = news(self.components.changed(seen));
        Some(AddonNews::Seen(Published::Changed(Box::new(read(seen)?)), components))
    }

    fn deleted(&mut self, seen: &Seen<'_>) -> Option<AddonNews> {
        let components = news(self.components.deleted(seen));
        Some(AddonNews::Seen(Published::Gone(seen.head.name.to_string()), components))
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
        tracing::warn!(%name, "an Addon can't be read and is left alone");
    }
    addon
}
