//! From what makes pods down to what keeps them from running.

use super::*;

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: lab}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
status: {replicas: 1, updatedReplicas: 1, conditions: [{type: Progressing, status: 'True', reason: ReplicaSetUpdated}, {type: Available, status: 'False', reason: MinimumReplicasUnavailable}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-old, namespace: lab, labels: {app: web}, annotations: {deployment.kubernetes.io/revision: '9'},
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: Deployment/web, controller: true}]}
spec: {replicas: 1, selector: {matchLabels: {app: web, pod-template-hash: old}}}
status: {replicas: 1, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: of the past}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-new, namespace: lab, labels: {app: web}, annotations: {deployment.kubernetes.io/revision: '10'},
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: Deployment/web, controller: true}]}
spec: {replicas: 1, selector: {matchLabels: {app: web, pod-template-hash: new}}}
status: {replicas: 1, readyReplicas: 0}
---
";

fn pod(name: &str, labels: &str, owner: &str, rest: &str) -> String {
    format!(
        "apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: lab, labels: {{{labels}}}, ownerReferences: [{{name: x, uid: {owner}, controller: true}}]}}
{rest}
---
"
    )
}

const CANNOT_PULL: &str = "status: {phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}";
const STARTING: &str =
    "status: {phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: ContainerCreating}}}]}";
const UNBOUND: &str = "spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}
status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: pod has unbound immediate PersistentVolumeClaims, lastTransitionTime: '2025-03-01T10:00:00Z'}]}";

#[tokio::test]
async fn a_deployment_leads_over_its_newest_replica_set_to_the_worst_pod() {
    let new = "app: web, pod-template-hash: new";
    let yaml = [
        DEPLOYMENT.to_owned(),
        pod("web-a", new, "ReplicaSet/web-new", STARTING),
        pod("web-c", new, "ReplicaSet/web-new", CANNOT_PULL),
        pod("web-b", new, "ReplicaSet/web-new", CANNOT_PULL),
        pod("web-0", new, "ReplicaSet/other", CANNOT_PULL),
        pod(
            "web-1",
            "app: web, pod-template-hash: old",
            "ReplicaSet/web-old",
            "status: {phase: Failed, reason: Evicted}",
        ),
    ]
    .concat();
    assert_chain(
        &explained(&yaml).await,
        &[
            "ReplicaSet lab/web-new ReplicasUnavailable",
            "Pod lab/web-b ImagePullBackOff: container c: no such image",
            "= Degraded ImagePullBackOff",
        ],
    );
}

#[tokio::test]
async fn a_start_like_any_other_explains_nothing() {
    let yaml = DEPLOYMENT.to_owned()
        + &pod("web-a", "app: web, pod-template-hash: new", "ReplicaSet/web-new", STARTING);
    assert_chain(&explained(&yaml).await, &[]);
}

#[tokio::test]
async fn a_pod_that_waits_says_what_was_reported() {
    let event = |kind: &str, minute: u8, reason: &str| {
        format!(
            "apiVersion: v1
kind: Event
type: {kind}
reason: {reason}
message: {reason} it is
lastTimestamp: '2025-03-01T09:{minute}:00Z'
involvedObject: {{kind: Pod, namespace: lab, name: web-a, uid: Pod/web-a}}
---
"
        )
    };
    let pod = pod("web-a", "app: web, pod-template-hash: new", "ReplicaSet/web-new", STARTING);
    let yaml = DEPLOYMENT.to_owned()
        + &pod
        + &event("Warning", 50, "FailedAttachVolume")
        + &event("Warning", 59, "FailedMount")
        + &event("Normal", 59, "Scheduled");
    assert_chain(
        &explained(&yaml).await,
        &[
            "ReplicaSet lab/web-new",
            "Pod lab/web-a NotReady: 0 of 1 containers ready",
            "Pod lab/web-a FailedMount: FailedMount it is",
        ],
    );
    let old = DEPLOYMENT.to_owned() + &pod + &event("Warning", 10, "FailedMount");
    assert_chain(&explained(&old).await, &[]);
}

#[tokio::test]
async fn a_claim_without_a_class_is_behind_its_pods() {
    let set = "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: lab}
spec: {replicas: 1, selector: {matchLabels: {app: db}}}
status: {replicas: 1}
---
"
    .to_owned()
        + &pod("db-0", "app: db", "StatefulSet/db", UNBOUND);
    let claim = "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: lab}
spec: {}
status: {phase: Pending}
---
";
    let event = "apiVersion: v1
kind: Event
type: Normal
reason: FailedBinding
message: no persistent volumes available for this claim and no storage class is set
lastTimestamp: '2025-03-01T10:00:00Z'
involvedObject: {kind: PersistentVolumeClaim, namespace: lab, name: data, uid: PersistentVolumeClaim/data}
---
";
    assert_chain(
        &explained(&(set.clone() + claim + event)).await,
        &[
            "Pod lab/db-0 Unschedulable: pod has unbound",
            "PersistentVolumeClaim lab/data NoStorageClass",
            "PersistentVolumeClaim lab/data FailedBinding: no persistent volumes",
        ],
    );
    assert_chain(
        &explained(&set).await,
        &["Pod lab/db-0 Unschedulable", "PersistentVolumeClaim lab/data NotFound: doesn't exist"],
    );
    assert_chain(
        &explained(&(set + &claim.replace("spec: {}", "spec: {storageClassName: fast}"))).await,
        &[
            "Pod lab/db-0 Unschedulable",
            "PersistentVolumeClaim lab/data WaitingForConsumer",
            "StorageClass fast NotFound: doesn't exist",
            "= Degraded NotFound",
        ],
    );
}

