use super::{Reader, Seen};
use crate::summary::WatchState;

/// Tells that something about the followed kind may have changed, and nothing else. A list tells too: what
/// happened before it isn't known.
pub(super) struct TriggerReader;

impl Reader for TriggerReader {
    type News = ();

    fn begin(&mut self) {}

    fn listed(&mut self, _: &Seen<'_>) -> bool {
        false
    }

    fn complete(&mut self) -> Option<()> {
        Some(())
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
