//! Expressions in rules, in the Common Expression Language.
//!
//! An expression reads `metadata`, `spec` and `status`, and three functions of ours:
//!
//! - `cond("Ready")`: the condition, normalised, with the fields `type`, `status`, `reason`,
//!   `message`, `lastTransitionTime` and `observedGeneration`; they are empty where the object has no
//!   such condition.
//! - `phase()`: `status.phase`, or an empty text.
//! - `gen()`: whether the status is of the object's current generation.
//!
//! There is no clock. What isn't there, or is null, makes a condition not hold and a fact absent; that
//! is so under `!` too, so ask `!has(status.a.b)` where absence is meant.
//!
//! Strangers write rules and the interpreter can't be interrupted. So what an expression may say is
//! bounded before it runs (`source`, `check`), what it reads is counted while it runs (`meter`), and
//! what takes long or fails all the same is switched off (`guard`).

mod check;
mod context;
mod fault;
mod guard;
mod meter;
mod names;
mod pattern;
mod rewrite;
mod source;
#[cfg(test)]
mod tests;
mod val;
mod view;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use cel::{
    IdedExpr, Value,
    common::{
        types::{CelBool, CelDouble, CelInt, CelOptional, CelString, CelUInt, Kind},
        value::Val,
    },
};
use thiserror::Error;

use self::{
    context::{ROOT, Scope},
    guard::Guard,
    meter::{ENTRIES, Excess, Meter, TEXT_BYTES},
    pattern::Pattern,
    source::Source,
};
use crate::{health::subject::Subject, model::text};

/// Why an expression isn't accepted, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub(crate) struct CompileError {
    /// What is wrong.
    pub(crate) message: String,
    /// From 1 on.
    pub(crate) line: usize,
    /// In characters, from 1 on.
    pub(crate) column: usize,
}

/// Why an expression has no answer for an object, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum EvalError {
    /// It asks for something that can't be done with what the object holds.
    #[error("{0}")]
    Fault(String),
    /// The object holds more than an expression may go through.
    #[error("{0}")]
    TooLarge(String),
    /// It was too slow or failed too often before.
    #[error("{0}")]
    SwitchedOff(String),
}

/// An expression that was accepted. Share it: it keeps count of how it does.
#[derive(Debug)]
pub(crate) struct Program {
    tree: IdedExpr,
    patterns: Vec<Pattern>,
    reads_object: bool,
    guard: Guard,
}

impl Program {
    /// Accepts an expression.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it.
    pub(crate) fn compile(source: &str) -> Result<Self, CompileError> {
        let source = Source::scan(source)?;
        let mut tree = source.parse()?;
        let (patterns, reads_object) = check::check(&mut tree, &source)?;
        Ok(Self { tree, patterns, reads_object, guard: Guard::default() })
    }

    /// Whether it reads anything of an object. One that doesn't says the same of each.
    pub(crate) fn reads_object(&self) -> bool {
        self.reads_object
    }

    /// Whether the condition holds for the object. It doesn't where it asks for something that isn't
    /// there.
    pub(crate) fn holds(&self, subject: Subject) -> Result<bool, EvalError> {
        self.evaluate(subject, |answer| match answer {
            None => Ok(false),
            Some(value) => match value.downcast_ref::<CelBool>() {
                Some(bool) => Ok(*bool.inner()),
                None => {
                    Err(EvalError::Fault(format!("it gives a {}, not true or false", fault::kind(value))))
                }
            },
        })
    }

    /// What the expression says of the object, cleaned, and cut where it is long; `None` where it asks
    /// for something that isn't there.
    pub(crate) fn text(&self, subject: Subject) -> Result<Option<String>, EvalError> {
        self.evaluate(subject, |answer| {
            let Some(value) = answer else { return Ok(None) };
            let words = match value.get_type().kind() {
                Kind::String => value.downcast_ref::<CelString>().map(|text| text::message(text.inner())),
                Kind::Int => value.downcast_ref::<CelInt>().map(|int| int.inner().to_string()),
                Kind::UInt => value.downcast_ref::<CelUInt>().map(|large| large.inner().to_string()),
                Kind::Double => value.downcast_ref::<CelDouble>().map(|float| float.inner().to_string()),
                Kind::Boolean => value.downcast_ref::<CelBool>().map(|bool| bool.inner().to_string()),
                _ => None,
            };
            let refused =
                || EvalError::Fault(format!("it gives a {}, not a text or a number", fault::kind(value)));
            words.ok_or_else(refused).map(Some)
        })
    }

    /// Why it is switched off.
    pub(crate) fn switched_off(&self) -> Option<&str> {
        self.guard.switched_off()
    }

    /// What is wrong with the expression, as seen so far: that it is switched off, or how it failed
    /// first.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.guard.trouble()
    }

    /// How it failed first and on which object, and how often it has failed in all.
    pub(crate) fn failures(&self) -> Option<(&str, u32)> {
        self.guard.failures()
    }

    fn evaluate<T>(
        &self,
        subject: Subject,
        read: impl FnOnce(Option<&dyn Val>) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        self.guard.admit()?;
        let start = Instant::now();
        // The interpreter is another project's: should it panic on some value, the expression has no
        // answer for that object, and the watch that judges it lives on.
        let answer = catch_unwind(AssertUnwindSafe(|| self.run(subject, read)))
            .unwrap_or_else(|_| Err(EvalError::Fault("the interpreter broke down".to_owned())));
        self.guard.note(start.elapsed(), answer.as_ref().err(), || subject.object.reference.to_string());
        answer
    }

    fn run<T>(
        &self,
        subject: Subject,
        read: impl FnOnce(Option<&dyn Val>) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        let scope = Scope { subject, patterns: &self.patterns, meter: Meter::new() };
        let root = ROOT.as_ref().map_err(|error| EvalError::Fault(error.to_string()))?;
        let mut context = root.new_inner_scope();
        context.set_variable_resolver(&scope);
        let answer = Value::resolve_val(&self.tree, &context);
        if let Some(excess) = scope.meter.excess() {
            return Err(EvalError::TooLarge(match excess {
                Excess::Work => "it goes through too much".to_owned(),
                Excess::Entries => format!("it goes through a list of more than {ENTRIES} entries"),
                Excess::Text => format!("it reads a text of more than {TEXT_BYTES} bytes"),
            }));
        }
        match answer {
            Ok(value) => match value.downcast_ref::<CelOptional>() {
                Some(optional) => read(optional.option().filter(there)),
                None => read(Some(&*value).filter(there)),
            },
            Err(error) if fault::is_absence(&error) => read(None),
            Err(error) => Err(EvalError::Fault(fault::plain(&error))),
        }
    }
}

fn there(value: &&dyn Val) -> bool {
    value.get_type().kind() != Kind::NullType
}
