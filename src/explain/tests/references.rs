//! From what refers to others down to those.

use super::*;

async fn explained_by(rules: &Rules, yaml: &str) -> Vec<String> {
    let (lab, objects) = Lab::of(yaml);
    chain(&tree(&lab, &objects[0], rules, Limits::BEST).await)
}

const AUTOSCALER: &str = "
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: lab}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
status: {currentReplicas: 1, conditions: [{type: AbleToScale, status: 'True'}, {type: ScalingActive, status: 'False', reason: FailedGetResourceMetric,
  message: 'the HPA was unable to compute the replica count: unable to fetch metrics from resource metrics API: the server could not find the requested resource'}]}
---
";

const TARGET: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: lab}
spec: {replicas: 0}
status: {observedGeneration: 1}
---
";

#[tokio::test]
async fn an_autoscaler_leads_to_the_api_of_its_metrics_and_what_serves_that() {
    let yaml = AUTOSCALER.to_owned() + TARGET;
    assert_chain(&explained(&yaml).await, &["APIService v1beta1.metrics.k8s.io NotFound: doesn't exist"]);
    let service = "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec: {service: {name: metrics-server, namespace: kube-system}}
status: {conditions: [{type: Available, status: 'False', reason: MissingEndpoints, message: no addresses, lastTransitionTime: '2025-03-01T09:00:00Z'}]}
---
";
    let yaml = yaml + service;
    let api = "APIService v1beta1.metrics.k8s.io ProgressDeadlineExceeded: for more than 10 minutes: MissingEndpoints";
    let evidence = "= Degraded ProgressDeadlineExceeded";
    assert_chain(&explained(&yaml).await, &[api, "Service kube-system/metrics-server NotFound", evidence]);
    let yaml = yaml
        + "
apiVersion: v1
kind: Service
metadata: {name: metrics-server, namespace: kube-system}
spec: {selector: {k8s-app: metrics-server}}
---
";
    let behind = "Service kube-system/metrics-server Exists";
    assert_chain(
        &explained(&yaml).await,
        &[api, behind, "Service kube-system/metrics-server NothingSelected: no pod has the labels", evidence],
    );
    let yaml = yaml
        + "
apiVersion: v1
kind: Pod
metadata: {name: metrics-server-1, namespace: kube-system, labels: {k8s-app: metrics-server}}
status: {phase: Running, containerStatuses: [{name: c, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff}}}]}
";
    let pod = "Pod kube-system/metrics-server-1 CrashLoopBackOff";
    assert_chain(&explained(&yaml).await, &[api, behind, pod, "= Degraded CrashLoopBackOff"]);
}

#[tokio::test]
async fn an_autoscaler_without_a_target() {
    let yaml = AUTOSCALER
        .replace("ScalingActive", "AbleToScale")
        .replace("FailedGetResourceMetric", "FailedGetScale")
        .replace("resource metrics API", "x");
    assert_chain(&explained(&yaml).await, &["Deployment lab/web NotFound: doesn't exist"]);
}

const RELEASE: &str = "
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux}
spec: {dependsOn: [{name: base}, {name: infra, namespace: other}], chart: {spec: {sourceRef: {kind: HelmRepository, name: repo}}}}
status: {helmChart: flux/flux-web, conditions: [{type: Ready, status: 'False', reason: HEALTH, message: 'timeout waiting for: [Deployment/lab/web status: ''InProgress'']'}]}
---
";

const SOURCE: &str = "
apiVersion: source.toolkit.fluxcd.io/v1
kind: KIND
metadata: {name: NAME, namespace: flux}
status: {conditions: [{type: Ready, status: 'False', reason: REASON, message: said}]}
---
";

fn source(kind: &str, name: &str, reason: &str) -> String {
    SOURCE.replace("KIND", kind).replace("NAME", name).replace("REASON", reason)
}

fn flux() -> Rules {
    rules(&[
        (
            "helm.toolkit.fluxcd.io",
            "HelmRelease",
            "[{named: true}, {group: source.toolkit.fluxcd.io, kind: HelmChart, at: status.helmChart},
              {group: source.toolkit.fluxcd.io, at: spec.chart.spec.sourceRef},
              {group: helm.toolkit.fluxcd.io, kind: HelmRelease, at: spec.dependsOn}]",
        ),
        (
            "source.toolkit.fluxcd.io",
            "HelmChart",
            "[{group: source.toolkit.fluxcd.io, kind: HelmRepository, at: spec.sourceRef}]",
        ),
    ])
}

