#![allow(clippy::expect_used)]

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use clap::Parser;
use http::{Request, Response};
use kube::{
    Client,
    client::{APIGroupDiscovery, Body},
};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{
    ask::{Asker, Trouble},
    cluster::{Defect, defect, definitions_of, discovery_of},
    controller::{Watches, faults, runs_of},
    examine,
    finding::{Finding, Verdict, json as as_json, table},
    kinds, names,
    rights::Rights,
};
use crate::{
    api,
    ctl::args::{Cli, Command, Doctor},
};

fn doctor(arguments: &[&str]) -> Doctor {
    let cli = Cli::try_parse_from(["addonctl", "doctor"].iter().chain(arguments)).expect("arguments");
    match cli.command {
        Command::Doctor(args) => args.resolve().expect("a doctor"),
        _ => unreachable!("another command"),
    }
}

/// An API server that gives the same answer to everything.
fn server(code: u16, body: &'static str) -> Asker {
    let service = tower::service_fn(move |_: Request<Body>| {
        let response = Response::builder().status(code).body(Body::from(body.as_bytes().to_vec()));
        std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
    });
    Asker::new(Client::new(service, "default"), "https://api.example".to_owned(), Duration::from_secs(1))
}

#[tokio::test]
async fn no_answer_of_a_server_ends_the_examination() {
    let forbidden = r#"{"kind":"Status","code":403,"message":"you\u001b[2J may not"}"#;
    for (code, body) in
        [(403, forbidden), (200, "{}"), (200, "<html>"), (200, r#"{"items":[7,{}],"metadata":5}"#)]
    {
        let args = doctor(&["--marker-label", "m/marked"]);
        let findings = examine(&server(code, body), &args).await;
        let text = table(&findings, false);
        assert!(!text.contains('\u{1b}'), "{text}");
        if body == forbidden {
            let checks: Vec<_> = findings.iter().map(|finding| finding.check).collect();
            let all = [
                "server",
                "crds",
                "names",
                "discovery",
                "your rights",
                "its rights",
                "controller",
                "endpoint",
                "add-ons",
                "rules",
                "marker",
            ];
            assert_eq!(checks, all, "{text}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_said_once() {
    for code in [401, 500, 503] {
        let findings = examine(&server(code, "no"), &doctor(&[])).await;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].is_failure() && findings[0].check == "server");
    }
}

#[test]
fn lines_fit_80_columns_and_commands_can_be_copied() {
    let command = format!("kubectl label {} -A -l a/b c=d", "deployments.apps,services".repeat(2));
    let long = "word ".repeat(60);
    let findings = [
        Finding::ok("server", "Kubernetes v1.37.2 at https://127.0.0.1:6443"),
        Finding::warn("your rights", &*long).detail(&*long).command(&*command),
        Finding::fail("kinds", "容量 ".repeat(40)).command("kubectl get x"),
    ];
    let text = table(&findings, false);
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("ok    server       Kubernetes v1.37.2 at https://127.0.0.1:6443"));
    assert_eq!(lines.next().map(|line| &line[..24]), Some("warn  your rights  word "));
    assert!(text.contains("\n      kubectl get x\n"), "{text}");
    assert!(text.ends_with("1 ok, 1 to look at, 1 failed\n"), "{text}");
    assert!(table(&findings, true).contains("FAIL"));

    let printed: Value = serde_json::from_str(&as_json(&findings).expect("JSON")).expect("JSON");
    assert_eq!((&printed["fail"], &printed["checks"][2]["verdict"]), (&json!(1), &json!("fail")));
    assert_eq!(printed["checks"][1]["commands"], json!([command]));
}

fn groups(json: Value) -> Vec<APIGroupDiscovery> {
    serde_json::from_value(json).expect("groups")
}

fn group(name: &str, plural: &str, short: &[&str]) -> Value {
    json!({"metadata": {"name": name}, "versions": [{"version": "v1alpha1", "freshness": "Current", "resources": [
        {"resource": plural, "singularResource": plural.trim_end_matches('s'), "shortNames": short,
         "verbs": ["list", "watch"], "responseKind": {"group": name, "version": "v1alpha1", "kind": "X"}}]}]})
}

#[test]
fn another_kind_by_the_same_name_is_found_however_it_is_called() {
    let ours = || group("addons.x-k8s.io", "addons", &["addn"]);
    let alone = names::check(&groups(json!([ours(), group("apps", "deployments", &["deploy"])])));
    assert_eq!(alone.verdict, Verdict::Ok);

    let before = names::check(&groups(json!([group("a.example", "addons", &[]), ours()])));
    assert_eq!(before.verdict, Verdict::Warn);
    assert_eq!(
        before.what,
        "'kubectl get addons' shows addons.a.example, not the add-ons. Say the whole name"
    );
    assert_eq!(before.commands, ["kubectl get addons.addons.x-k8s.io", "kubectl get addn"]);

    let after = names::check(&groups(json!([ours(), group("k3s.cattle.io", "addons", &["addn"])])));
    assert!(after.what.contains("addons.k3s.cattle.io may be meant"), "{after:?}");
    assert_eq!(after.commands, ["kubectl get addons.addons.x-k8s.io"]);

    let short = names::check(&groups(json!([group("a.example", "things", &["addon"]), ours()])));
    assert_eq!(short.verdict, Verdict::Warn, "{short:?}");
}

#[test]
fn a_stale_group_fails_unless_nobody_would_watch_it() {
    let stale = |name: &str| {
        groups(json!([{"metadata": {"name": name}, "versions": [{"version": "v1", "freshness": "Stale"}]}]))
    };
    let none = || Ok(BTreeMap::new());
    let finding = discovery_of(&stale("gears.example"), none());
    assert!(finding.is_failure());
    assert_eq!(finding.commands, ["kubectl get apiservice v1.gears.example -o yaml"]);
    assert_eq!(discovery_of(&stale("metrics.k8s.io"), none()).verdict, Verdict::Warn);
    assert_eq!(discovery_of(&stale("$(x)"), none()).commands, Vec::<String>::new());
    let failed = [("v1.gears.example".to_owned(), "no endpoints".to_owned())].into();
    assert_eq!(discovery_of(&[], Ok(failed)).details, ["v1.gears.example: no endpoints"]);
    let unread = discovery_of(&[], Err(Trouble { code: Some(403), message: "no".into() }));
    assert_eq!((unread.verdict, &*unread.details[0]), (Verdict::Ok, "APIServices can't be listed: no (403)"));
}

#[test]
fn a_definition_is_compared_with_ours() {
    let ours = serde_json::to_value(api::crd()).expect("JSON");
    let mut theirs = ours.clone();
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "message": "clash"});
    theirs["status"]["conditions"] =
        json!([condition("Established", "True"), condition("NamesAccepted", "True")]);
    let judge = |theirs: &Value| defect("addons", &Ok(theirs.clone()), &ours, true);
    assert_eq!(judge(&theirs), None);
    assert_eq!(definitions_of(&[]).verdict, Verdict::Ok);

    let mut old = theirs.clone();
    let schema = &mut old["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let facts = schema["properties"]["status"]["properties"].as_object_mut().expect("fields").remove("facts");
    assert!(facts.is_some());
    let outdated = judge(&old).expect("a defect");
    assert_eq!(
        outdated,
        Defect::Outdated("addons.addons.x-k8s.io is of another version and lacks .status.facts".into())
    );
    assert_eq!(definitions_of(&[outdated]).verdict, Verdict::Warn);

    let mut clash = theirs.clone();
    clash["status"]["conditions"] =
        json!([condition("Established", "True"), condition("NamesAccepted", "False")]);
    let broken = judge(&clash).expect("a defect");
    assert_eq!(broken, Defect::Broken("addons.addons.x-k8s.io isn't NamesAccepted: clash".into()));
    assert!(definitions_of(&[broken]).is_failure());

    let mut other = theirs;
    other["spec"]["versions"][0]["served"] = json!(false);
    assert!(matches!(judge(&other), Some(Defect::Broken(_))));
    let refused = |code: u16| Err(Trouble { code: Some(code), message: "no".into() });
    assert!(matches!(defect("addons", &refused(404), &ours, true), Some(Defect::Broken(_))));
    assert!(matches!(defect("addons", &refused(403), &ours, true), Some(Defect::Unseen(_))));
    assert!(matches!(defect("addons", &refused(403), &ours, false), Some(Defect::Broken(_))));
}

fn deployment(account: &str, status: &str) -> Value {
    json!({"metadata": {"name": "d"}, "spec": {"template": {"spec": {"serviceAccountName": account}}},
        "status": {"conditions": [{"type": "Available", "status": status, "message": "no pods"}]}})
}

#[test]
fn the_deployment_is_found_by_its_account() {
    let ours = doctor(&["-n", "ns", "--service-account", "sa"]);
    let runs = |deployments: Vec<Value>| runs_of(Ok(deployments), &ours);
    assert_eq!(runs(vec![deployment("x", "True"), deployment("sa", "True")]).verdict, Verdict::Ok);
    let down = runs(vec![deployment("sa", "False")]);
    assert_eq!(
        (down.verdict, down.what.as_str()),
        (Verdict::Fail, "Deployment ns/d isn't available: no pods")
    );
    let none = runs(vec![deployment("x", "True")]);
    assert_eq!(none.commands, ["kubectl get deployments -A -l app.kubernetes.io/name=addon-controller"]);
    let none = runs_of(Ok(Vec::new()), &doctor(&[]));
    assert_eq!(none.commands, ["kubectl apply --server-side -k deploy/"]);
    // One of no replicas is available by its conditions.
    let mut stopped = deployment("sa", "True");
    stopped["spec"]["replicas"] = json!(0);
    let stopped = runs(vec![stopped]);
    assert_eq!(stopped.verdict, Verdict::Fail);
    assert_eq!(stopped.commands, ["kubectl -n ns scale deployment/d --replicas=1"]);
}

#[test]
fn a_command_to_repeat_has_the_flags_that_were_given() {
    assert!(doctor(&[]).said().is_empty());
    let given = doctor(&["-n", "ops", "--context", "a b", "--marker-label", "m/marked"]).said();
    let given: Vec<String> = given.into_iter().map(|(flag, value)| format!("{flag} {value}")).collect();
    assert_eq!(given, ["--namespace ops", "--marker-label m/marked", "--context a b"]);
}

fn watches(json: Value) -> Watches {
    serde_json::from_value(json).expect("watches")
}

#[test]
fn a_controller_that_looks_elsewhere_is_at_fault() {
    let ready = Ok((200, "ok".to_owned()));
    let good = watches(json!({"heartbeatAge": 2, "discovery": {"age": 30}}));
    assert_eq!(faults(&good, &ready), Vec::<String>::new());
    let held = watches(json!({"writesHeld": true, "discovery": {"age": 30}}));
    assert_eq!(faults(&held, &ready).len(), 1);
    let bad = watches(json!({"heartbeatAge": 90, "discovery": {"age": 900, "error": "no"}}));
    let unready = Ok((503, "[-]sync failed: 3 of 4\nreadyz check failed\n".to_owned()));
    let faults = faults(&bad, &unready);
    assert_eq!(faults.len(), 4, "{faults:?}");
    assert_eq!(faults[0], "it isn't ready (503): [-]sync failed: 3 of 4");
}

#[test]
fn each_kind_that_is_not_watched_has_its_own_way_out() {
    let watch = |resource: &str, state: &str, components: usize, message: &str| {
        json!({"group": "a.io", "version": "v1", "resource": resource, "state": state,
            "components": components, "message": message, "heardAge": 5})
    };
    let judge = |all: Vec<Value>| {
        let kinds = json!({"synced": 1, "excluded": 1});
        kinds::watched(&watches(json!({"kinds": kinds, "watches": all})), &Rights::default())
    };
    let good = judge(vec![watch("gears", "synced", 1, ""), watch("secrets", "excluded", 0, "")]);
    assert_eq!((good.verdict, good.what.as_str()), (Verdict::Ok, "1 are watched"));
    assert!(good.details[0].ends_with(": secrets.a.io"), "{good:?}");
    assert_eq!(judge(vec![watch("gears", "forbidden", 0, "no")]).verdict, Verdict::Warn);
    let all = judge(vec![
        watch("gears", "forbidden", 2, "may not"),
        watch("cogs", "failing", 0, "conversion webhook for a.io/v1 failed"),
        watch("cams", "failing", 0, "internal error"),
        watch("pins", "unserved", 1, "its group"),
        watch("x;y", "failing", 1, "bad"),
        watch("good", "synced", 1, ""),
    ]);
    assert_eq!((all.verdict, all.what.as_str()), (Verdict::Fail, "5 of 6 aren't watched as they should be"));
    assert_eq!(all.details[2], "gears.a.io (forbidden, 2 components): may not");
    assert_eq!(
        all.commands,
        [
            "kubectl create clusterrole addon-controller-reader-a.io --verb=list,watch --resource='*.a.io'",
            "kubectl label clusterrole addon-controller-reader-a.io rbac.addons.x-k8s.io/aggregate-to-reader=true",
            "kubectl get cams.v1.a.io -A",
            "kubectl get crd cogs.a.io -o jsonpath='{.spec.conversion}'",
            "kubectl get apiservice v1.a.io",
        ]
    );
    let mut remarkable =
        vec![watch("gears", "synced", 1, ""), watch("cogs", "excluded", 0, "it can't be watched")];
    remarkable[0]["drift"] = json!(3);
    let remarkable = judge(remarkable);
    assert_eq!(remarkable.verdict, Verdict::Ok, "what was corrected is well again");
    assert_eq!(
        remarkable.details,
        [
            "never seen, as they can't be watched: cogs.a.io",
            "an audit found objects otherwise than the watch had told, and corrected them: gears.a.io",
        ]
    );
    let mut silent = watch("gears", "synced", 1, "");
    silent["heardAge"] = json!(500);
    assert_eq!(
        judge(vec![silent]).details,
        ["gears.a.io (synced, 1 component): nothing was heard for 500 s"]
    );
}
