use crate::{
    health::{Finding, Subject, subject::int},
    model::Timestamp,
};

/// The counters of a workload.
#[derive(Clone, Copy)]
pub(super) struct Replicas {
    pub(super) desired: i64,
    pub(super) total: i64,
    pub(super) updated: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
}

impl Replicas {
    pub(super) fn of(subject: Subject) -> Self {
        Self {
            desired: desired(subject),
            total: subject.count("replicas"),
            updated: subject.count("updatedReplicas"),
            ready: subject.count("readyReplicas"),
            available: subject.count("availableReplicas"),
        }
    }

    pub(super) fn complete(&self) -> bool {
        self.available >= self.desired
    }

    /// `2 of 3 replicas available`
    pub(super) fn message(&self) -> String {
        format!("{} of {} replicas available", self.available, self.desired)
    }

    /// The verdict on a workload that has all it asks for.
    pub(super) fn healthy(&self) -> Finding {
        if self.desired == 0 {
            Finding::healthy("ScaledToZero").message("no replicas asked for")
        } else {
            Finding::healthy("ReplicasAvailable").message(self.message())
        }
    }

    /// The verdict on a workload where more run than are asked for.
    pub(super) fn surplus(&self) -> Finding {
        Finding::progressing("ScalingDown")
            .message(format!("{} replicas run, {} are asked for", self.total, self.desired))
            .ages()
    }

    /// The verdict on a workload of which some replicas aren't available.
    pub(super) fn unavailable(&self) -> Finding {
        Finding::progressing("ReplicasUnavailable").message(self.message())
    }

    /// The same for a workload that says no times. An outage counts from `created`; that some of
    /// several are missing may have begun just now, and one restarting pod is no failure.
    pub(super) fn unavailable_since(&self, created: Option<Timestamp>) -> Finding {
        if self.available == 0 {
            self.unavailable().then_degraded(created)
        } else {
            self.unavailable().ages()
        }
    }
}

/// Whether a ready Pod has to stay so for a while before it is available.
pub(super) fn settles(subject: Subject) -> bool {
    int(subject.spec("minReadySeconds")).is_some_and(|seconds| seconds > 0)
}

/// How many replicas are asked for; one where the spec doesn't say.
pub(super) fn desired(subject: Subject) -> i64 {
    int(subject.spec("replicas")).unwrap_or(1)
}
