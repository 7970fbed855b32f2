#![allow(clippy::expect_used, clippy::unwrap_used)]

mod by_hand;
mod client;
mod fixture;
mod limits;

use std::time::Duration;

use serde_json::json;

use self::{
    client::Server,
    fixture::{broken, component, coverage, identifier, summary},
};
use super::Pulse;
use crate::{
    metrics::{Discovery, WatchErrorCode, WriteResult},
    model::{Health, Timestamp},
    summary::WatchState,
};

const LIST: &str = "/api/v1alpha1/addons";

#[tokio::test]
async fn the_list_is_worst_first_and_leaves_out_components() {
    let server = Server::start().await;
    let healthy = vec![component("Deployment", "coredns", Health::Healthy)];
    server.board.put(summary("dns", "", healthy));
    server.board.put(summary(
        "My_Addon",
        "bad",
        vec![broken("x", "no image"), component("DaemonSet", "y", Health::Healthy)],
    ));
    let answer = server.get(LIST).await;
    assert_eq!(answer.status, 200);
    let list = answer.json();
    assert_eq!(list["apiVersion"], "addons.x-k8s.io/v1alpha1");
    assert_eq!(list["kind"], "AddonList");
    assert_eq!(list["metadata"], json!({}));
    let first = &list["items"][0];
    assert_eq!(first["kind"], "Addon");
    assert_eq!(first["metadata"]["name"], crate::api::object_name(&identifier("My_Addon")));
    assert_eq!(first["spec"]["identifier"], "My_Addon");
    assert_eq!(first["status"]["health"], "Degraded");
    assert_eq!(first["status"]["ready"], "1/2");
    assert_eq!(first["status"].get("components"), None);
    assert_eq!(first["status"]["omitted"], 2);
    assert_eq!(list["items"][1]["spec"]["identifier"], "dns");
}

#[tokio::test]
async fn the_list_says_what_is_not_seen() {
    let server = Server::start().await;
    server.board.cover(vec![
        coverage("", "configmaps", WatchState::Synced),
        coverage("a.example", "things", WatchState::Forbidden("things.a.example is forbidden".into())),
        coverage("b.example", "stones", WatchState::Syncing),
    ]);
    let coverage = &server.get(LIST).await.json()["coverage"];
    assert_eq!(
        coverage["kinds"],
        json!({"synced": 1, "syncing": 1, "forbidden": 1, "failing": 0, "unserved": 0})
    );
    assert_eq!(
        coverage["gaps"],
        json!([
            {"group": "a.example", "version": "v1", "kind": "thing", "resource": "things",
             "state": "forbidden", "message": "things.a.example is forbidden", "components": 3},
            {"group": "b.example", "version": "v1", "kind": "stone", "resource": "stones",
             "state": "syncing", "components": 3},
        ])
    );
}

