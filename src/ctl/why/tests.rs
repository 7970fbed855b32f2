#![allow(clippy::expect_used, clippy::unwrap_used)]

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::ctl::{
    Exit,
    testing::{Output, Streams},
};

/// What `addonctl why` with these arguments says of `input`.
async fn why(arguments: &[&str], input: &str) -> Output {
    addonctl(&[&["why"], arguments].concat(), input).await
}

async fn addonctl(arguments: &[&str], input: &str) -> Output {
    let mut streams = Streams::of(input);
    let all = ["addonctl"].iter().chain(arguments).map(|argument| (*argument).into());
    let exit = crate::ctl::run(all.collect::<Vec<_>>(), streams.io()).await;
    streams.output(exit)
}

async fn tree(input: &str) -> String {
    let output = why(&["shop", "-f", "-"], input).await;
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    assert!(output.stdout.lines().all(|line| line.width() <= 80), "{}", output.stdout);
    output.stdout
}

async fn document(arguments: &[&str], input: &str) -> Value {
    let output = why(&[&["shop", "-o", "json", "-f", "-"], arguments].concat(), input).await;
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// A Deployment that still starts, and its pod, which can't pull the image.
const STARTING: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: lab, uid: d1, labels: {addons.x-k8s.io/shop: ''}}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
status: {replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: lab, uid: r1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}]}
spec: {replicas: 1, selector: {matchLabels: {app: web}}}
status: {replicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1-x, namespace: lab, uid: p1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r1, controller: true}]}
status: {phase: Pending, containerStatuses: [{name: web, ready: false, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}
---
"#;

#[tokio::test]
async fn what_lies_below_colours_the_add_on_as_the_controller_does() {
    assert_eq!(
        tree(STARTING).await,
        "\
shop: Degraded (ImagePullBackOff), 0/1 healthy
└─ Deployment lab/web: Degraded (ImagePullBackOff) [builtin/apps.Deployment]
   │ 0 of 1 replicas available
   └─ its ReplicaSet: ReplicaSet lab/web-1: Progressing (ReplicasUnavailable)
      │ [builtin/apps.ReplicaSet]
      │ 0 of 1 replicas available
      └─ its pod: Pod lab/web-1-x: Degraded (ImagePullBackOff) [builtin/Pod]
           container web: no such image
"
    );
}

#[tokio::test]
async fn an_add_on_of_add_ons_hears_what_lies_below_its_parts() {
    let input = STARTING.replace("/shop:", "/cart:")
        + "\napiVersion: addons.x-k8s.io/v1alpha1\nkind: Addon\nmetadata: {name: cart, labels: {addons.x-k8s.io/shop: ''}}\nspec: {identifier: cart}\n";
    let tree = tree(&input).await;
    assert!(tree.starts_with("shop: Degraded (ImagePullBackOff), 0/1 healthy\n"), "{tree}");
    assert!(tree.contains("Addon cart: Degraded (ImagePullBackOff)"), "{tree}");
    assert!(tree.contains("Pod lab/web-1-x: container web: no\n"), "{tree}");
}

#[tokio::test]
async fn list_and_describe_say_the_same() {
    let input = STARTING.replace("/shop:", "/cart:")
        + "\napiVersion: addons.x-k8s.io/v1alpha1\nkind: Addon\nmetadata: {name: cart, labels: {addons.x-k8s.io/shop: ''}}\nspec: {identifier: cart}\n";
    let output = addonctl(&["list", "-f", "-"], &input).await;
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    let rows: Vec<Vec<&str>> =
        output.stdout.lines().skip(1).map(|row| row.split_whitespace().take(4).collect()).collect();
    let ill = |name| vec![name, "Degraded", "0/1", "ImagePullBackOff"];
    assert_eq!(rows, [ill("cart"), ill("shop")]);
    for name in ["cart", "shop"] {
        let output = addonctl(&["describe", name, "-f", "-"], &input).await;
        assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
        assert!(output.stdout.contains("Health:      Degraded (ImagePullBackOff)"), "{}", output.stdout);
        assert!(output.stdout.contains("Pod lab/web-1-x: container web: no"), "{}", output.stdout);
    }
}

#[tokio::test]
async fn what_was_reported_is_named_with_its_reason() {
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: lab}, type: Warning, reason: FailedMount, \
         message: no such secret, lastTimestamp: '2025-12-31T23:59:00Z', involvedObject: {kind: Pod, namespace: lab, name: web-1-x, uid: p1}}";
    let input =
        STARTING.replace("{reason: ImagePullBackOff, message: no such image}", "{reason: ContainerCreating}");
    let answer = document(&[], &format!("{input}{event}\n")).await;
    let deployment = &answer["components"][0];
    assert_eq!(
        (&deployment["health"], &deployment["message"]),
        (
            &json!("Progressing"),
            &json!("0 of 1 replicas available: Pod lab/web-1-x: FailedMount: no such secret")
        )
    );
}

