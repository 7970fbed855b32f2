//! What `--live` reads.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::Arc,
};

use super::{Error, Exit, args::Connection, server::Server};
use crate::{api::LabelPrefix, health::Rule, model::GroupKind, summary::Census};

/// The most kinds that are named one by one.
const NAMED: usize = 10;

/// What could not be read, and why.
#[derive(Default)]
pub(super) struct Gaps {
    kinds: BTreeMap<GroupKind, String>,
    /// Why the rules of users could not be.
    rules: Option<String>,
}

/// What was found in a cluster.
pub(super) struct FromCluster {
    pub census: Census,
    pub gaps: Gaps,
    /// Where it was found.
    pub server: Server,
    /// The rules before the built-in ones that it was judged by.
    pub users: Vec<Arc<Rule>>,
}

/// Reads every kind of a cluster with the rights of the user, judged by `own` rules and those of the
/// cluster.
pub(super) async fn read(
    connection: &Connection,
    prefix: &LabelPrefix,
    own: &[Arc<Rule>],
) -> Result<FromCluster, Error> {
    let server = Server::new(connection).await?;
    let (registered, unread) = rules(&server).await?;
    let users: Vec<Arc<Rule>> = own.iter().cloned().chain(registered).collect();
    let census = server.snapshot(prefix, &users).await?;
    let gaps = Gaps { kinds: census.gaps.clone(), rules: unread };
    Ok(FromCluster { census, gaps, server, users })
}

/// The rules of users that are in force in the cluster, or why they can't be read.
pub(super) async fn rules(server: &Server) -> Result<(Vec<Arc<Rule>>, Option<String>), Error> {
    match server.rules().await {
        Ok(users) => Ok((users, None)),
        Err(error @ (Error::Forbidden { .. } | Error::Server { .. })) => {
            Ok((Vec::new(), Some(error.to_string())))
        }
        Err(error) => Err(error),
    }
}

impl Gaps {
    /// Says what could not be read: what kinds hold is missing from the answer.
    pub(super) fn say(&self, stderr: &mut dyn Write) -> io::Result<()> {
        if let Some(why) = &self.rules {
            writeln!(stderr, "note: judged by the built-in rules only, StatusRules can't be read: {why}")?;
        }
        if self.kinds.is_empty() {
            return Ok(());
        }
        writeln!(stderr, "error: {} kinds could not be read; what they hold is missing:", self.kinds.len())?;
        for (kind, why) in self.kinds.iter().take(NAMED) {
            writeln!(stderr, "  {kind}: {why}")?;
        }
        match self.kinds.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => writeln!(stderr, "  and {more} more"),
        }
    }

    /// Whether all kinds were read.
    pub(super) fn are_none(&self) -> bool {
        self.kinds.is_empty()
    }

    /// [`Exit::Success`] where everything was read.
    pub(super) fn exit(&self) -> Exit {
        if self.are_none() { Exit::Success } else { Exit::Failure }
    }
}
