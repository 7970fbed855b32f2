use std::process::{ExitCode, Termination};

/// How a command ended. The numbers are part of the interface and the same for every `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command worked, whatever the health of what it shows.
    Success = 0,
    /// Something could not be reached, read or written. What could be is shown.
    Failure = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// What was asked for isn't there.
    NotFound = 12,
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}
