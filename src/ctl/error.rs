use std::{
    borrow::Cow,
    io::{self, Write},
};

use thiserror::Error;

use super::Exit;
use crate::{api::MarkerError, connect::ConnectError, discover::DiscoverError};

/// Why a command gave no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no usable configuration of a cluster.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The API server could not be reached, or broke off.
    #[error("can't reach the API server at {server}: {cause}")]
    Unreachable {
        /// Its address.
        server: String,
        /// The innermost cause.
        cause: String,
    },
    /// The API server doesn't know who asks.
    #[error("the API server at {server} doesn't accept these credentials: {message}")]
    Unauthorized {
        /// Its address.
        server: String,
        /// What it said.
        message: String,
    },
    /// The user may not do this.
    #[error("the API server refused: {message}")]
    Forbidden {
        /// What it said.
        message: String,
        /// The rights that it takes.
        needed: &'static str,
    },
    /// The `Addon` resource isn't installed.
    #[error("the cluster at {server} has no resource addons.addons.x-k8s.io")]
    NotInstalled {
        /// Its address.
        server: String,
    },
    /// Another answer than was asked for.
    #[error("the API server at {server} answered {code}: {message}")]
    Server {
        /// Its address.
        server: String,
        /// The HTTP status.
        code: u16,
        /// What it said.
        message: String,
    },
    /// An answer that can't be understood.
    #[error("can't understand the answer of the API server at {server}: {cause}")]
    Answer {
        /// Its address.
        server: String,
        /// What is wrong with it.
        cause: String,
    },
    /// It can't be told which kinds the API server serves.
    #[error("{0}")]
    Discover(DiscoverError),
    /// There is no such add-on.
    #[error("there is no add-on '{name}'")]
    NotFound {
        /// What was asked for.
        name: String,
    },
    /// It isn't in what could be read, and not everything could.
    #[error("the add-on '{name}' is not in what could be read")]
    NotInPart {
        /// What was asked for.
        name: String,
    },
    /// A name that no add-on can have.
    #[error("'{0}' must be an identifier or the name of an Addon object: letters, digits, '-', '_' and '.'")]
    Name(String),
    /// A marker that would be an add-on.
    #[error("{0}")]
    Marker(#[from] MarkerError),
    /// Results could not be written.
    #[error("can't write the result: {0}")]
    Output(#[from] io::Error),
    /// Results could not be put into the format that was asked for.
    #[error("can't write the result: {0}")]
    Format(String),
}

impl Error {
    /// How the program ends.
    pub fn exit(&self) -> Exit {
        match self {
            Self::NotFound { .. } => Exit::NotFound,
            Self::Name(_) | Self::Marker(_) => Exit::Usage,
            _ => Exit::Failure,
        }
    }

    /// What to do about it.
    fn hint(&self) -> Option<Cow<'static, str>> {
        let hint = match self {
            Self::Connect(_) => "-f FILE reads files instead of asking a cluster",
            Self::Unreachable { .. } => {
                "is the cluster up, and is this the right --context? -f FILE reads files instead"
            }
            Self::Unauthorized { .. } => "log in again, or choose another --context",
            Self::Forbidden { needed, .. } => return Some(format!("ask for {needed}").into()),
            Self::NotInstalled { .. } => {
                "install it with 'kubectl apply -k deploy/', or compute here with --live"
            }
            Self::NotFound { .. } => {
                "'addonctl list' shows those that there are, with the same -f or --context"
            }
            Self::Discover(_)
            | Self::NotInPart { .. }
            | Self::Server { .. }
            | Self::Answer { .. }
            | Self::Name(_)
            | Self::Marker(_)
            | Self::Output(_)
            | Self::Format(_) => return None,
        };
        Some(hint.into())
    }

    /// Prints the error in one line, and a hint in another.
    pub(super) fn print(&self, stderr: &mut dyn Write) -> io::Result<()> {
        writeln!(stderr, "error: {self}")?;
        self.hint().map_or(Ok(()), |hint| writeln!(stderr, "hint: {hint}"))
    }
}
