use crate::health::testing::check;

const API: &str = "gateway.networking.k8s.io/v1";

/// A condition in YAML: `Type Status Reason`, of a generation.
fn condition(words: &str, generation: i64) -> String {
    let [kind, status, reason] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
    format!(
        "{{type: {kind}, status: '{status}', reason: {reason}, message: it says, observedGeneration: {generation}, lastTransitionTime: '2025-03-01T10:00:00Z'}}"
    )
}

/// Conditions in YAML, all of one generation.
fn conditions(words: &[&str], generation: i64) -> String {
    let all: Vec<String> = words.iter().map(|words| condition(words, generation)).collect();
    format!("[{}]", all.join(", "))
}

const GOOD: [&str; 2] = ["Accepted True Accepted", "ResolvedRefs True ResolvedRefs"];

#[test]
fn classes() {
    let class = |words: &[&str], generation| {
        format!("{{metadata: {{generation: 2}}, status: {{conditions: {}}}}}", conditions(words, generation))
    };
    check(
        API,
        "GatewayClass",
        &[
            ("{}", "Progressing NotYetObserved"),
            (
                "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {conditions: [{type: Accepted, status: Unknown, reason: Pending, lastTransitionTime: '1970-01-01T00:00:00Z'}]}}",
                "Progressing Pending -> 2025-03-01T10:10:00Z Unknown Pending",
            ),
            (&class(&["Accepted True Accepted"], 2), "Healthy Accepted"),
            (&class(&["Accepted False InvalidParameters"], 2), "Degraded InvalidParameters: it says"),
            (&class(&["Accepted False NoControllerFound"], 2), "Degraded NoControllerFound"),
            (
                &class(&["Accepted False Waiting"], 2),
                "Progressing Waiting: it says -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded",
            ),
            (&class(&["Accepted True Accepted", "SupportedVersion False UnsupportedVersion"], 2), "Healthy"),
            (
                &class(&["Accepted True Accepted"], 1),
                "Progressing SpecNotObserved: generation 2 not seen yet",
            ),
            (
                &class(&["Accepted False InvalidParameters"], 1),
                "Progressing SpecNotObserved: generation 2 not seen yet, the status is of 1: it says",
            ),
        ],
    );
}

#[test]
fn gateways() {
    let gateway = |own: &[&str], listener: &[&str]| {
        format!(
            "{{status: {{conditions: {}, listeners: [{{name: a, attachedRoutes: 2, conditions: {}}}, {{name: b, attachedRoutes: 1, conditions: {}}}]}}}}",
            conditions(own, 1),
            conditions(&["Programmed True Programmed"], 1),
            conditions(listener, 1)
        )
    };
    let good = ["Accepted True Accepted", "Programmed True Programmed"];
    for kind in ["Gateway", "ListenerSet"] {
        check(
            API,
            kind,
            &[
                ("{}", "Progressing NotYetObserved"),
                (
                    &gateway(&good, &[GOOD[0], GOOD[1], "Conflicted False NoConflicts"]),
                    "Healthy Accepted: 2 listeners, 3 routes attached",
                ),
                (
                    &gateway(&good, &[GOOD[0], "Conflicted True HostnameConflict"]),
                    "Degraded HostnameConflict: b: it says",
                ),
                (
                    &gateway(&good, &["Accepted True Accepted", "ResolvedRefs False InvalidCertificateRef"]),
                    "Degraded InvalidCertificateRef: b: it says",
                ),
                (&gateway(&good, &["Detached True UnsupportedProtocol"]), "Degraded UnsupportedProtocol: b"),
                (&gateway(&good, &[]), "Progressing NotYetObserved: b: no controller has answered yet"),
                (
                    &gateway(&["Accepted True Accepted", "Programmed False AddressNotAssigned"], &GOOD),
                    "Progressing AddressNotAssigned: it says -> 2025-03-01T10:10:00Z Degraded ProgressDeadlineExceeded",
                ),
                (
                    &gateway(&["Accepted True Accepted", "Programmed False Invalid"], &GOOD),
                    "Degraded Invalid: it says",
                ),
                (
                    &gateway(&[good[0], good[1], "AttachedListenerSets False NoListenerSetsAttached"], &GOOD),
                    "Healthy",
                ),
            ],
        );
    }
}

