use crate::model::Timestamp;

/// A time in eight bytes, or none. To the second, which is all that the API keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Second(i64);

impl Second {
    /// No time.
    pub(super) const NONE: Self = Self(i64::MIN);

    pub(super) fn get(self) -> Option<Timestamp> {
        if self == Self::NONE { None } else { Timestamp::from_second(self.0).ok() }
    }
}

impl From<Option<Timestamp>> for Second {
    fn from(time: Option<Timestamp>) -> Self {
        time.map_or(Self::NONE, |time| Self(time.as_second()))
    }
}