#[tokio::test]
async fn what_was_reported_settles_what_a_claim_waits_for() {
    let claim = "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: lab}
spec: {storageClassName: late}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
---
apiVersion: v1
kind: Event
type: TYPE
reason: REASON
message: it says
lastTimestamp: '2025-03-01T10:00:00Z'
involvedObject: {kind: PersistentVolumeClaim, namespace: lab, name: data, uid: PersistentVolumeClaim/data}
";
    let failed = claim.replace("TYPE", "Warning").replace("REASON", "ProvisioningFailed");
    let reported = "PersistentVolumeClaim lab/data ProvisioningFailed: it says";
    assert_chain(&explained(&failed).await, &[reported, "= Degraded ProvisioningFailed"]);
    let waits = claim.replace("TYPE", "Normal").replace("REASON", "WaitForFirstConsumer");
    assert_chain(&explained(&waits).await, &[]);
}

#[tokio::test]
async fn a_claim_that_waits_for_its_pod_is_not_why_the_pod_waits() {
    let yaml = pod("db-0", "app: db", "StatefulSet/db", UNBOUND)
        + "apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: lab}
spec: {storageClassName: late}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
";
    assert_chain(&explained(&yaml).await, &[]);
}

#[tokio::test]
async fn a_node_that_is_gone_or_down_is_behind_its_pods() {
    let waiting =
        pod("web-a", "app: web", "x", &STARTING.replace("status:", "spec: {nodeName: n1}\nstatus:"));
    let node = "apiVersion: v1
kind: Node
metadata: {name: n1}
status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: stopped posting}]}
";
    assert_chain(
        &explained(&(waiting.clone() + node)).await,
        &["Node n1 NodeStatusUnknown: stopped posting", "= Degraded NodeStatusUnknown"],
    );
    assert_chain(&explained(&waiting).await, &["Node n1 NotFound"]);
}

#[tokio::test]
async fn what_has_no_pods_says_why_none_could_be_made() {
    for (kind, status) in [
        ("StatefulSet", "status: {replicas: 0}"),
        ("DaemonSet", "status: {desiredNumberScheduled: 3}"),
        ("ReplicaSet", "status: {replicas: 0}"),
    ] {
        let yaml = format!(
            "apiVersion: apps/v1
kind: {kind}
metadata: {{name: db, namespace: lab}}
spec: {{replicas: 1, selector: {{matchLabels: {{app: db}}}}}}
{status}
---
apiVersion: events.k8s.io/v1
kind: Event
type: Warning
reason: FailedCreate
note: 'pods \"db-0\" is forbidden: exceeded quota: small'
eventTime: '2025-03-01T10:00:00.000001Z'
regarding: {{kind: {kind}, namespace: lab, name: db, uid: {kind}/db}}
"
        );
        let expected = format!("{kind} lab/db FailedCreate: pods \"db-0\" is forbidden: exceeded quota");
        assert_chain(&explained(&yaml).await, &[&expected]);
    }
}

#[tokio::test]
async fn a_job_leads_to_the_pod_that_failed_last_and_a_cron_job_to_its_last_job() {
    let ended = |name: &str, minute: u8, code: u8| {
        pod(
            name,
            "job-name: init",
            "Job/init",
            &format!("status: {{phase: Failed, containerStatuses: [{{name: c, state: {{terminated: {{exitCode: {code}, reason: Error}}}}}}]}}"),
        )
        .replace("metadata: {", &format!("metadata: {{creationTimestamp: '2025-03-01T09:{minute}:00Z', "))
    };
    let job = "apiVersion: batch/v1
kind: Job
metadata: {name: init, namespace: lab, creationTimestamp: '2025-03-01T09:00:00Z',
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: CronJob/nightly, controller: true}]}
spec: {selector: {matchLabels: {job-name: init}}}
status: {failed: 2, conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: it is over}]}
---
";
    let pods = ended("init-z", 10, 1) + &ended("init-a", 20, 2) + &ended("init-m", 15, 3);
    let below = ["Pod lab/init-a Error: container c ended with exit code 2", "= Degraded Error"];
    assert_chain(&explained(&(job.to_owned() + &pods)).await, &below);

    let cron = "apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: lab}
status: {lastScheduleTime: '2025-03-01T09:00:00Z'}
---
";
    let older = job.replace("name: init", "name: older").replace("09:00", "08:00");
    assert_chain(
        &explained(&(cron.to_owned() + &older + job + &pods)).await,
        &["Job lab/init BackoffLimitExceeded: it is over", below[0], below[1]],
    );
}

#[tokio::test]
async fn a_controller_without_uids_is_known_by_its_name() {
    let yaml = "
apiVersion: v1
kind: ReplicationController
metadata: {name: old, namespace: lab, uid: ''}
spec: {replicas: 1, selector: {app: old}}
status: {replicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: old-1, namespace: lab, labels: {app: old}, ownerReferences: [{apiVersion: v1, kind: ReplicationController, name: old, controller: true}]}
"
    .to_owned()
        + CANNOT_PULL;
    assert_chain(&explained(&yaml).await, &["Pod lab/old-1 ImagePullBackOff", "= Degraded ImagePullBackOff"]);
}