#[tokio::test]
async fn each_watch_is_told_with_what_was_counted_and_what_is_left_out() {
    let server = Server::start().await;
    let forbidden = coverage("a.example", "things", WatchState::Forbidden("no".into()));
    let counted = server.metrics.watch(&forbidden.kind);
    counted.error(WatchErrorCode::Status(403));
    counted.read();
    counted.whole(true);
    let gear = coverage("b.example", "gears", WatchState::Synced);
    let gears = server.metrics.watch(&gear.kind);
    gears.events(7);
    gears.heard();
    server.board.cover(vec![forbidden, gear]);
    server.metrics.discovered(Discovery {
        read: Some(Timestamp::now()),
        stale: vec!["c.example".to_owned()],
        excluded: vec![coverage("", "secrets", WatchState::Syncing).kind],
        ..Discovery::default()
    });
    server.metrics.undiscovered("the API server is away");

    let told = server.get("/debug/watches").await.json();
    let counts =
        json!({"synced": 1, "syncing": 0, "forbidden": 1, "failing": 0, "unserved": 0, "excluded": 1});
    assert_eq!(told["kinds"], counts);
    let discovery = &told["discovery"];
    assert_eq!((&discovery["age"], &discovery["staleGroups"]), (&json!(0), &json!(["c.example"])));
    assert_eq!(discovery["error"], "the API server is away");
    assert_eq!(
        told["watches"][0],
        json!({"group": "a.example", "version": "v1", "kind": "thing", "resource": "things",
               "state": "forbidden", "message": "no", "since": "2026-01-02T03:04:05Z", "read": "whole",
               "components": 3, "events": 0, "reads": 1, "relists": 0, "drift": 0, "errors": {"403": 1}})
    );
    let gears = &told["watches"][1];
    assert_eq!(
        (&gears["state"], &gears["events"], &gears["heardAge"]),
        (&json!("synced"), &json!(7), &json!(0))
    );
    assert_eq!(
        (&told["watches"][2]["resource"], &told["watches"][2]["state"]),
        (&json!("secrets"), &json!("excluded"))
    );

    let metrics = server.get("/metrics").await.body;
    for line in [
        r#"addons_controller_watch_state{group="a.example",resource="things",state="forbidden"} 1"#,
        "addons_controller_discovery_stale_groups 1",
        "addons_controller_discovery_errors_total 1",
        r#"addons_controller_watch_heard_timestamp_seconds{group="b.example",resource="gears"} "#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[tokio::test]
async fn a_client_that_has_the_list_gets_no_body() {
    let server = Server::start().await;
    server.board.put(summary("dns", "", vec![component("Deployment", "coredns", Health::Healthy)]));
    let first = server.get(LIST).await;
    let etag = first.header("etag").to_owned();
    assert!(etag.starts_with('"') && etag.len() > 20, "{etag}");
    assert_eq!(first.header("cache-control"), "no-store");
    for known in [etag.clone(), format!("\"x\", W/{etag}"), "*".to_owned()] {
        let again = server.send("GET", LIST, &[("If-None-Match", &known)]).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{known}");
        assert_eq!(again.header("etag"), etag);
        assert_eq!(again.header("addons-heartbeat-age"), "0");
    }
    server.board.put(summary("dns", "", vec![broken("coredns", "no image")]));
    let changed = server.send("GET", LIST, &[("If-None-Match", &etag)]).await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), etag);
}

#[tokio::test]
async fn one_addon_is_found_by_identifier_and_by_object_name_with_every_component() {
    let server = Server::start().await;
    let many = (0..3000).map(|i| component("Deployment", &format!("c{i}"), Health::Healthy)).collect();
    server.board.put(summary("My_Addon", "", many));
    let object_name = crate::api::object_name(&identifier("My_Addon"));
    let by_identifier = server.get(&format!("{LIST}/My_Addon")).await;
    let by_name = server.get(&format!("{LIST}/{object_name}")).await;
    assert_eq!(by_identifier.status, 200);
    assert_eq!(by_identifier.body, by_name.body);
    let addon = by_identifier.json();
    assert_eq!(addon["status"]["components"].as_array().map(Vec::len), Some(3000));
    assert_eq!(addon["status"]["omitted"], 0);
    let etag = by_identifier.header("etag");
    let again = server.send("GET", &format!("{LIST}/My_Addon"), &[("If-None-Match", etag)]).await;
    assert_eq!(again.status, 304);
}

