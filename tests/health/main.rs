//! The verdicts, held against cases that others wrote, and properties that hold for any object.
//!
//! `README.md` beside this file says what is measured and how to add a case.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod arbitrary;
mod disagreements;
mod fixtures;
mod properties;
mod report;
mod reported;
mod suites;
