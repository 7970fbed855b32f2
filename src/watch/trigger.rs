use super::{Reader, Seen};
use crate::summary::WatchState;

/// Tells that something about the followed kind changed, and nothing else.
#[derive(Default)]
pub(super) struct TriggerReader {
    listed: bool,
}

impl TriggerReader {
    /// One whose first list tells too: what happened before it isn't known.
    pub(super) fn begun_again() -> Self {
        Self { listed: true }
    }
}

impl Reader for TriggerReader {
    type News = ();

    fn begin(&mut self) {}

    fn listed(&mut self, _: &Seen<'_>) -> bool {
        false
    }

    /// The first list says nothing new: what is served is read at the start anyway.
    fn complete(&mut self) -> Option<()> {
        std::mem::replace(&mut self.listed, true).then_some(())
    }

    fn changed(&mut self, _: &Seen<'_>) -> Option<()> {
        Some(())
    }

    fn deleted(&mut self, _: &Seen<'_>) -> Option<()> {
        Some(())
    }

    fn state(&mut self, _: &WatchState) -> Option<()> {
        None
    }
}
