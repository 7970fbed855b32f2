use serde_json::Value;

use crate::{
    health::{Finding, Subject, finding::joined},
    model::{Health, decode},
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
    if let Some(refused) = refused(subject) {
        return Finding::told(Health::Degraded, refused).message("its volume stays as it is");
    }
    if let Some(adverse) = adverse(subject) {
        return adverse;
    }
    let bound = Finding::healthy("Bound");
    let changing = ["FileSystemResizePending", "Resizing", "ModifyingVolume"];
    match changing.iter().find_map(|kind| subject.holds(kind)) {
        Some(changing) if !changing.message.is_empty() => bound.message(&*changing.message),
        Some(changing) if changing.kind == "ModifyingVolume" => bound.message("being modified"),
        Some(_) => bound.message("being resized"),
        None => bound,
    }
}

/// A change of the volume that its driver refused for good.
fn refused(subject: Subject<'_>) -> Option<&str> {
    let resizes = subject.status("allocatedResourceStatuses").as_object();
    let resizes = resizes.into_iter().flat_map(|resizes| resizes.values());
    let modification = subject.status("modifyVolumeStatus").get("status");
    let ends = |word: &&str| word.ends_with("Infeasible") || word.ends_with("ResizeFailed");
    resizes.chain(modification).filter_map(Value::as_str).find(ends)
}

/// What the driver reports of the volume itself (since Kubernetes 1.37).
fn adverse(subject: Subject) -> Option<Finding> {
    let health = subject.status("healthStatus");
    let first = health.get("healthConditions")?.as_array()?.first()?;
    let field = |name: &str| first.get(name).and_then(Value::as_str).unwrap_or_default();
    let reason = if field("reason").is_empty() { field("status") } else { field("reason") };
    let finding = Finding::told(Health::Degraded, reason).message(joined(field("status"), field("message")));
    Some(finding.since(decode::time(health.get("lastTransitionTime"))))
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
    let volume = subject.spec("volumeName").as_str().filter(|name| !name.is_empty());
    match (volume, subject.spec("storageClassName").as_str()) {
        (Some(volume), _) => {
            Finding::progressing("VolumePending").message(format!("waits for volume {volume}"))
        }
        (None, Some("")) => {
            Finding::progressing("VolumePending").message("waits for a volume without a storage class")
        }
        (None, None) => Finding::progressing("NoStorageClass")
            .message("names no storage class, and no default class was set when it was made"),
        // The class may wait for a first consumer, which is no fault of the claim, or not be there:
        // the claim doesn't tell.
        (None, Some(class)) => {
            return Finding::progressing("WaitingForConsumer")
                .message(format!("waits for a pod that uses it or for storage class {class}"))
                .since(created)
                .then_unknown(created);
        }
    }
    .since(created)
    .overdue()
}

pub(super) fn volume(subject: Subject) -> Finding {
    let since = subject.time("lastPhaseTransitionTime");
    match subject.word("phase") {
        "Bound" => Finding::healthy("Bound").since(since),
        "Available" => Finding::healthy("Available").since(since),
        "Released" => Finding::healthy("Released").since(since),
        "Failed" => {
            let reason = subject.word("reason");
            Finding::told(Health::Degraded, if reason.is_empty() { "Failed" } else { reason })
                .message(subject.word("message"))
                .since(since)
        }
        "Pending" => Finding::progressing("Pending").since(since.or(subject.object.created)).overdue(),
        _ => subject.not_yet_observed(),
    }
}

pub(super) fn attachment(subject: Subject) -> Finding {
    // An error is the last one, not the present one: it counts only while the volume isn't there.
    if *subject.status("attached") == Value::Bool(true) {
        return Finding::healthy("Attached");
    }
    let error = ["attachError", "detachError"].iter().find_map(|field| subject.status(field).as_object());
    if let Some(error) = error {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        return Finding::degraded("AttachFailed").message(message).since(decode::time(error.get("time")));
    }
    Finding::progressing("Attaching").since(subject.object.created).overdue()
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
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {storageClassName: fast}, status: {phase: Pending}}",
                    "Progressing WaitingForConsumer: waits for a pod that uses it or for storage class fast -> 2025-03-01T10:10:00Z Unknown WaitingForConsumer",
                ),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, spec: {storageClassName: fast, volumeName: v1}, status: {phase: Pending}}",
                    "Progressing VolumePending: waits for volume v1 -> 2025-03-01T10:10:00Z Degraded",
                ),
                (
                    "{status: {phase: Bound, allocatedResourceStatuses: {storage: NodeResizePending}}}",
                    "Healthy Bound",
                ),
                (
                    "{status: {phase: Bound, allocatedResourceStatuses: {storage: ControllerResizeInfeasible}}}",
                    "Degraded ControllerResizeInfeasible",
                ),
                ("{status: {phase: Bound, modifyVolumeStatus: {status: InProgress}}}", "Healthy Bound"),
                ("{status: {phase: Bound, modifyVolumeStatus: {status: Infeasible}}}", "Degraded Infeasible"),
                ("{status: {phase: Bound, healthStatus: {healthConditions: []}}}", "Healthy Bound"),
                (
                    "{status: {phase: Bound, healthStatus: {healthConditions: [{status: DataLoss, reason: BlocksLost, message: two}]}}}",
                    "Degraded BlocksLost: DataLoss: two",
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
                ("{status: {attached: true, attachError: {message: an old one}}}", "Healthy Attached"),
                ("{status: {attached: false}}", "Progressing Attaching"),
                (
                    "{status: {attached: false, attachError: {message: no such disk}}}",
                    "Degraded AttachFailed: no such disk",
                ),
            ],
        );
    }
}
