use serde_json::json;

use crate::{
    health::{
        judge,
        testing::{check, judged, object_of},
    },
    model::{Health, StatusReporting},
};

fn widgets(rows: &[(&str, &str)]) {
    check("example.test/v1", "Widget", rows);
}

#[test]
fn a_summary_speaks_for_the_whole() {
    widgets(&[
        (
            "{status: {conditions: [{type: Ready, status: 'True', reason: Error, message: stale}]}}",
            "Healthy Error",
        ),
        ("{status: {conditions: {Ready: {status: true}}}}", "Healthy Ready"),
        (
            "{status: {conditions: [{type: Ready, status: 'False', reason: UpgradeFailed, message: retries exhausted}]}}",
            "Degraded UpgradeFailed: retries exhausted",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'False', reason: NotReady, message: two to go, lastTransitionTime: '2025-03-01T10:00:00Z'}]}}",
            "Progressing NotReady: two to go -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded: for more than 10 minutes: NotReady: two to go",
        ),
        (
            "{status: {conditions: [{type: Ready, status: Unknown, reason: Starting, lastTransitionTime: '2025-03-01T10:00:00Z'}]}}",
            "Progressing Starting -> 2025-03-01T10:10:00Z Unknown Starting",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'False', reason: Migrating, message: 'Error: checksum mismatch'}]}}",
            "Degraded Migrating",
        ),
        (
            "{status: {conditions: [{type: Available, status: Degraded, reason: SomePodsNotReady}]}}",
            "Degraded SomePodsNotReady",
        ),
        ("{status: {conditions: [{type: Available, status: Purple}]}}", "Unknown Available"),
        (
            "{status: {conditions: [{type: Programmed, status: 'True'}, {type: Accepted, status: 'False', reason: NoControllerFound}]}}",
            "Progressing NoControllerFound",
        ),
    ]);
}

#[test]
fn other_roles_add_to_the_summary() {
    widgets(&[
        (
            "{status: {conditions: [{type: Ready, status: 'True'}, {type: Stalled, status: 'True', reason: BadSpec}]}}",
            "Degraded BadSpec",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'True'}, {type: HasErrors, status: 'False'}, {type: Upgradeable, status: 'False'}]}}",
            "Healthy Ready",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'True', reason: Available}, {type: Synced, status: 'False', reason: ReconcileError}]}}",
            "Degraded ReconcileError",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'True'}, {type: RollingOut, status: 'True'}]}}",
            "Progressing RollingOut",
        ),
        (
            "{status: {conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}}",
            "Healthy Available",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'True'}, {type: Issuing, status: 'True', reason: Renewing}]}}",
            "Healthy Ready",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'False', reason: DoesNotExist}, {type: Issuing, status: 'True', reason: First}]}}",
            "Progressing First",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'False', reason: InfraFailed, severity: Info}]}}",
            "Progressing InfraFailed -> overdue after 10m",
        ),
        (
            "{status: {conditions: [{type: Ready, status: 'False', reason: InfraNotThere, severity: Error}]}}",
            "Degraded InfraNotThere",
        ),
        ("{status: {conditions: [{type: CatalogSourcesUnhealthy, status: 'False'}]}}", "Unknown NoSignal"),
        (
            "{status: {conditions: [{type: DatabaseReady, status: 'True'}, {type: CacheReady, status: 'False', reason: Warming}]}}",
            "Progressing Warming",
        ),
        (
            "{status: {conditions: [{type: Deployed, status: 'True'}, {type: DaemonHealthy, status: 'False', reason: Down}]}}",
            "Progressing Down",
        ),
    ]);
}

#[test]
fn evidence_of_an_older_generation_is_void() {
    widgets(&[
        (
            "{metadata: {generation: 4}, status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True'}]}}",
            "Progressing SpecNotObserved",
        ),
        (
            "{metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}}",
            "Progressing SpecNotObserved",
        ),
        (
            "{metadata: {generation: 1}, status: {observedGeneration: -1, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}}",
            "Healthy Ready",
        ),
        (
            "{metadata: {generation: 153}, status: {observedGeneration: '152', phase: Healthy}}",
            "Progressing SpecNotObserved",
        ),
        (
            "{metadata: {generation: 4}, status: {observedGeneration: 3, conditions: [{type: Ready, status: 'False', reason: Failed, message: no disk}]}}",
            "Progressing SpecNotObserved: generation 4 not seen yet, the status is of 3: no disk",
        ),
        (
            "{metadata: {generation: 1}, status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}}",
            "Healthy Ready",
        ),
    ]);
}

