use serde_json::Value;

use crate::{
    health::{Finding, Subject, conditions::Reading, finding::joined, subject::int},
    model::{ConditionStatus, Health, Owner},
};

pub(super) fn judge(subject: Subject) -> Finding {
    match subject.word("phase") {
        "Succeeded" => Finding::healthy("Completed").message("ran to its end").superseded(),
        "Failed" => failed(subject).superseded(),
        "Running" | "Pending" => alive(subject),
        "" if subject.status("conditions").is_null() => subject.not_yet_observed(),
        "" => alive(subject),
        phase => Finding::told(Health::Unknown, or(subject.word("reason"), "PhaseUnknown"))
            .message(or(subject.word("message"), &format!("its phase is {phase}"))),
    }
}

fn failed(subject: Subject) -> Finding {
    let said = (subject.word("reason"), subject.word("message"));
    if said != ("", "") {
        return Finding::told(Health::Degraded, or(said.0, "PodFailed")).message(said.1);
    }
    let ended = containers(subject).find_map(|container| Some((container.name, container.state.ended()?)));
    match ended.filter(|(_, ended)| ended.code != 0) {
        Some((name, ended)) => {
            Finding::told(Health::Degraded, or(ended.reason, "PodFailed")).message(ended.message(name, 0))
        }
        None => Finding::degraded("PodFailed").message("ended in failure"),
    }
}

fn alive(subject: Subject) -> Finding {
    let ready = subject.condition("Ready");
    let is_ready = match ready {
        Some(ready) => ready.status == ConditionStatus::True,
        None => subject.word("phase") == "Running" && all_ready(subject),
    };
    let since = ready.and_then(Reading::last_transition);
    if is_ready {
        let finding = match runs_to_an_end(subject) {
            Some(why) => Finding::progressing("Running").message(why),
            None => Finding::healthy("Ready").message(ready_containers(subject)),
        };
        return finding.since(since);
    }
    if let Some(broken) = containers(subject).find_map(Container::broken) {
        return broken.since(since);
    }
    if let Some(unscheduled) = subject.denies("PodScheduled") {
        let finding = Finding::of(Health::Progressing, unscheduled);
        // A gate is held by somebody on purpose, however long.
        return if unscheduled.reason == "SchedulingGated" { finding } else { finding.overdue() };
    }
    let (reason, message) = ready.map_or(("", ""), |ready| (&*ready.reason, &*ready.message));
    let message = joined(&ready_containers(subject), message).into_owned();
    let finding = Finding::told(Health::Progressing, or(reason, "NotReady")).message(message);
    finding.since(since.or(subject.object.created)).overdue()
}

/// Annotations that a tool for installing things puts on what it runs once.
const HOOKS: [&str; 2] = ["helm.sh/hook", "argocd.argoproj.io/hook"];

/// Why a Pod that works isn't there yet: it is made to come to an end.
fn runs_to_an_end(subject: Subject) -> Option<&'static str> {
    let of_job = |owner: &Owner| owner.group == "batch" && owner.kind == "Job";
    if subject.object.controller.as_ref().is_some_and(of_job) {
        return Some("its Job runs");
    }
    let ends = matches!(subject.spec("restartPolicy").as_str(), Some("Never" | "OnFailure"));
    (ends && HOOKS.iter().any(|hook| subject.annotation(hook).is_some())).then_some("a hook runs")
}

fn all_ready(subject: Subject) -> bool {
    let mut seen = false;
    statuses(subject, "containerStatuses").iter().all(|status| {
        seen = true;
        status.get("ready") == Some(&Value::Bool(true))
    }) && seen
}

/// `1 of 2 containers ready`, empty where nothing is known of containers.
fn ready_containers(subject: Subject) -> String {
    let statuses = statuses(subject, "containerStatuses");
    let ready = statuses.iter().filter(|status| status.get("ready") == Some(&Value::Bool(true))).count();
    match statuses.len() {
        0 => String::new(),
        all => format!("{ready} of {all} containers ready"),
    }
}