#[test]
fn routes() {
    let parent = |name: &str, controller: &str, words: &[&str], generation| {
        format!(
            "{{controllerName: {controller}, parentRef: {{name: {name}, sectionName: web}}, conditions: {}}}",
            conditions(words, generation)
        )
    };
    let route = |refs: &str, parents: &[String]| {
        format!(
            "{{metadata: {{generation: 2}}, spec: {{parentRefs: [{refs}]}}, status: {{parents: [{}]}}}}",
            parents.join(", ")
        )
    };
    let unmatched = ["Accepted False NoMatchingParent", "ResolvedRefs True ResolvedRefs"];
    for kind in ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] {
        check(
            API,
            kind,
            &[
                ("{}", "Progressing NotYetObserved"),
                ("{status: {parents: []}}", "Progressing NotYetObserved"),
                (
                    "{metadata: {creationTimestamp: '2025-03-01T10:00:00Z'}, status: {parents: []}}",
                    "Progressing NotYetObserved: no controller has answered yet -> 2025-03-01T10:10:00Z Unknown",
                ),
                (
                    &route("{name: a}, {name: b}", &[parent("a", "x", &GOOD, 2), parent("b", "x", &GOOD, 2)]),
                    "Healthy Accepted: accepted by a, b",
                ),
                // The status is of a generation that the file doesn't know yet.
                (&route("{name: a}", &[parent("a", "x", &GOOD, 3)]), "Healthy Accepted"),
                (
                    &route(
                        "{name: a}, {name: b}",
                        &[parent("a", "x", &GOOD, 2), parent("b", "x", &unmatched, 2)],
                    ),
                    "Degraded NoMatchingParent: b/web: it says",
                ),
                (
                    &route(
                        "{name: a}",
                        &[parent("a", "x", &[GOOD[0], "ResolvedRefs False BackendNotFound"], 2)],
                    ),
                    "Degraded BackendNotFound: a/web: it says",
                ),
                (
                    &route(
                        "{name: a}",
                        &[parent("a", "x", &[GOOD[0], GOOD[1], "PartiallyInvalid True UnsupportedValue"], 2)],
                    ),
                    "Degraded UnsupportedValue: a/web",
                ),
                (
                    &route("{name: a}", &[parent("a", "x", &[GOOD[0], "Programmed False Programming"], 2)]),
                    "Progressing Programming",
                ),
                // The controller saw the newest generation: what it left of an older one is stale,
                (
                    &route("{name: a}", &[parent("a", "x", &unmatched, 1), parent("a", "x", &GOOD, 2)]),
                    "Healthy Accepted",
                ),
                // and what another one says is awaited.
                (
                    &route("{name: a}, {name: b}", &[parent("a", "x", &GOOD, 2), parent("b", "y", &GOOD, 1)]),
                    "Progressing SpecNotObserved: b/web: generation 2 not seen yet",
                ),
                (
                    &route("{name: a}, {name: b}", &[parent("a", "x", &GOOD, 2)]),
                    "Progressing NotYetObserved: b: no controller has answered yet",
                ),
            ],
        );
    }
}

#[test]
fn policies() {
    let ancestor = |name: &str, words: &[&str]| {
        format!(
            "{{controllerName: c/{name}, ancestorRef: {{name: {name}}}, conditions: {}}}",
            conditions(words, 1)
        )
    };
    let policy = |ancestors: &[String]| format!("{{status: {{ancestors: [{}]}}}}", ancestors.join(", "));
    let stranger = ["Accepted False TargetNotFound"];
    check(
        API,
        "BackendTLSPolicy",
        &[
            ("{}", "Progressing NotYetObserved"),
            (&policy(&[ancestor("a", &[])]), "Progressing NotYetObserved: a"),
            (&policy(&[ancestor("a", &GOOD)]), "Healthy Accepted: accepted by a"),
            (
                &policy(&[ancestor("a", &GOOD), ancestor("b", &["Accepted False NoValidCACertificate"])]),
                "Degraded NoValidCACertificate: b: it says",
            ),
            (&policy(&[ancestor("a", &GOOD), ancestor("b", &stranger)]), "Healthy Accepted: accepted by a"),
            (&policy(&[ancestor("b", &stranger)]), "Degraded TargetNotFound: b"),
        ],
    );
}

#[test]
fn names_are_few() {
    let parent = |n: usize| format!("{{parentRef: {{name: p{n}}}, conditions: {}}}", conditions(&GOOD, 1));
    let parents: Vec<String> = (0..5).map(parent).collect();
    let object = format!("{{status: {{parents: [{}]}}}}", parents.join(", "));
    check(API, "HTTPRoute", &[(&object, "Healthy Accepted: accepted by p0, p1 and 3 more")]);
}
