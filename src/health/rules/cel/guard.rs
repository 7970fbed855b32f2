//! Watches over one expression: what it costs and whether it fails.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::EvalError;

/// What one evaluation may take. The bound on its work keeps it below that on any machine that isn't
/// busy with something else.
const BUDGET: Duration = Duration::from_millis(20);

/// How many evaluations in a row must take longer: one may have met a busy machine.
const OVERRUNS: u32 = 5;

/// How many evaluations in a row must fail.
const FAULTS: u32 = 20;

/// Counts overruns and faults of an expression, and switches it off for good after some in a row.
#[derive(Debug, Default)]
pub(super) struct Guard {
    overruns: AtomicU32,
    faults: AtomicU32,
    /// How many evaluations have failed in all.
    failed: AtomicU32,
    /// The first fault, and on which object.
    fault: OnceLock<String>,
    off: OnceLock<String>,
}

impl Guard {
    /// Fails where the expression is switched off.
    pub(super) fn admit(&self) -> Result<(), EvalError> {
        self.off.get().map_or(Ok(()), |why| Err(EvalError::SwitchedOff(why.clone())))
    }

    /// Notes what an evaluation on the object named `on` took, and its error.
    pub(super) fn note(&self, took: Duration, error: Option<&EvalError>, on: impl FnOnce() -> String) {
        match error {
            None => self.faults.store(0, Ordering::Relaxed),
            Some(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                self.fault.get_or_init(|| format!("{}: {error}", on()));
                if self.faults.fetch_add(1, Ordering::Relaxed) + 1 >= FAULTS {
                    self.off.get_or_init(|| {
                        format!("switched off after {FAULTS} failures in a row, the last: {error}")
                    });
                }
            }
        }
        if took <= BUDGET {
            self.overruns.store(0, Ordering::Relaxed);
        } else if self.overruns.fetch_add(1, Ordering::Relaxed) + 1 >= OVERRUNS {
            let (took, budget) = (took.as_millis(), BUDGET.as_millis());
            self.off.get_or_init(|| {
                format!("switched off after taking longer than {budget} ms {OVERRUNS} times in a row, the last: {took} ms")
            });
        }
    }

    /// Why the expression is switched off.
    pub(super) fn switched_off(&self) -> Option<&str> {
        self.off.get().map(String::as_str)
    }

    /// How the expression failed first and on which object, and how often it has failed in all.
    pub(super) fn failures(&self) -> Option<(&str, u32)> {
        Some((self.fault.get()?, self.failed.load(Ordering::Relaxed)))
    }

    /// Why the expression is switched off, or how it failed first.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.switched_off().or_else(|| self.fault.get().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_micros(10);
    const SLOW: Duration = Duration::from_millis(21);

    fn fault() -> EvalError {
        EvalError::Fault("division by zero".into())
    }

    fn widget() -> String {
        "Widget lab/w".into()
    }

    #[test]
    fn one_overrun_on_a_busy_machine_is_forgiven() {
        let guard = Guard::default();
        for _ in 0..100 {
            (1..OVERRUNS).for_each(|_| guard.note(SLOW, None, widget));
            guard.note(QUICK, None, widget);
        }
        assert_eq!((guard.admit(), guard.trouble()), (Ok(()), None));
    }

    #[test]
    fn what_is_slow_every_time_is_switched_off_for_good() {
        let guard = Guard::default();
        (0..OVERRUNS).for_each(|_| guard.note(SLOW, None, widget));
        let why = "switched off after taking longer than 20 ms 5 times in a row, the last: 21 ms";
        assert_eq!(guard.admit(), Err(EvalError::SwitchedOff(why.into())));
        guard.note(QUICK, None, widget);
        assert_eq!(guard.trouble(), Some(why));
    }

    #[test]
    fn a_failure_is_told_and_many_in_a_row_switch_off() {
        let guard = Guard::default();
        for _ in 0..10 {
            (1..FAULTS).for_each(|_| guard.note(QUICK, Some(&fault()), widget));
            guard.note(QUICK, None, || "Widget lab/other".into());
        }
        assert_eq!((guard.admit(), guard.trouble()), (Ok(()), Some("Widget lab/w: division by zero")));
        (0..FAULTS).for_each(|_| guard.note(QUICK, Some(&fault()), widget));
        let why = "switched off after 20 failures in a row, the last: division by zero";
        assert_eq!(guard.admit(), Err(EvalError::SwitchedOff(why.into())));
        assert_eq!(guard.trouble(), Some(why));
        assert_eq!(guard.failures(), Some(("Widget lab/w: division by zero", 10 * (FAULTS - 1) + FAULTS)));
    }
}