fn statuses<'a>(subject: Subject<'a>, field: &str) -> &'a [Value] {
    subject.status(field).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The containers in the order in which they start.
fn containers(subject: Subject) -> impl Iterator<Item = Container> {
    statuses(subject, "initContainerStatuses")
        .iter()
        .chain(statuses(subject, "containerStatuses"))
        .map(Container::of)
}

struct Container<'a> {
    name: &'a str,
    ready: bool,
    restarts: i64,
    state: State<'a>,
    last: State<'a>,
}

/// `waiting`, `running` or `terminated`, with what stands below.
#[derive(Clone, Copy)]
struct State<'a>(Option<&'a Value>);

/// How a container ended.
struct Ended<'a> {
    reason: &'a str,
    code: i64,
    /// What it left as its last word, or the end of its log. May be empty.
    said: &'a str,
}

impl<'a> Container<'a> {
    fn of(status: &'a Value) -> Self {
        Self {
            name: status.get("name").and_then(Value::as_str).unwrap_or_default(),
            ready: status.get("ready") == Some(&Value::Bool(true)),
            restarts: status.get("restartCount").and_then(int).unwrap_or(0),
            state: State(status.get("state")),
            last: State(status.get("lastState")),
        }
    }

    /// The verdict on the Pod where this container can't start or keeps crashing.
    fn broken(self) -> Option<Finding> {
        let crash = self.state.ended().or_else(|| self.last.ended()).filter(|ended| ended.code != 0);
        if let Some((reason, message)) = self.state.waiting() {
            if !cannot_start(reason) {
                return None;
            }
            let mut told = joined(&format!("container {}", self.name), message).into_owned();
            if self.restarts > 0 {
                told = format!("{told}; {} restarts", self.restarts);
            }
            if let Some(crash) = crash {
                let ended = format!("last exit {} {}", crash.code, crash.reason);
                told = format!("{told}; {}", joined(ended.trim_end(), crash.said));
            }
            return Some(Finding::told(Health::Degraded, reason).message(told));
        }
        let crash = crash.filter(|_| !self.ready)?;
        let told = crash.message(self.name, self.restarts);
        Some(Finding::told(Health::Degraded, or(crash.reason, "Error")).message(told))
    }
}

impl<'a> State<'a> {
    fn waiting(self) -> Option<(&'a str, &'a str)> {
        let waiting = self.0?.get("waiting")?;
        let field = |name: &str| waiting.get(name).and_then(Value::as_str).unwrap_or_default();
        Some((field("reason"), field("message")))
    }

    fn ended(self) -> Option<Ended<'a>> {
        let ended = self.0?.get("terminated")?;
        let text = |name: &str| ended.get(name).and_then(Value::as_str).unwrap_or_default();
        Some(Ended {
            reason: text("reason"),
            code: ended.get("exitCode").and_then(int).unwrap_or(0),
            said: text("message").trim(),
        })
    }
}

impl Ended<'_> {
    fn message(&self, container: &str, restarts: i64) -> String {
        let mut told = format!("container {container} ended with exit code {}", self.code);
        if restarts > 0 {
            told = format!("{told}; {restarts} restarts");
        }
        joined(&told, self.said).into_owned()
    }
}

/// Whether a container that waits for this reason will not start by waiting.
fn cannot_start(reason: &str) -> bool {
    reason.starts_with("Err")
        || reason.ends_with("Error")
        || reason.ends_with("BackOff")
        || matches!(reason, "InvalidImageName" | "RegistryUnavailable" | "SignatureValidationFailed")
}

