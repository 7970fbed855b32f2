use crate::api::AddonStatus;

/// Gives each condition the time at which its status changed last: that of `previous` where the status
/// is still the same, its own otherwise.
///
/// `previous` is what was shown last, or what the `Addon` object holds after a start. Because times stay
/// with it, a restart finds nothing to write.
pub fn settle(desired: &mut AddonStatus, previous: Option<&AddonStatus>) {
    let Some(previous) = previous else { return };
    for condition in &mut desired.conditions {
        let before = previous.conditions.iter().find(|before| before.kind == condition.kind);
        if let Some(before) = before.filter(|before| before.status == condition.status) {
            condition.last_transition_time = before.last_transition_time.clone();
        }
    }
}
