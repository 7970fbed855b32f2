use super::{Cause, Verdict};

/// What was found below a component that isn't well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// From the object below the component to the last cause. Empty where nothing explains it.
    pub steps: Vec<Cause>,
    /// The verdict of the lowest of the steps that is Degraded. Without one the steps name a cause and
    /// don't make the component worse than it says itself.
    pub evidence: Option<Verdict>,
    /// What could not be looked at, where that may have hidden a cause.
    pub incomplete: Option<String>,
}

impl Explanation {
    /// The last cause that was found.
    pub fn last(&self) -> Option<&Cause> {
        self.steps.last()
    }
}
