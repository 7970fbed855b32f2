use super::{
    convention::{Role, Tone, role, tone},
    rules::path::Path,
};

/// What a kind means by its condition types and reasons, where that isn't what they mean everywhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Dialect {
    pub(super) roles: Vec<(String, Role)>,
    /// Every type without a role here is neutral.
    pub(super) only: bool,
    pub(super) tones: Vec<(String, Tone)>,
    /// A reason of no other tone tells of a failure.
    pub(super) others_failing: bool,
    pub(super) generation: ObservedGeneration,
}

/// Where a status says which generation it is of.
#[derive(Clone, Debug, Default)]
pub(super) enum ObservedGeneration {
    /// In `observedGeneration`.
    #[default]
    Common,
    /// Somewhere else.
    At(Path),
    /// Nowhere.
    Nowhere,
}

impl ObservedGeneration {
    pub(super) fn is_common(&self) -> bool {
        matches!(self, Self::Common)
    }
}

impl Dialect {
    /// Whether it says anything about conditions.
    pub(super) fn speaks(&self) -> bool {
        self.only || self.others_failing || !(self.roles.is_empty() && self.tones.is_empty())
    }

    pub(super) fn role(&self, kind: &str) -> Role {
        match self.roles.iter().find(|(own, _)| own == kind) {
            Some((_, role)) => *role,
            None if self.only => Role::Neutral,
            None => role(kind),
        }
    }

    pub(super) fn tone(&self, reason: &str) -> Tone {
        match self.tones.iter().find(|(own, _)| own == reason) {
            Some((_, tone)) => *tone,
            None => match tone(reason) {
                Tone::Neutral | Tone::Done if self.others_failing => Tone::Failing,
                tone => tone,
            },
        }
    }
}
