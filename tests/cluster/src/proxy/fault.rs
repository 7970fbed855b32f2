//! What can go wrong.

use std::time::Duration;

/// What happens to a request or to an answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The answer is this status, with a `Status` object, and with `Retry-After` where that is given.
    Status(u16, Option<u64>),
    /// The answer is this status, with a page as a gateway sends it.
    Html(u16),
    /// The answer is 200 with this JSON.
    Json(String),
    /// The answer is the server's, changed so.
    Edit(fn(String) -> String),
    /// The server is asked for an answer of this form (`Accept`).
    Accept(&'static str),
    /// The answer is a watch that says in an event that its version is gone (410), and ends.
    Expired,
    /// The server gets the request later.
    Delay(Duration),
    /// Requests aren't answered, and what is being answered comes to a halt, until the fault ends.
    Stall,
    /// What is being answered comes to a halt, and other answers begin and go no further, until the fault ends.
    Mute,
    /// The connection is reset, also where an answer is under way.
    Reset,
    /// The answer ends, whole as far as HTTP goes, so long after it began.
    End(Duration),
    /// The answer is cut off.
    Cut(After, How),
    /// The answer comes with so many bytes a second.
    Slow(u32),
}

/// Where an answer is cut.
#[derive(Clone, Copy, Debug)]
pub enum After {
    /// After so many bytes.
    Bytes(usize),
    /// In the middle of the line that follows so many lines, counted from when the fault began.
    Lines(usize),
}

/// How an answer is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As if that were all.
    Clean,
    /// By the end of the connection.
    Closed,
    /// By a reset of the connection.
    Reset,
}

impl Fault {
    /// Whether it happens to the request, before the server has answered.
    pub(super) fn is_early(&self) -> bool {
        match self {
            Self::Status(..)
            | Self::Html(_)
            | Self::Json(_)
            | Self::Edit(_)
            | Self::Accept(_)
            | Self::Expired
            | Self::Delay(_)
            | Self::Stall
            | Self::Reset => true,
            Self::Mute | Self::End(_) | Self::Cut(..) | Self::Slow(_) => false,
        }
    }

    /// Whether it happens to an answer that is under way.
    pub(super) fn is_late(&self) -> bool {
        matches!(self, Self::Stall | Self::Reset) || !self.is_early()
    }
}
