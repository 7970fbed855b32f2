//! What serves a kind better: whole objects, or metadata and a read of each object that is wanted.
//!
//! Whole objects cost the API server their encoding and us their bytes, whether anybody wants them or not;
//! a read costs both a request. `docs/performance.md` has what each takes on a real API server.

/// What a read of one object is worth in objects that are sent whole instead of their metadata alone.
const READ: usize = 20;

/// So many wanted objects are counted before a list of metadata is given up in the middle.
const SURE: usize = 1000;

/// So many are read between two bookmarks before a watch is given up for one of whole objects.
const READS: usize = 16;

/// So many events tell how a watch of whole objects is used.
const EVENTS: usize = 256;

/// How many objects came, in a list or between two bookmarks, which come once a minute.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    all: usize,
    wanted: usize,
}

impl Share {
    /// Counts an object.
    pub(super) fn count(&mut self, is_wanted: bool) {
        self.all += 1;
        self.wanted += usize::from(is_wanted);
    }

    /// Whether whole objects serve a list better.
    pub(super) fn lists_whole(self) -> bool {
        self.wanted * READ > self.all
    }

    /// Whether that is sure before the list is complete, unless all that are wanted come first.
    pub(super) fn lists_surely_whole(self) -> bool {
        self.wanted >= SURE && self.lists_whole()
    }

    /// Whether a watch of metadata would be cheaper as one of whole objects.
    pub(super) fn is_better_whole(self) -> bool {
        self.wanted > READS && self.lists_whole()
    }

    /// Whether a watch of whole objects would be cheaper as one of metadata. The two bounds lie apart, so that a kind
    /// between them stays as it is.
    pub(super) fn is_better_metadata(self) -> bool {
        self.all >= EVENTS && self.wanted * READ * 2 < self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_whole_where_one_in_twenty_is_wanted() {
        for (all, wanted, whole) in
            [(0, 0, false), (1, 1, true), (20, 1, false), (19, 1, true), (100, 5, false), (500, 26, true)]
        {
            assert_eq!(share(all, wanted).lists_whole(), whole, "{wanted} of {all}");
            assert!(!share(all, wanted).lists_surely_whole());
        }
        assert!(share(1_000, 1_000).lists_surely_whole() && !share(30_000, 1_000).lists_surely_whole());
    }

    fn share(all: usize, wanted: usize) -> Share {
        Share { all, wanted }
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
