//! What `--live` reads.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{Error, Exit, args::Connection, server::Server};
use crate::{api::LabelPrefix, model::GroupKind, summary::Census};

/// The most kinds that are named one by one.
const NAMED: usize = 10;

/// The kinds that could not be read, and why.
pub(super) struct Gaps(BTreeMap<GroupKind, String>);

/// Reads every kind of a cluster with the rights of the user.
pub(super) async fn read(connection: &Connection, prefix: &LabelPrefix) -> Result<(Census, Gaps), Error> {
    let census = Server::new(connection).await?.snapshot(prefix).await?;
    let gaps = Gaps(census.gaps.clone());
    Ok((census, gaps))
}

impl Gaps {
    /// Says what could not be read: what those kinds hold is missing from the answer.
    pub(super) fn say(&self, stderr: &mut dyn Write) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        writeln!(stderr, "error: {} kinds could not be read; what they hold is missing:", self.0.len())?;
        for (kind, why) in self.0.iter().take(NAMED) {
            writeln!(stderr, "  {kind}: {why}")?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => writeln!(stderr, "  and {more} more"),
        }
    }

    /// Whether there are any.
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// [`Exit::Success`] where everything was read.
    pub(super) fn exit(&self) -> Exit {
        if self.are_none() { Exit::Success } else { Exit::Failure }
    }
}