#[test]
fn pauses_are_neither_well_nor_ill() {
    widgets(&[
        ("{spec: {suspend: true}}", "Suspended Suspended"),
        ("{spec: {paused: true}, status: {phase: Enabled}}", "Suspended Suspended"),
        (
            "{metadata: {annotations: {crossplane.io/paused: 'true'}}, status: {conditions: [{type: Ready, status: 'True'}]}}",
            "Suspended Suspended",
        ),
        (
            "{status: {conditions: [{type: Paused, status: 'True', reason: ScaledObjectPaused}]}}",
            "Suspended ScaledObjectPaused",
        ),
        (
            "{status: {conditions: [{type: Synced, status: 'False', reason: ReconcilePaused}]}}",
            "Suspended ReconcilePaused",
        ),
        (
            "{spec: {paused: true}, status: {conditions: [{type: Available, status: 'False', reason: NoPods}]}}",
            "Degraded NoPods",
        ),
        (
            "{spec: {suspend: true}, status: {conditions: [{type: Ready, status: 'False', reason: Failed, message: no route}]}}",
            "Suspended Suspended: stopped by its user; before that: no route",
        ),
        (
            "{spec: {paused: false}, status: {conditions: [{type: Ready, status: 'True'}, {type: Paused, status: Unknown}]}}",
            "Healthy Ready",
        ),
    ]);
}

#[test]
fn parts_have_conditions_of_their_own() {
    widgets(&[
        (
            "{metadata: {generation: 2}, status: {parents: [
                {parentRef: {name: gw, sectionName: gone}, conditions: [{type: Accepted, status: 'False', reason: NoMatchingParent, observedGeneration: 1}]},
                {parentRef: {name: gw, sectionName: web}, conditions: [{type: Accepted, status: 'True', observedGeneration: 2}]}]}}",
            "Healthy Accepted: web",
        ),
        (
            "{status: {conditions: [{type: Programmed, status: 'True'}], listeners: [
                {name: web, conditions: [{type: Programmed, status: 'True'}, {type: Conflicted, status: 'False'}]},
                {name: tls, conditions: [{type: Programmed, status: 'False', reason: Invalid, message: no secret}]}]}}",
            "Degraded Invalid: tls: no secret",
        ),
        ("{status: {listeners: [{name: web, conditions: []}]}}", "Progressing NotYetObserved: web: no conditions reported yet"),
    ]);
}

#[test]
fn words_and_counters_tell_where_conditions_do_not() {
    widgets(&[
        ("{status: {currentState: Running}}", "Healthy Running"),
        ("{status: {phase: Zeta}}", "Unknown NoSignal"),
        ("{status: {phase: PartiallyFailed, message: 1 error}}", "Degraded PartiallyFailed: 1 error"),
        ("{status: {phase: Ready, health: yellow}}", "Progressing Yellow"),
        ("{status: {phase: Paused}}", "Suspended Paused"),
        ("{status: {phase: Failed, conditions: [{type: Ready, status: 'True'}]}}", "Degraded Failed"),
        ("{status: {readyToUse: true, error: {message: conflict}}}", "Healthy Ready"),
        ("{status: {readyToUse: false, error: {message: invalid}}}", "Degraded Failed: invalid"),
        (
            "{status: {failureReason: CreateError, failureMessage: no quota, phase: Running}}",
            "Degraded CreateError: no quota",
        ),
        ("{status: {healthy: true, errors: []}}", "Healthy Ready"),
        ("{status: {healthy: false, errors: [no pods]}}", "Degraded Failed: no pods"),
        ("{spec: {replicas: 3}, status: {readyReplicas: 3}}", "Healthy ReplicasReady: 3 of 3 ready"),
        (
            "{spec: {instances: 3}, status: {readyInstances: 1}}",
            "Progressing ReplicasUnavailable: 1 of 3 ready",
        ),
    ]);
}

#[test]
fn a_good_word_hides_no_outage() {
    let counted = |status: &str| format!("{{spec: {{replicas: 3}}, status: {status}}}");
    for (status, expected) in [
        ("{phase: Running, readyReplicas: 0}", "Progressing ReplicasUnavailable: 0 of 3 ready"),
        ("{ready: true, readyReplicas: 1}", "Progressing ReplicasUnavailable: 1 of 3 ready"),
        ("{state: Active, availableReplicas: 0, replicas: 3}", "Progressing ReplicasUnavailable"),
        ("{phase: Running, readyReplicas: 3}", "Healthy Running"),
        ("{phase: Failed, readyReplicas: 0}", "Degraded Failed"),
        ("{replicas: 3}", "Progressing ReplicasUnavailable: 0 of 3 ready"),
        ("{replicas: 3, phase: Running}", "Healthy Running"),
    ] {
        widgets(&[(&counted(status), expected)]);
    }
    widgets(&[
        ("{status: {replicas: 2, readyReplicas: 1}}", "Progressing ReplicasUnavailable: 1 of 2 ready"),
        ("{status: {replicas: 2, readyReplicas: 2}}", "Healthy ReplicasReady"),
    ]);
    let conditions = |conditions: &str| {
        let reading = |(kind, status): (&str, &str)| {
            format!("{{type: {kind}, status: '{status}', lastTransitionTime: '2025-03-01T10:00:00Z'}}")
        };
        let all: Vec<String> =
            conditions.split(' ').filter_map(|said| said.split_once('=')).map(reading).collect();
        format!("{{status: {{conditions: [{}]}}}}", all.join(", "))
    };
    let overdue = |kind: &str| format!("Progressing {kind} -> 2025-03-01T10:10:00Z Degraded");
    for (said, expected) in [
        ("Ready=True LicenseExpired=True", "Degraded LicenseExpired".to_owned()),
        ("Initialized=True Running=False", overdue("Running")),
        ("Configured=True Connected=False", overdue("Connected")),
        ("Complete=True Running=False", "Healthy Complete".to_owned()),
        ("Installed=True UpdateAvailable=False", "Healthy Installed".to_owned()),
        ("UpgradeAvailable=False", "Unknown NoSignal".to_owned()),
        ("ready=False", overdue("Ready")),
        ("Connected=False", overdue("Connected")),
        ("Active=True", "Healthy Active".to_owned()),
    ] {
        widgets(&[(&conditions(said), &expected)]);
    }
}