#[tokio::test]
async fn a_release_leads_to_what_its_message_names_or_its_source() {
    let fine = |kind: &str, name: &str| source(kind, name, "x").replace("'False'", "'True'");
    let base = fine("HelmChart", "flux-web") + &fine("HelmRepository", "repo");
    let depends = |name: &str, namespace: &str| {
        RELEASE
            .replace("name: web, namespace: flux", &format!("name: {name}, namespace: {namespace}"))
            .replace("'False'", "'True'")
    };
    let base = base + &depends("base", "flux") + &depends("infra", "other");
    let failing = RELEASE.replace("HEALTH", "InstallFailed") + &base;
    let deployment = TARGET
        .replace("replicas: 0", "replicas: 1")
        .replace("status: {", "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: late}], ");
    assert_chain(
        &explained_by(&flux(), &(failing.clone() + &deployment)).await,
        &["Deployment lab/web ProgressDeadlineExceeded", "= Degraded ProgressDeadlineExceeded"],
    );
    // What is named and isn't there may have been read wrong.
    assert_chain(&explained_by(&flux(), &failing).await, &[]);
    // A source that only moves isn't why something fails.
    let moving =
        failing.replace(&fine("HelmRepository", "repo"), &source("HelmRepository", "repo", "Progressing"));
    assert_chain(&explained_by(&flux(), &moving).await, &[]);
    let broken =
        failing.replace(&fine("HelmRepository", "repo"), &source("HelmRepository", "repo", "FetchFailed"));
    assert_chain(
        &explained_by(&flux(), &broken).await,
        &["HelmRepository flux/repo FetchFailed: said", "= Degraded FetchFailed"],
    );
    let absent = failing.replace(&fine("HelmRepository", "repo"), "");
    assert_chain(&explained_by(&flux(), &absent).await, &["HelmRepository flux/repo NotFound"]);
}

#[tokio::test]
async fn a_certificate_leads_over_its_newest_request_to_the_challenge() {
    let rules = rules(&[
        (
            "cert-manager.io",
            "Certificate",
            "[{group: cert-manager.io, kind: CertificateRequest, owned: true}]",
        ),
        (
            "cert-manager.io",
            "CertificateRequest",
            "[{group: acme.cert-manager.io, kind: Order, owned: true}]",
        ),
        ("acme.cert-manager.io", "Order", "[{group: acme.cert-manager.io, kind: Challenge, owned: true}]"),
    ]);
    let made = |group: &str, kind: &str, name: &str, owner: &str, more: &str, status: &str| {
        format!(
            "apiVersion: {group}/v1
kind: {kind}
metadata: {{name: {name}, namespace: lab, {more} ownerReferences: [{{kind: x, name: y, uid: {owner}}}]}}
status: {status}
---
"
        )
    };
    let request = |name: &str, revision: u8, reason: &str| {
        let revision = format!("annotations: {{cert-manager.io/certificate-revision: '{revision}'}},");
        let status = format!(
            "{{conditions: [{{type: Ready, status: 'False', reason: {reason}, message: {name} waits}}]}}"
        );
        made("cert-manager.io", "CertificateRequest", name, "Certificate/web", &revision, &status)
    };
    let yaml = "apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: lab}
status: {conditions: [{type: Ready, status: 'False', reason: DoesNotExist, message: no secret}]}
---
"
    .to_owned()
        + &request("web-1", 1, "Failed")
        + &request("web-2", 2, "Pending")
        + &made(
            "acme.cert-manager.io",
            "Order",
            "web-2-1",
            "CertificateRequest/web-2",
            "",
            "{state: pending}",
        )
        + &made(
            "acme.cert-manager.io",
            "Challenge",
            "web-2-1-1",
            "Order/web-2-1",
            "",
            "{state: invalid, reason: 'DNS problem: NXDOMAIN'}",
        );
    let actual = explained_by(&rules, &yaml).await;
    assert_eq!(actual.len(), 4, "{actual:#?}");
    assert!(actual[0].starts_with("CertificateRequest lab/web-2 Pending: web-2 waits"), "{actual:#?}");
    assert!(actual[1].starts_with("Order lab/web-2-1"), "{actual:#?}");
    assert!(actual[2].starts_with("Challenge lab/web-2-1-1"), "{actual:#?}");
    assert!(actual[3].starts_with("= Degraded"), "{actual:#?}");
}

