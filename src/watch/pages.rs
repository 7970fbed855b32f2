use super::{FeedError, items::ListMeta};

/// The most pages of a list. Who has more to give goes on for ever.
const MOST: u32 = 100_000;

/// Where a list that comes in pages has got to.
#[derive(Debug, Default)]
pub(super) struct Pages {
    token: String,
    turned: u32,
}

impl Pages {
    /// Asks for the page; empty for the first.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Turns to the page after the one of which this was said; false where that was the last.
    ///
    /// # Errors
    /// Where the pages lead nowhere: whoever serves an API may not know of them and repeat itself.
    pub(super) fn turn(&mut self, meta: &ListMeta) -> Result<bool, FeedError> {
        if meta.token.is_empty() {
            return Ok(false);
        }
        self.turned += 1;
        if meta.token == self.token || self.turned >= MOST {
            return Err(FeedError::Unreadable("the pages of a list never end".to_owned()));
        }
        self.token.clone_from(&meta.token);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(token: &str) -> ListMeta {
        ListMeta { resource_version: "1".to_owned(), token: token.to_owned() }
    }

    #[test]
    fn pages_that_lead_nowhere_come_to_an_end() {
        let mut pages = Pages::default();
        assert_eq!((pages.turn(&page("a")), pages.token()), (Ok(true), "a"));
        assert_eq!((pages.turn(&page("b")), pages.token()), (Ok(true), "b"));
        assert_eq!(pages.turn(&page("")), Ok(false));
        assert!(pages.turn(&page("b")).is_err(), "it is the same page again");
        let mut pages = Pages::default();
        let ends = (0..).position(|n| pages.turn(&page(&n.to_string())).is_err());
        assert!(ends.is_some());
    }
}