#[tokio::test]
async fn json_holds_the_whole_tree() {
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: lab}, type: Warning, reason: ProvisioningFailed, \
         message: no such class, lastTimestamp: '2025-12-31T23:59:00Z', involvedObject: {kind: PersistentVolumeClaim, namespace: lab, name: data, uid: c1}}";
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: lab, uid: c1, \
         labels: {addons.x-k8s.io/shop: ''}}, spec: {storageClassName: fast}, status: {phase: Pending}}";
    let answer = document(&[], &format!("{STARTING}{claim}\n---\n{event}\n")).await;
    let root = json!({
        "identifier": answer["identifier"], "health": answer["health"], "reason": answer["reason"],
        "ready": answer["ready"], "more": answer["more"],
    });
    let expected = json!({"identifier": "shop", "health": "Degraded", "reason": "ProvisioningFailed", "ready": "0/2", "more": 0});
    assert_eq!(root, expected);
    assert!(answer["message"].as_str().unwrap().starts_with("2 of 2 not healthy: PersistentVolume"));
    let deployment = &answer["components"][1];
    assert_eq!(
        deployment["reference"],
        json!({"apiVersion": "apps/v1", "group": "apps", "kind": "Deployment", "namespace": "lab", "name": "web", "uid": "d1"})
    );
    assert_eq!(deployment["rule"], "builtin/apps.Deployment");
    assert_eq!(deployment["message"], "Pod lab/web-1-x: container web: no such image");
    let pod = &deployment["causes"][0]["causes"][0];
    assert_eq!(
        (
            &pod["via"],
            &pod["reference"]["name"],
            &pod["health"],
            &pod["reason"],
            &pod["rule"],
            &pod["causes"]
        ),
        (
            &json!("its pod"),
            &json!("web-1-x"),
            &json!("Degraded"),
            &json!("ImagePullBackOff"),
            &json!("builtin/Pod"),
            &json!([])
        )
    );
    let claim = &answer["components"][0];
    assert_eq!((&claim["health"], &claim["reference"]["name"]), (&json!("Degraded"), &json!("data")));
    assert_eq!(claim["reason"], "ProvisioningFailed");
    assert_eq!(claim["gaps"], json!(["StorageClass fast isn't among what was read"]));
    let reported = &claim["causes"][0];
    assert_eq!(
        (&reported["via"], &reported["event"], reported.get("health")),
        (
            &json!("reported about it"),
            &json!({"reason": "ProvisioningFailed", "message": "no such class", "last": "2025-12-31T23:59:00Z"}),
            None
        )
    );
}

#[tokio::test]
async fn the_worst_ten_are_shown_and_all_on_demand() {
    let pod = |n: usize, phase: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p{n:02}, namespace: lab, labels: {{addons.x-k8s.io/shop: ''}}}}, status: {{phase: {phase}}}}}\n---\n"
        )
    };
    let input: String = (0..12).map(|n| pod(n, if n == 11 { "Failed" } else { "Pending" })).collect();
    let tree = tree(&input).await;
    assert!(tree.contains("\n├─ Pod lab/p11: Degraded (PodFailed)"), "{tree}");
    assert!(tree.ends_with("\n└─ and 2 more that aren't well: --all shows them\n"), "{tree}");
    assert!(!tree.contains("p09:") && tree.contains("p08:"), "{tree}");
    let all = why(&["shop", "--all", "-f", "-"], &input).await.stdout;
    assert!(all.contains("p10:") && !all.contains("more that"), "{all}");
    let count = |answer: Value| (answer["components"].as_array().unwrap().len(), answer["more"].clone());
    assert_eq!(count(document(&[], &input).await), (10, json!(2)));
    assert_eq!(count(document(&["--all"], &input).await), (12, json!(0)));
}

