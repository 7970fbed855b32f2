//! What one evaluation may cost.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

use cel::ExecutionError;

/// The most entries of a list or map that an expression goes through.
pub(super) const ENTRIES: usize = 1_000;

/// The most bytes of one text that an expression reads or makes.
pub(super) const TEXT_BYTES: usize = 4 << 10;

/// The most work that one evaluation may do: some milliseconds at worst, as measured. A unit is an entry read, 16
/// bytes of a text, or a node of the expression in a loop.
pub(super) const WORK: u32 = 50_000;

/// Which bound an evaluation ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    Work,
    Entries,
    Text,
}

/// Counts the work of one evaluation. The interpreter can't be interrupted: what it asks for is
/// refused from the moment on that a bound is reached, which ends every loop.
#[derive(Debug)]
pub(super) struct Meter {
    left: AtomicU32,
    excess: OnceLock<Excess>,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { left: AtomicU32::new(WORK), excess: OnceLock::new() }
    }

    pub(super) fn excess(&self) -> Option<Excess> {
        self.excess.get().copied()
    }

    pub(super) fn spend(&self, units: usize) -> Result<(), ExecutionError> {
        let left = self.left.load(Ordering::Relaxed);
        match u32::try_from(units).ok().and_then(|units| left.checked_sub(units)) {
            Some(rest) if self.excess.get().is_none() => {
                self.left.store(rest, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(self.exceed(Excess::Work)),
        }
    }

    pub(super) fn exceed(&self, excess: Excess) -> ExecutionError {
        self.excess.get_or_init(|| excess);
        ExecutionError::InternalError("out of bounds".to_owned())
    }
}
