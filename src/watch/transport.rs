//! What serves a kind better: whole objects, or metadata and a read of each object that is wanted.
//!
//! Whole objects cost the API server their encoding and us their bytes, whether anybody wants them or not;
//! a read costs both a request. `docs/performance.md` has what each takes on a real API server.

/// What a read of one object is worth in objects that are sent whole instead of their metadata alone.
const READ: usize = 20;

/// So many wanted objects are counted before a list is given up that has only begun.
const SURE: usize = 1000;

/// So many are read between two bookmarks before a watch is given up for one of whole objects.
const READS: usize = 16;

/// So many events tell how a watch of whole objects is used.
const EVENTS: usize = 256;

/// Whether whole objects serve a list better of which so many are wanted.
pub(super) fn lists_whole(objects: usize, wanted: usize, is_complete: bool) -> bool {
    (is_complete || wanted >= SURE) && wanted * READ > objects
}

/// What a watch has delivered between two bookmarks, which come once a minute.
#[derive(Debug, Default)]
pub(super) struct Share {
    events: usize,
    wanted: usize,
}

impl Share {
    /// Counts an event.
    pub(super) fn event(&mut self, is_wanted: bool) {
        self.events += 1;
        self.wanted += usize::from(is_wanted);
    }

    /// Whether a watch of metadata is better one of whole objects.
    pub(super) fn is_better_whole(&self) -> bool {
        self.wanted > READS && self.wanted * READ > self.events
    }

    /// Whether a watch of whole objects is better one of metadata. The two bounds lie apart, so that a kind
    /// between them stays as it is.
    pub(super) fn is_better_metadata(&self) -> bool {
        self.events >= EVENTS && self.wanted * READ * 2 < self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_whole_where_one_in_twenty_is_wanted() {
        for (objects, wanted, is_complete, whole) in [
            (0, 0, true, false),
            (1, 1, true, true),
            (20, 1, true, false),
            (19, 1, true, true),
            (100_000, 100, true, false),
            (100_000, 6_000, true, true),
            // It may be that all that are wanted come first.
            (100, 100, false, false),
            (1_000, 1_000, false, true),
            (30_000, 1_000, false, false),
        ] {
            assert_eq!(lists_whole(objects, wanted, is_complete), whole, "{wanted} of {objects}");
        }
    }

    fn share(events: usize, wanted: usize) -> Share {
        Share { events, wanted }
    }

    #[test]
    fn a_watch_is_what_its_events_ask_for() {
        for (events, wanted, whole, metadata) in [
            (0, 0, false, false),
            (1, 1, false, false),
            (16, 16, false, false),
            (17, 17, true, false),
            (10_000, 17, false, true),
            (255, 0, false, false),
            (256, 0, false, true),
            // Between the two bounds it stays.
            (10_000, 300, false, false),
            (10_000, 600, true, false),
        ] {
            let share = share(events, wanted);
            assert_eq!(share.is_better_whole(), whole, "{share:?}");
            assert_eq!(share.is_better_metadata(), metadata, "{share:?}");
            assert!(!(whole && metadata));
        }
    }
}
