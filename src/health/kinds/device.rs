//! Claims on devices (dynamic resource allocation).

use serde_json::Value;

use crate::{
    health::{
        Finding, Subject, conditions,
        convention::{Tone, tone},
    },
    model::Health,
};

/// A claim is allocated when a Pod uses it, not before. What a driver says of a device that was
/// allocated counts.
pub(super) fn claim(subject: Subject) -> Finding {
    if subject.status("allocation").is_null() {
        return Finding::healthy("NotAllocated").message("it is allocated when a pod uses it");
    }
    let devices = subject.status("devices").as_array().map(Vec::as_slice).unwrap_or_default();
    devices.iter().find_map(|device| unready(subject, device)).unwrap_or_else(|| {
        let users = subject.status("reservedFor").as_array().map_or(0, Vec::len);
        Finding::healthy("Allocated").message(format!("reserved for {users}"))
    })
}

fn unready(subject: Subject, device: &Value) -> Option<Finding> {
    let readings = conditions::read(device.get("conditions"));
    let ready = Subject { conditions: &readings, ..subject }.denies("Ready")?;
    let name = device.get("device").and_then(Value::as_str).unwrap_or_default();
    Some(match tone(&ready.reason) {
        Tone::Moving => Finding::of(Health::Progressing, ready).prefixed(name).overdue(),
        _ => Finding::of(Health::Degraded, ready).prefixed(name),
    })
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn claims() {
        let device = |status: &str, reason: &str| {
            format!(
                "{{status: {{allocation: {{devices: {{}}}}, reservedFor: [{{resource: pods}}], devices: [{{device: gpu-0, conditions: [{{type: Ready, status: '{status}', reason: {reason}, message: lost}}]}}]}}}}"
            )
        };
        check(
            "resource.k8s.io/v1",
            "ResourceClaim",
            &[
                ("{}", "Healthy NotAllocated: it is allocated when a pod uses it"),
                ("{status: {allocation: {}}}", "Healthy Allocated: reserved for 0"),
                (&device("True", "Configured"), "Healthy Allocated: reserved for 1"),
                (&device("False", "Reset"), "Degraded Reset: gpu-0: lost"),
                (&device("False", "Pending"), "Progressing Pending: gpu-0: lost -> overdue after 10m"),
            ],
        );
    }
}