fn or<'a>(word: &'a str, other: &'a str) -> &'a str {
    if word.is_empty() { other } else { word }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::health::testing::{check, judged};

    #[test]
    fn pods() {
        check(
            "v1",
            "Pod",
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    "{status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: a, ready: true}]}}",
                    "Healthy Ready: 1 of 1 containers ready",
                ),
                ("{status: {phase: Running, containerStatuses: [{name: a, ready: true}]}}", "Healthy Ready"),
                ("{status: {phase: Running}}", "Progressing NotReady"),
                ("{status: {phase: Succeeded}}", "Healthy Completed"),
                ("{status: {phase: Failed, reason: Evicted, message: low on memory}}", "Degraded Evicted: low on memory"),
                (
                    "{status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 2, reason: Error}}}]}}",
                    "Degraded Error: container a ended with exit code 2",
                ),
                (
                    "{status: {phase: Failed, containerStatuses: [{name: m, state: {terminated: {exitCode: 3, reason: Error, message: \"relation users\\nexists\\n\"}}}]}}",
                    "Degraded Error: container m ended with exit code 3: relation users exists",
                ),
                ("{status: {phase: Failed}}", "Degraded PodFailed"),
                ("{status: {phase: Unknown}}", "Unknown PhaseUnknown: its phase is Unknown"),
                (
                    "{status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}}",
                    "Degraded ImagePullBackOff: container a: no such image",
                ),
                ("{status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: InvalidImageName}}}]}}", "Degraded InvalidImageName: container a"),
                ("{status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: CreateContainerConfigError, message: no secret}}}]}}", "Degraded CreateContainerConfigError"),
                ("{status: {phase: Pending, containerStatuses: [{name: a, state: {waiting: {reason: ContainerCreating}}}]}}", "Progressing NotReady: 0 of 1 containers ready"),
                (
                    "{status: {phase: Pending, initContainerStatuses: [{name: i, restartCount: 7, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error}}}],
                        containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}]}}",
                    "Degraded CrashLoopBackOff: container i; 7 restarts; last exit 1 Error",
                ),
                (
                    "{status: {phase: Running, containerStatuses: [{name: a, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off}},
                        lastState: {terminated: {exitCode: 1, reason: Error, message: 'panic: no config'}}}]}}",
                    "Degraded CrashLoopBackOff: container a: back-off; 4 restarts; last exit 1 Error: panic: no config",
                ),
                (
                    "{status: {phase: Running, containerStatuses: [{name: a, restartCount: 4, state: {running: {}},
                        lastState: {terminated: {exitCode: 1, message: 'panic: no config'}}}]}}",
                    "Degraded Error: container a ended with exit code 1; 4 restarts: panic: no config",
                ),
                (
                    "{status: {phase: Running, containerStatuses: [{name: a, ready: false, restartCount: 2, state: {running: {}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}}",
                    "Degraded OOMKilled: container a ended with exit code 137; 2 restarts",
                ),
                (
                    "{status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes, lastTransitionTime: '2025-03-01T10:00:00Z'}]}}",
                    "Progressing Unschedulable: 0/3 nodes -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: Unschedulable: 0/3 nodes",
                ),
                (
                    "{status: {phase: Running, conditions: [{type: Ready, status: 'False', reason: ContainersNotReady, lastTransitionTime: '2025-03-01T10:00:00Z'}], containerStatuses: [{name: a, ready: false}]}}",
                    "Progressing ContainersNotReady: 0 of 1 containers ready -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: ContainersNotReady: 0 of 1",
                ),
            ],
        );
    }

    #[test]
    fn what_ended_says_nothing_about_its_owner() {
        for (phase, superseded) in
            [("Succeeded", true), ("Failed", true), ("Running", false), ("Pending", false)]
        {
            let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "status": {"phase": phase}});
            assert_eq!(judged(&pod).superseded, superseded, "{phase}");
        }
    }

    #[test]
    fn a_hook_is_under_way_while_it_runs() {
        let hook = |policy: &str| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "annotations": {"helm.sh/hook": "test"}},
                "spec": {"restartPolicy": policy}, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
        };
        assert_eq!(judged(&hook("Never")).timeline.first.message, "a hook runs");
        assert_eq!(judged(&hook("Always")).timeline.first.reason, "Ready");
    }

    #[test]
    fn a_pod_of_a_job_is_under_way_while_it_runs() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "x", "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": true}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        assert_eq!(judged(&pod).timeline.first.reason, "Running");
    }
}