#[test]
fn a_certificate_is_well_until_it_ends() {
    let ready = "conditions: [{type: Ready, status: 'True'}]";
    widgets(&[
        (
            &format!("{{status: {{notAfter: '2025-03-01T10:00:00Z', {ready}}}}}"),
            "Healthy Ready -> 2025-03-01T10:00:00Z Degraded Expired: since 2025-03-01T10:00:00Z",
        ),
        (&format!("{{status: {{notAfter: soon, {ready}}}}}"), "Healthy Ready"),
        (
            "{status: {notAfter: '2025-03-01T10:00:00Z', conditions: [{type: Ready, status: 'False', reason: Failed}]}}",
            "Degraded Failed",
        ),
    ]);
}

#[test]
fn what_runs_to_an_end_may_take_its_time() {
    for (end, runs) in [("Complete", "Running"), ("Completed", "Active"), ("Succeeded", "Running")] {
        let object = format!(
            "{{status: {{conditions: [{{type: {runs}, status: 'True'}}, {{type: {end}, status: 'False', \
             lastTransitionTime: '2025-03-01T10:00:00Z'}}, {{type: Failed, status: 'False'}}]}}}}"
        );
        let mut object: serde_json::Value = serde_saphyr::from_str(&object).unwrap_or_default();
        object["apiVersion"] = "example.test/v1".into();
        object["kind"] = "Widget".into();
        object["metadata"]["name"] = "x".into();
        let timeline = judged(&object).timeline;
        assert_eq!(timeline.first.health, Health::Progressing, "{object}");
        assert_eq!((timeline.later, timeline.patience), (None, None), "{object}");
    }
}

#[test]
fn what_says_nothing_is_never_green() {
    widgets(&[
        ("{status: {scanCount: 41}}", "Unknown NoSignal"),
        ("{metadata: {generation: 2}, status: {observedGeneration: 2}}", "Healthy Observed"),
        ("{metadata: {generation: 2}, status: {observedGeneration: 2, state: Zeta}}", "Unknown NoSignal"),
        (
            "{status: {observedGeneration: 2, conditions: [{type: Reconciling, status: 'False'}, {type: Stalled, status: 'False'}]}}",
            "Healthy Observed",
        ),
        ("{status: text}", "Healthy Exists"),
        ("{status: {}}", "Progressing NotYetObserved"),
        ("{status: {conditions: [], phase: ''}}", "Progressing NotYetObserved"),
        ("{status: {error: no route}}", "Degraded Failed: no route"),
        ("{status: {error: '', count: 3}}", "Unknown NoSignal"),
        ("{status: {error: an old one, phase: Running}}", "Healthy Running"),
    ]);
}

#[test]
fn a_missing_status_depends_on_whether_the_kind_has_one() {
    let object = json!({"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {"name": "x", "creationTimestamp": "2025-03-01T10:00:00Z"}, "spec": {}});
    let of = |status: StatusReporting| {
        judge(&object_of(&object, status), &crate::health::Rules::builtin()).timeline
    };
    assert_eq!(of(StatusReporting::No).first.reason, "Exists");
    assert_eq!(of(StatusReporting::Unsaid).first.reason, "Exists");
    let reported = of(StatusReporting::Yes);
    assert_eq!((reported.first.health, &*reported.first.reason), (Health::Progressing, "NotYetObserved"));
    assert_eq!(reported.later.map(|later| later.verdict.health), Some(Health::Unknown));
}

#[test]
fn the_rule_that_decided_is_named() {
    let rule = |status: serde_json::Value| {
        let object = json!({"apiVersion": "example.test/v1", "kind": "Widget", "metadata": {"name": "x"}, "status": status});
        judged(&object).timeline.first.rule.into_owned()
    };
    assert_eq!(
        rule(json!({"conditions": [{"type": "Ready", "status": "True"}]})),
        "convention/condition-Ready"
    );
    assert_eq!(rule(json!({"phase": "Running"})), "convention/phase");
    assert_eq!(rule(json!({"x": 1})), "convention/status");
    assert_eq!(rule(json!(null)), "convention/exists");
}
