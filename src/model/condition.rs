use super::Timestamp;

/// One condition of an object's status, normalised: however the object spells it, it comes out in
/// this form (`health` says how).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// For example `Ready`. Never empty.
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// CamelCase, may be empty.
    pub reason: String,
    /// For people, may be empty. Cleaned and cut.
    pub message: String,
    /// When `status` changed last, where the object says so.
    pub last_transition: Option<Timestamp>,
    /// The generation that was looked at, where the object says so.
    pub observed_generation: Option<i64>,
}

/// Whether a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It doesn't.
    False,
    /// The controller can't tell.
    Unknown,
    /// A word that the API conventions don't know, kept as it was.
    Other(String),
}

impl ConditionStatus {
    /// The word as it stands in the API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
            Self::Other(word) => word,
        }
    }
}