/// An Application of Argo CD, and the Deployment that it says is ill, both parts of an add-on.
const APPLICATION: &str = r#"
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd, labels: {addons.x-k8s.io/shop: ''}}
status:
  health: {status: Degraded}
  sync: {status: Synced}
  resources:
  - {kind: Service, version: v1, namespace: lab, name: web, health: {status: Healthy}}
  - {group: batch, kind: Job, version: v1, namespace: lab, name: init, health: {status: Missing}}
  - {group: apps, kind: Deployment, version: v1, namespace: lab, name: web, health: {status: Degraded, message: exceeded its progress deadline}}
---
"#;

#[tokio::test]
async fn an_application_leads_to_the_resource_that_it_says_is_ill() {
    let alone = tree(APPLICATION).await;
    assert_eq!(
        alone,
        "\
shop: Degraded (Degraded), 0/1 healthy
└─ Application argocd/shop: Degraded (Degraded)
   │ [rules/argoproj.io.Application#4]
   │ Deployment lab/web: exceeded its progress deadline
   │ Deployment lab/web isn't among what was read
   │ Job lab/init isn't among what was read
   ├─ status.resources: Deployment lab/web: Degraded
   │    exceeded its progress deadline
   └─ status.resources: Job lab/init: Missing
"
    );
    let both = tree(&format!("{APPLICATION}{STARTING}")).await;
    let place = |what: &str| both.lines().position(|line| line.contains(what)).expect(what);
    // The Deployment is why the Application is ill, and goes first.
    assert!(place("─ Deployment lab/web: Degraded (ImagePullBackOff)") < place("Application argocd/shop"));
    assert!(both.contains("Application argocd/shop: Degraded (ImagePullBackOff)"), "{both}");
    assert_eq!(both.matches("Pod lab/web-1-x: Degraded").count(), 2, "{both}");
}

#[tokio::test]
async fn own_rules_judge_combine_and_go_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().unwrap();
    let kiln = |name: &str, temperature: &str| {
        format!(
            "{{apiVersion: pottery.example/v1, kind: Kiln, metadata: {{name: {name}, labels: {{addons.x-k8s.io/shop: {name}}}}}, status: {{state: On, temperature: {temperature}}}}}\n---\n"
        )
    };
    let rules = "- match: {group: pottery.example, kind: Kiln}\n  rows:\n  - {verdict: Degraded, reason: TooHot, when: status.temperature > 1300}\n  - {verdict: Healthy}\n\
                 - combine: {identifiers: [shop], quorums: [{name: zones, by: Install, atLeast: 1}]}\n";
    std::fs::write(folder.path().join("kilns.yaml"), rules).expect("a file");
    let input = kiln("east", "1400") + &kiln("west", "1000");
    let output = why(&["shop", "-f", "-", "--rules", path], &input).await;
    assert_eq!((output.exit, &*output.stderr), (Exit::Success, ""));
    assert!(output.stdout.starts_with("shop: Healthy (EnoughHealthy), 1/2 healthy\n"), "{}", output.stdout);
    assert!(output.stdout.contains("Kiln east (spare): Degraded (TooHot)"), "{}", output.stdout);

    // What has no answer is a fault of the rule, and is said.
    let output = why(&["shop", "-f", "-", "--rules", path], &(input + &kiln("north", "hot"))).await;
    assert_eq!(output.exit, Exit::Failure);
    let said = format!(
        "error: {path}/kilns.yaml:1: in the rule that begins here, rows[0].when has no answer for Kiln north: "
    );
    assert!(output.stderr.starts_with(&said) && output.stderr.lines().count() == 1, "{}", output.stderr);

    let output = why(&["shop", "--rules", path], "").await;
    assert_eq!(output.exit, Exit::Usage);
}

#[tokio::test]
async fn the_clock_of_files_can_be_set() {
    let input = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: lab, creationTimestamp: '2025-03-01T00:00:00Z', labels: {addons.x-k8s.io/shop: ''}}, \
                 status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, \
                 lastTransitionTime: '2025-03-01T00:00:00Z'}]}}";
    for (now, health) in [
        (&[][..], "Progressing"),
        (&["--now", "2025-03-01T00:09:59Z"], "Progressing"),
        (&["--now", "2025-03-02"], "Degraded"),
        (&["--now", "now"], "Degraded"),
    ] {
        assert_eq!(document(now, input).await["health"], health, "{now:?}");
    }
    assert_eq!(why(&["shop", "--live", "--now", "now"], "").await.exit, Exit::Usage);
}
