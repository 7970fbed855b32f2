//! What `--live` reads.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{Error, Exit, args::Connection};
use crate::{
    api::LabelPrefix, connect, discover::Selection, model::GroupKind, summary::Census, watch::snapshot,
};

/// The most kinds that are named one by one.
const NAMED: usize = 10;

/// The kinds that could not be read, and why.
pub(super) struct Gaps(BTreeMap<GroupKind, String>);

/// Reads every kind of a cluster with the rights of the user.
pub(super) async fn read(connection: &Connection, prefix: &LabelPrefix) -> Result<(Census, Gaps), Error> {
    let client = connect::client(connection.kubeconfig.as_deref(), connection.context.as_deref()).await?;
    let census = snapshot(&client, &Selection::default(), prefix).await?;
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

    /// [`Exit::Success`] where everything was read.
    pub(super) fn exit(&self) -> Exit {
        if self.0.is_empty() { Exit::Success } else { Exit::Failure }
    }
}
