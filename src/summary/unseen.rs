//! Components that an `Addon` counted before the start and didn't name. Until every kind was listed nobody knows
//! whether they are still there: they stay in the counts.

use super::status::{draft, ready};
use crate::{
    api::{AddonStatus, ComponentStatus, Counts, condition, importance},
    model::{Health, Timestamp},
};

/// The reason of what isn't known of them.
const NOT_SEEN: &str = "ComponentsNotSeen";

/// What an `Addon` says of more components than it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unnamed {
    /// All components, those among it that it names.
    pub total: i32,
    /// Those that it doesn't name.
    counts: Counts,
}

/// How the kinds are watched that could hold what wasn't seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Some are being listed for the first time: what was known holds.
    UnderWay,
    /// Some can't be: nothing is known.
    InVain,
}

impl Unnamed {
    /// What `status` counts and doesn't name; `None` where it names all.
    pub fn of(status: &AddonStatus) -> Option<Self> {
        if status.omitted <= 0 {
            return None;
        }
        let mut counts = status.counts;
        for component in &status.components {
            less(&mut counts, component);
        }
        Some(Self { total: status.counts.total, counts })
    }

    /// Adds to the status of the components that are known those that aren't, so that there are as many as there
    /// were. Where there are already, nothing.
    pub fn join(&self, status: &mut AddonStatus, listing: Listing, now: Timestamp) {
        let missing = self.total.saturating_sub(status.counts.total);
        if missing <= 0 {
            return;
        }
        status.counts.total += missing;
        status.omitted = status.omitted.saturating_add(missing);
        match listing {
            Listing::UnderWay => self.add(&mut status.counts, missing),
            Listing::InVain => {
                status.counts.unknown += missing;
                doubt(status, missing, now);
            }
        }
        status.ready = ready(&status.counts);
    }

    /// As many of them as are missing, the least well first: those that came since are mostly well.
    fn add(&self, counts: &mut Counts, mut missing: i32) {
        counts.informational += self.counts.informational.clamp(0, missing);
        let mut own = self.counts;
        for health in Health::ALL.into_iter().rev() {
            let some = (*own.of(health)).clamp(0, missing);
            *counts.of(health) += some;
            missing -= some;
        }
        counts.healthy += missing;
    }
}

fn less(counts: &mut Counts, named: &ComponentStatus) {
    counts.total -= 1;
    *counts.of(Health::parse(&named.health)) -= 1;
    counts.informational -= i32::from(named.importance.as_deref() == Some(importance::INFORMATIONAL));
}

/// Nobody can tell how the add-on is, unless it is worse already.
fn doubt(status: &mut AddonStatus, missing: i32, now: Timestamp) {
    let message = format!("{missing} components haven't been seen since the controller started");
    let mut say = |kind: &str, word: &str| {
        let others = status.conditions.iter_mut();
        for said in others.filter(|said| said.kind == kind) {
            *said = draft(kind, word, NOT_SEEN, &message, None, now);
        }
    };
    say(condition::OBSERVED, "False");
    let health = Health::parse(&status.health);
    if health.worst(Health::Unknown) != health {
        say(condition::READY, "Unknown");
        status.health = Health::Unknown.to_string();
        status.reason = NOT_SEEN.to_owned();
        status.message = message;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// An `Addon` of five components of which it names one, which is degraded.
    fn written() -> AddonStatus {
        let counts = Counts { total: 5, healthy: 3, progressing: 1, degraded: 1, ..Counts::default() };
        let named = serde_json::json!({
            "kind": "Gear", "resource": "gears", "version": "v1", "name": "a", "uid": "a", "health": "Degraded",
            "reason": "Bad", "rule": "test",
        });
        let named = serde_json::from_value(named).unwrap();
        AddonStatus { counts, components: vec![named], omitted: 4, ..AddonStatus::default() }
    }

    fn known(health: Health, total: i32) -> AddonStatus {
        let mut counts = Counts { total, ..Counts::default() };
        *counts.of(health) = total;
        let conditions = [condition::READY, condition::OBSERVED]
            .map(|kind| draft(kind, "True", "Fine", "", None, Timestamp::UNIX_EPOCH));
        AddonStatus {
            health: health.to_string(),
            counts,
            conditions: conditions.into(),
            ..AddonStatus::default()
        }
    }

    fn joined(mut status: AddonStatus, listing: Listing) -> AddonStatus {
        let unnamed = Unnamed::of(&written());
        unnamed.iter().for_each(|unnamed| unnamed.join(&mut status, listing, Timestamp::UNIX_EPOCH));
        status
    }

    #[test]
    fn what_is_being_listed_is_counted_as_it_was() {
        let status = joined(known(Health::Degraded, 1), Listing::UnderWay);
        assert_eq!((status.counts, status.omitted, &*status.ready), (written().counts, 4, "3/5"));
        assert_eq!(status.health, "Degraded");
        let more = joined(known(Health::Healthy, 3), Listing::UnderWay);
        assert_eq!((more.counts.total, more.counts.healthy, more.counts.progressing), (5, 4, 1));
        assert_eq!(
            joined(known(Health::Healthy, 7), Listing::InVain),
            known(Health::Healthy, 7),
            "more than there were"
        );
        assert_eq!(Unnamed::of(&known(Health::Healthy, 7)), None);
    }

    #[test]
    fn what_cannot_be_listed_is_not_known() {
        let status = joined(known(Health::Healthy, 1), Listing::InVain);
        assert_eq!((&*status.health, &*status.reason, &*status.ready), ("Unknown", NOT_SEEN, "1/5"));
        let words: Vec<&str> = status.conditions.iter().map(|said| &*said.status).collect();
        assert_eq!(words, ["Unknown", "False"]);
        let worse = joined(known(Health::Degraded, 1), Listing::InVain);
        assert_eq!((&*worse.health, worse.counts.unknown), ("Degraded", 4));
        assert_eq!(worse.conditions[1].reason, NOT_SEEN);
    }
}
