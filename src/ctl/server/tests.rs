#![allow(clippy::expect_used)]

use kube::core::Status;
use serde_json::json;

use super::*;

fn answer() -> Value {
    let column = |name: &str, priority: i32| json!({"name": name, "type": "string", "format": "", "priority": priority});
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "7"},
        "columnDefinitions": [column("Name", 0), column("HEALTH", 0), column("READY", 0), column("AGE", 0), column("MESSAGE", 1)],
        "rows": [
            {"cells": ["dns", "Healthy", "3/3", "5d3h", ""], "object": null},
            {"cells": ["mesh", "Degraded", "1/2", "3m", "bad\u{1b}[2J\rOK"], "object": null},
            {"cells": ["lake", "Sunny", null, "0s", null], "object": null},
            {"cells": ["cave", "Degraded", "0/1", "1s", 5], "object": null},
        ]
    })
}

fn table() -> ServerTable {
    let mut value = answer();
    clean(&mut value);
    let mut table: ServerTable = serde_json::from_value(value).expect("a table");
    table.sort();
    table
}

#[test]
fn the_servers_table_is_printed_worst_first() {
    assert_eq!(
        table().table(false).render(true, false),
        "\
NAME   HEALTH     READY    AGE
cave   Degraded   0/1      1s
mesh   Degraded   1/2      3m
lake   Sunny      <none>   0s
dns    Healthy    3/3      5d3h
"
    );
    assert_eq!(table().names().collect::<Vec<_>>(), ["cave", "mesh", "lake", "dns"]);
}

#[test]
fn the_wide_table_has_every_column_and_no_terminal_sequence() {
    let text = table().table(true).render(true, false);
    assert!(text.contains("mesh   Degraded   1/2      3m     bad\u{fffd}[2J OK\n"), "{text}");
    assert!(text.lines().all(|line| !line.contains('\u{1b}')));
}

#[test]
fn every_refusal_says_what_it_is() {
    let error = |status: Value| {
        let status: Status = serde_json::from_value(status).expect("a status");
        meaning(&kube::Error::Api(Box::new(status)), "https://cluster.example:6443".to_owned())
    };
    assert!(matches!(error(json!({"code": 401, "message": "Unauthorized"})), Error::Unauthorized { .. }));
    assert!(matches!(
        error(json!({"code": 404, "message": "404 page not found"})),
        Error::NotInstalled { .. }
    ));
    assert!(matches!(
        error(json!({"code": 404, "details": {"name": "a", "kind": "addons"}})),
        Error::NotFound { .. }
    ));
    assert!(matches!(error(json!({"code": 500, "message": "boom"})), Error::Server { code: 500, .. }));
    let forbidden = error(json!({"code": 403, "message": "addons is forbidden: User \"x\"\ncannot list"}));
    let mut printed = Vec::new();
    forbidden.print(&mut printed).expect("printed");
    assert_eq!(
        String::from_utf8(printed).expect("text"),
        "error: the API server refused: addons is forbidden: User \"x\" cannot list\n\
         hint: ask for 'get' and 'list' on addons.addons.x-k8s.io\n"
    );
}
