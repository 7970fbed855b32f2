use serde_json::Value;

use crate::{
    health::{Finding, Subject},
    model::Health,
};

/// Conditions of a bound claim that tell of a failure.
const CLAIM_FAILURES: [&str; 3] = ["ControllerResizeError", "NodeResizeError", "ModifyVolumeError"];

/// Set once a provisioner was asked for the volume of a claim.
const PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
const BETA_PROVISIONER: &str = "volume.beta.kubernetes.io/storage-provisioner";

pub(super) fn claim(subject: Subject) -> Finding {
    match subject.word("phase") {
        "Bound" => bound(subject),
        "Lost" => Finding::degraded("Lost").message("its volume is gone"),
        "Pending" => pending(subject),
        _ => subject.not_yet_observed(),
    }
}

fn bound(subject: Subject) -> Finding {
    if let Some(failure) = CLAIM_FAILURES.iter().find_map(|kind| subject.holds(kind)) {
        return Finding::of(Health::Degraded, failure);
    }
    let bound = Finding::healthy("Bound");
    match subject.holds("FileSystemResizePending").or_else(|| subject.holds("Resizing")) {
        Some(resizing) if resizing.message.is_empty() => bound.message("being resized"),
        Some(resizing) => bound.message(&resizing.message),
        None => bound,
    }
}

fn pending(subject: Subject) -> Finding {
    let created = subject.object.created;
    if let Some(provisioner) =
        subject.annotation(PROVISIONER).or_else(|| subject.annotation(BETA_PROVISIONER))
    {
        return Finding::progressing("Provisioning")
            .message(format!("waits for {provisioner} to make its volume"))
            .since(created)
            .overdue();
    }
    match subject.spec("storageClassName").as_str() {
        Some("") => {
            Finding::progressing("VolumePending").message("waits for a volume without a storage class")
        }
        None => Finding::progressing("NoStorageClass")
            .message("names no storage class, and no default class was set when it was made"),
        // The class may wait for a first consumer, which is no fault of the claim.
        Some(class) => {
            return Finding::progressing("WaitingForConsumer")
                .message(format!("waits for a pod that uses it or for storage class {class}"));
        }
    }
    .since(created)
    .overdue()
}

pub(super) fn volume(subject: Subject) -> Finding {
    match subject.word("phase") {
        phase @ ("Bound" | "Available" | "Released") => Finding::healthy(phase),
        "Failed" => {
            let reason = subject.word("reason");
            Finding::degraded(if reason.is_empty() { "Failed" } else { reason })
                .message(subject.word("message"))
        }
        "Pending" => Finding::progressing("Pending").since(subject.object.created).overdue(),
        _ => subject.not_yet_observed(),
    }
}

pub(super) fn attachment(subject: Subject) -> Finding {
    let error = ["attachError", "detachError"].iter().find_map(|field| subject.status(field).as_object());
    if let Some(error) = error {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        return Finding::degraded("AttachFailed").message(message);
    }
    match subject.status("attached") {
        Value::Bool(true) => Finding::healthy("Attached"),
        _ => Finding::progressing("Attaching").since(subject.object.created).overdue(),
    }
}

#[cfg(test)]
mod tests {
    use crate::health::testing::check;

    #[test]
    fn claims() {
        check(
            "v1",
            "PersistentVolumeClaim",
            &[
                ("{}", "Progressing NotYetObserved"),
                ("{status: {phase: Bound}}", "Healthy Bound"),
                ("{status: {phase: Lost}}", "Degraded Lost"),
                (
                    "{spec: {storageClassName: fast}, status: {phase: Pending}}",
                    "Progressing WaitingForConsumer: waits for a pod that uses it or for storage class fast",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {phase: Pending}}",
                    "Progressing NoStorageClass: names no storage class, and no default class was set when it was made -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: NoStorageClass",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z', annotations: {volume.kubernetes.io/storage-provisioner: csi.test}}, spec: {storageClassName: fast}, status: {phase: Pending}}",
                    "Progressing Provisioning: waits for csi.test to make its volume -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: Provisioning",
                ),
                (
                    "{status: {phase: Bound, conditions: [{type: FileSystemResizePending, status: 'True'}]}}",
                    "Healthy Bound: being resized",
                ),
                (
                    "{status: {phase: Bound, conditions: [{type: NodeResizeError, status: 'True', message: no room}]}}",
                    "Degraded NodeResizeError: no room",
                ),
            ],
        );
    }

    #[test]
    fn volumes_and_attachments() {
        check(
            "v1",
            "PersistentVolume",
            &[
                ("{status: {phase: Available}}", "Healthy Available"),
                ("{status: {phase: Released}}", "Healthy Released"),
                (
                    "{status: {phase: Failed, reason: VolumeFailedDelete, message: still attached}}",
                    "Degraded VolumeFailedDelete: still attached",
                ),
            ],
        );
        check(
            "storage.k8s.io/v1",
            "VolumeAttachment",
            &[
                ("{status: {attached: true}}", "Healthy Attached"),
                ("{status: {attached: false}}", "Progressing Attaching"),
                (
                    "{status: {attached: false, attachError: {message: no such disk}}}",
                    "Degraded AttachFailed: no such disk",
                ),
            ],
        );
    }
}