#[tokio::test]
async fn of_references_that_tell_health_the_ill_ones_are_looked_at() {
    let rules = rules(&[("argoproj.io", "Application", "[{at: status.resources}]")]);
    let resource = |kind: &str, health: &str| {
        format!("{{group: apps, kind: {kind}, namespace: lab, name: web{health}}}")
    };
    let yaml = format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: web, namespace: argocd}}
status: {{health: {{status: Progressing}}, resources: [{}, {}, {}, {{kind: ConfigMap, version: v1, namespace: lab, name: c}}]}}
---
",
        resource("StatefulSet", ", health: {status: Healthy}"),
        resource("Deployment", ", health: {status: Progressing}"),
        resource("DaemonSet", ", health: {status: Degraded}"),
    ) + &TARGET.replace("replicas: 0", "replicas: 1")
        + "apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web, namespace: lab}
status: {desiredNumberScheduled: 2}
";
    let (lab, objects) = Lab::of(&yaml);
    let chain = chain(&tree(&lab, &objects[0], &rules, Limits::BEST).await);
    // Both are Progressing; the order is that of the references, the worst first.
    assert_chain(&chain, &["DaemonSet lab/web RollingOut"]);
    let asked: Vec<String> = lab.asked().into_keys().collect();
    assert_eq!(asked, ["DaemonSet", "Deployment", "Event", "Pod"]);
}

#[tokio::test]
async fn references_are_read_in_all_their_forms() {
    let rules = rules(&[(
        "cluster.example",
        "Machine",
        "[{kind: Node, at: status.nodeRef}, {at: spec.bootstrap.configRef}]",
    )]);
    let yaml = "apiVersion: cluster.example/v1
kind: Machine
metadata: {name: m, namespace: lab}
spec: {bootstrap: {configRef: {apiGroup: boot.example, kind: Config, name: m}}}
status: {nodeRef: {name: n1}, conditions: [{type: Ready, status: Unknown, reason: NodeUnknown}]}
---
";
    assert_chain(&explained_by(&rules, yaml).await, &["Node n1 NotFound"]);
    let node = "apiVersion: v1
kind: Node
metadata: {name: n1}
status: {conditions: [{type: Ready, status: 'True'}]}
";
    assert_chain(&explained_by(&rules, &(yaml.to_owned() + node)).await, &["Config lab/m NotFound"]);
}

const APPLICATION: &str = "
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
status: {health: {status: Degraded}, resources: [
  {kind: Service, namespace: lab, name: web, health: {status: Healthy}},
  {group: batch, kind: Job, namespace: lab, name: init, health: {status: Missing}},
  {group: apps, kind: Deployment, namespace: lab, name: web, health: {status: Degraded, message: exceeded its deadline}}]}
---
";

#[tokio::test]
async fn what_a_reference_says_of_its_object_counts_where_that_cannot_be_looked_at() {
    let (mut lab, objects) = Lab::of(APPLICATION);
    lab.forbidden.extend(["Deployment", "Job"]);
    let step = tree(&lab, &objects[0], &Rules::builtin(), Limits::WIDE).await;
    let below: Vec<String> =
        step.below.iter().map(|step| format!("{}: {:?}", step.object, step.says)).collect();
    assert_eq!(
        below,
        [
            r#"Deployment lab/web: Told { reason: "Degraded", message: "exceeded its deadline" }"#,
            r#"Job lab/init: Told { reason: "Missing", message: "" }"#,
        ]
    );
    assert_eq!(step.gaps.len(), 2);
    assert_eq!(step.explanation().evidence, None);
    // What isn't there is said not to be, and what moves explains what is said to fail.
    let moving = TARGET.replace("replicas: 0", "replicas: 1");
    let (lab, objects) = Lab::of(&(APPLICATION.to_owned() + &moving));
    let step = tree(&lab, &objects[0], &Rules::builtin(), Limits::WIDE).await;
    let below: Vec<String> =
        step.below.iter().map(|step| format!("{}: {}", step.object, step.says.reason())).collect();
    assert_eq!(below, ["Deployment lab/web: RollingOut", "Job lab/init: NotFound"]);
}