#[tokio::test]
async fn head_gives_what_get_gives_without_the_body() {
    let server = Server::start().await;
    let get = server.get(LIST).await;
    let head = server.send("HEAD", LIST, &[]).await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for name in ["content-length", "etag", "content-type"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_named_safely() {
    let server = Server::start().await;
    let long = "x".repeat(5000);
    for (path, says) in [
        (format!("{LIST}/nope"), "'nope'"),
        (format!("{LIST}/%3Cscript%3Ea%1b%5b2J%e2%80%ae"), "'<script>a\u{fffd}[2J\u{fffd}'"),
        (format!("{LIST}/{long}"), "xxx...'"),
        ("/nowhere".to_owned(), "'/nowhere'"),
        (format!("{LIST}/a/b"), "/api/v1alpha1/addons/a/b"),
    ] {
        let answer = server.get(&path).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"], &error["reason"]), (404, &json!(404), &json!("NotFound")));
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(says) && message.len() < 400, "{message}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    let answer = server.get(&format!("{LIST}/%ff")).await;
    assert_eq!((answer.status, &answer.json()["error"]["reason"]), (400, &json!("BadRequest")));
}

#[tokio::test]
async fn markup_in_a_message_stays_text() {
    let server = Server::start().await;
    let hostile = r#"</script><script>alert(1)</script>"'&"#;
    server.board.put(summary("dns", hostile, vec![broken("x", hostile)]));
    for path in [LIST.to_owned(), format!("{LIST}/dns")] {
        let answer = server.get(&path).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(
            answer.header("content-security-policy").starts_with("default-src 'none'; script-src 'self'")
        );
        let json = answer.json();
        let status = if path == LIST { &json["items"][0]["status"] } else { &json["status"] };
        assert_eq!(status["message"], hostile);
    }
    let page = server.get("/addons/%3Cscript%3E").await;
    assert!(!page.body.contains("alert"), "the page is the same for every add-on");
}

#[tokio::test]
async fn the_page_is_static_and_brings_all_its_parts() {
    let server = Server::start().await;
    let page = server.get("/").await;
    assert_eq!(page.body, server.get("/addons/dns").await.body);
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let part = server.get(path).await;
        assert_eq!((part.status, part.header("content-type")), (200, content_type), "{path}");
        assert_eq!(part.header("cache-control"), "no-cache");
        assert!(path == "/" || page.body.contains(path), "the page doesn't use {path}");
        for unsafe_way in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style="]
        {
            assert!(!part.body.contains(unsafe_way), "{path} has {unsafe_way}");
        }
        let elsewhere = part.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{path} points elsewhere");
    }
}

#[tokio::test]
async fn only_reading_is_answered() {
    let server = Server::start().await;
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "FOO"] {
        let answer = server.send(method, LIST, &[("Content-Length", "0")]).await;
        assert_eq!((answer.status, answer.header("allow")), (405, "GET, HEAD"), "{method}");
        assert_eq!(answer.json()["error"]["reason"], "MethodNotAllowed");
    }
}

#[tokio::test]
async fn a_request_by_another_name_is_refused() {
    let server = Server::start().await;
    for host in ["localhost:1234", "127.0.0.1", "[::1]:8080"] {
        assert_eq!(server.send("GET", LIST, &[("Host", host)]).await.status, 200, "{host}");
    }
    for path in [LIST, "/", "/metrics"] {
        let answer = server.send("GET", path, &[("Host", "evil.example:8080")]).await;
        assert_eq!((answer.status, &answer.json()["error"]["reason"]), (421, &json!("WrongHost")), "{path}");
    }
    let two = server.send("GET", LIST, &[("Host", "localhost"), ("Host", "evil.example")]).await;
    assert!(matches!(two.status, 400 | 421), "{}", two.status);
    let line = server.send("GET", &format!("http://evil.example{LIST}"), &[("Host", "localhost")]).await;
    assert_eq!(line.status, 421);
    let none = server.raw(&format!("GET {LIST} HTTP/1.0\r\n\r\n")).await;
    assert_eq!(none.status, 421);
}

#[tokio::test]
async fn readiness_names_what_is_missing_until_it_is_there() {
    let server = Server::start().await;
    server.readiness.wait_for("leader", "the lease can't be read");
    let answer = server.get("/readyz").await;
    assert_eq!(answer.status, 503);
    assert_eq!(
        answer.body,
        "[-]leader failed: the lease can't be read\n[-]sync failed: 0 of 86 kinds are listed\nreadyz check failed\n"
    );
    server.readiness.reached("leader");
    server.readiness.wait_for("sync", "80 of 86 kinds are listed");
    assert!(server.get("/readyz").await.body.starts_with("[-]sync failed: 80 of 86 kinds are listed\n"));
    server.readiness.reached("sync");
    assert!(server.readiness.is_ready());
    assert_eq!(server.get("/readyz").await.body, "ok\n");
    let verbose = server.get("/readyz?verbose").await;
    assert_eq!(
        (verbose.status, verbose.body.as_str()),
        (200, "[+]sync ok: 0 kinds are known\nreadyz check passed\n")
    );
}

#[tokio::test]
async fn an_engine_without_a_pulse_is_not_alive() {
    let server = Server::start().await;
    server.pulse.beat();
    assert_eq!(server.get("/livez").await.body, "ok\n");
    assert!(
        server.get("/livez?verbose=1").await.body.starts_with("[+]heartbeat ok: the engine was last seen 0.")
    );

    let hung = Server::with_pulse(Pulse::new(Duration::ZERO)).await;
    let answer = hung.get("/livez").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.starts_with("[-]heartbeat failed:"), "{}", answer.body);
}

