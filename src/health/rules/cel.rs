use crate::health::Subject;

/// An expression, ready to be evaluated.
#[derive(Debug)]
pub(in crate::health) enum Program {}

impl Program {
    pub(in crate::health) fn compile(_: &str) -> Result<Self, String> {
        Err("expressions aren't understood yet".to_owned())
    }

    pub(in crate::health) fn holds(&self, _: Subject) -> Result<bool, String> {
        match *self {}
    }

    pub(in crate::health) fn text(&self, _: Subject) -> Result<Option<String>, String> {
        match *self {}
    }

    pub(in crate::health) fn trouble(&self) -> Option<String> {
        match *self {}
    }
}
