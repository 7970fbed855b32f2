//! Watches over one expression: what it costs and whether it fails.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::EvalError;

/// What one evaluation may take. The bound on its work keeps it far below that, so that only what that
/// bound doesn't know is met here. It is the one place where the time of day plays a part in health.
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
    off: OnceLock<String>,
}

impl Guard {
    /// Fails where the expression is switched off.
    pub(super) fn admit(&self) -> Result<(), EvalError> {
        self.off.get().map_or(Ok(()), |why| Err(EvalError::SwitchedOff(why.clone())))
    }

    /// Notes what an evaluation on the object named `on` took, and its error.
    pub(super) fn note(&self, took: Duration, error: Option<&EvalError>, on: impl Fn() -> String) {
        if in_a_row(&self.faults, error.is_some()) >= FAULTS
            && let Some(error) = error
        {
            let on = on();
            self.off.get_or_init(|| {
                format!("switched off after {FAULTS} failures in a row, the last on {on}: {error}")
            });
        }
        if in_a_row(&self.overruns, took > BUDGET) >= OVERRUNS {
            let (on, took, budget) = (on(), took.as_millis(), BUDGET.as_millis());
            self.off.get_or_init(|| {
                format!(
                    "switched off after taking longer than {budget} ms {OVERRUNS} times in a row, the last time {took} ms on {on}"
                )
            });
        }
    }

    /// Why the expression is switched off.
    pub(super) fn off(&self) -> Option<&str> {
        self.off.get().map(String::as_str)
    }
}

/// How many times in a row something happened, with this time.
fn in_a_row(count: &AtomicU32, happened: bool) -> u32 {
    if happened {
        return count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
    }
    count.store(0, Ordering::Relaxed);
    0
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
        assert_eq!((guard.admit(), guard.off()), (Ok(()), None));
    }

    #[test]
    fn what_is_slow_every_time_is_switched_off_for_good() {
        let guard = Guard::default();
        (0..OVERRUNS).for_each(|_| guard.note(SLOW, None, widget));
        let why = "switched off after taking longer than 20 ms 5 times in a row, the last time 21 ms on Widget lab/w";
        assert_eq!(guard.admit(), Err(EvalError::SwitchedOff(why.into())));
        guard.note(QUICK, None, widget);
        assert_eq!(guard.off(), Some(why));
    }

    #[test]
    fn what_fails_on_some_objects_goes_on_and_what_fails_on_all_does_not() {
        let guard = Guard::default();
        for _ in 0..10 {
            (1..FAULTS).for_each(|_| guard.note(QUICK, Some(&fault()), widget));
            guard.note(QUICK, None, widget);
        }
        assert_eq!((guard.admit(), guard.off()), (Ok(()), None));
        (0..FAULTS).for_each(|_| guard.note(QUICK, Some(&fault()), widget));
        let why = "switched off after 20 failures in a row, the last on Widget lab/w: division by zero";
        assert_eq!(guard.admit(), Err(EvalError::SwitchedOff(why.into())));
        assert_eq!(guard.off(), Some(why));
    }
}