#[tokio::test]
async fn the_metrics_are_those_of_the_board() {
    let server = Server::start().await;
    server.board.put(summary("dns", "", vec![component("Deployment", "coredns", Health::Healthy)]));
    server.board.put(summary(
        "My_Addon",
        "",
        vec![broken("x", ""), component("DaemonSet", "y", Health::Healthy)],
    ));
    server.board.cover(vec![
        coverage("apps", "deployments", WatchState::Synced),
        coverage("a.example", "things", WatchState::Failing("500".into())),
    ]);
    let watch = server.metrics.watch(&coverage("apps", "deployments", WatchState::Synced).kind);
    watch.error(WatchErrorCode::Status(503));
    server.metrics.status_write(WriteResult::Updated);

    let answer = server.get("/metrics").await;
    assert_eq!(answer.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let version = env!("CARGO_PKG_VERSION");
    let object_name = crate::api::object_name(&identifier("My_Addon"));
    for line in [
        format!("addons_controller_build_info{{version=\"{version}\"}} 1"),
        r#"addon_info{addon="dns",identifier="dns",version="1.9.4"} 1"#.to_owned(),
        r#"addon_health{addon="dns",health="Healthy"} 1"#.to_owned(),
        r#"addon_health{addon="dns",health="Degraded"} 0"#.to_owned(),
        format!("addon_health{{addon=\"{object_name}\",health=\"Degraded\"}} 1"),
        format!("addon_components{{addon=\"{object_name}\",health=\"Healthy\"}} 1"),
        format!("addon_components{{addon=\"{object_name}\",health=\"Degraded\"}} 1"),
        r#"addons_controller_kinds{state="synced"} 1"#.to_owned(),
        r#"addons_controller_kinds{state="failing"} 1"#.to_owned(),
        r#"addons_controller_kinds{state="forbidden"} 0"#.to_owned(),
        r#"addons_controller_watch_up{group="apps",resource="deployments"} 1"#.to_owned(),
        r#"addons_controller_watch_up{group="a.example",resource="things"} 0"#.to_owned(),
        r#"addons_controller_watch_errors_total{group="apps",resource="deployments",code="503"} 1"#
            .to_owned(),
        r#"addons_controller_relists_total{group="apps",resource="deployments"} 0"#.to_owned(),
        "addons_controller_watch_events_total 0".to_owned(),
        r#"addons_controller_status_writes_total{result="updated"} 1"#.to_owned(),
        "# EOF".to_owned(),
    ] {
        assert!(answer.body.lines().any(|found| found == line), "no {line} in\n{}", answer.body);
    }

    server.board.remove(&identifier("My_Addon"));
    let gone = server.get("/metrics").await.body;
    assert!(!gone.contains(&object_name) && gone.contains(r#"addon="dns""#), "{gone}");
}
