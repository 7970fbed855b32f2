#![allow(clippy::expect_used)]

use super::*;
use serde_json::json;

const PIPED: Look = Look { colour: false, columns: None };
const TERMINAL: Look = Look { colour: false, columns: Some(80) };

fn addon() -> Addon {
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    let image = "pod controller-7c9f can't pull registry.example/ingress/controller:2: not found";
    serde_json::from_value(json!({
        "apiVersion": "addons.x-k8s.io/v1alpha1", "kind": "Addon",
        "metadata": {"name": "ingress-nginx"},
        "spec": {"identifier": "ingress-nginx"},
        "status": {
            "conditions": [
                condition("Ready", "False", "ImagePullBackOff", ""),
                condition("Observed", "True", "AllWatched", ""),
            ],
            "health": "Degraded", "reason": "ImagePullBackOff", "ready": "3/5", "version": "1.9.4",
            "message": format!("2 of 5 not healthy: Deployment ingress/controller: {image}; Service ingress/web: no address"),
            "facts": [{"name": "leader", "value": "controller-7c9f"}, {"name": "url", "value": "https://a.example, https://b.example"}],
            "installs": [
                {"name": "external", "health": "Degraded", "ready": "1/2"},
                {"name": "internal", "health": "Healthy", "ready": "2/2"},
            ],
            "components": [
                {"group": "apps", "kind": "Deployment", "resource": "deployments", "version": "v1",
                    "namespace": "ingress", "name": "controller", "install": "external", "health": "Degraded",
                    "reason": "ImagePullBackOff", "message": image, "since": "2026-01-01T00:00:00Z",
                    "rule": "builtin/apps.Deployment",
                    "cause": {"kind": "Pod", "namespace": "ingress", "name": "controller-7c9f",
                        "reason": "ImagePullBackOff", "message": image},
                    "conditions": [
                        condition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
                        condition("Progressing", "True", "ReplicaSetUpdated", image),
                    ]},
                {"group": "serving.example", "kind": "Service", "resource": "services", "version": "v1",
                    "namespace": "ingress", "name": "web", "health": "Progressing", "reason": "Pending",
                    "rule": "conditions", "importance": "informational",
                    "flapping": {"changes": 5, "first": "2026-01-06T02:40:00Z", "last": "2026-01-06T02:47:30Z"}},
                {"group": "", "kind": "Service", "resource": "services", "version": "v1", "namespace": "ingress",
                    "name": "controller", "install": "internal", "health": "Healthy", "reason": "Exists",
                    "message": "not shown", "rule": "builtin/Service"},
            ],
            "omitted": 2,
        }
    }))
    .expect("an Addon")
}

fn now() -> Timestamp {
    "2026-01-06T03:00:00Z".parse().expect("a time")
}

#[test]
fn an_addon_reads_well_at_80_columns() {
    let addon = addon();
    let text = describe(&addon, ready_since(&addon), now(), PIPED);
    assert_eq!(
        text,
        "\
Name:        ingress-nginx
Identifier:  ingress-nginx
Health:      Degraded (ImagePullBackOff)
Message:     2 of 5 not healthy: Deployment ingress/controller: pod
             controller-7c9f can't pull registry.example/ingress/controller:2:
             not found; Service ingress/web: no address
Ready:       3/5
Since:       5d3h (2026-01-01T00:00:00Z)
Version:     1.9.4
Observed:    True (AllWatched)

Facts:
    leader: controller-7c9f
    url: https://a.example, https://b.example

Installs:
INSTALL    HEALTH     READY
external   Degraded   1/2
internal   Healthy    2/2

Components:
HEALTH        REASON             COMPONENT
Degraded      ImagePullBackOff   Deployment ingress/controller [external]
    for 5d3h: pod controller-7c9f can't pull
    registry.example/ingress/controller:2: not found
    cause: Pod ingress/controller-7c9f (ImagePullBackOff)
    Available=False (MinimumReplicasUnavailable): Deployment does not have
    minimum availability.
    Progressing=True (ReplicaSetUpdated)
Progressing   Pending            Service.serving.example ingress/web (informational)
    flapping: 5 changes in 7m30s, the last 12m ago
Healthy       Exists             Service ingress/controller [internal]

2 more components are counted and not listed here, none worse than these. The
controller serves all of them at /api/v1alpha1/addons/ingress-nginx.
"
    );
}

#[test]
fn colour_changes_nothing_but_colour() {
    let addon = addon();
    let coloured = describe(&addon, None, now(), Look { colour: true, ..PIPED });
    let plain = coloured
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[31m", "")
        .replace("\u{1b}[33m", "")
        .replace("\u{1b}[0m", "");
    assert!(coloured.contains('\u{1b}'));
    assert_eq!(plain, describe(&addon, None, now(), PIPED));
}

#[test]
fn a_terminal_of_80_columns_is_never_overrun() {
    let mut addon = addon();
    let status = addon.status.as_mut().expect("a status");
    status.message = "größe 容量不足 ".repeat(60);
    status.components[0].message = "some words of an error ".repeat(60);
    let text = describe(&addon, None, now(), TERMINAL);
    for line in text.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    assert!(
        text.contains(
            "Progressing   Pending            Service.serving.example\n    ingress/web (informational)\n"
        ),
        "{text}"
    );
    assert!(text.contains("Deployment ingress/controller [external]\n"), "{text}");
    let coloured = describe(&addon, None, now(), Look { colour: true, ..TERMINAL });
    assert_eq!(coloured.lines().count(), text.lines().count());
}

#[test]
fn an_addon_that_nobody_has_filled_in_is_unknown() {
    let mut addon = addon();
    addon.status = None;
    let text = describe(&addon, None, now(), PIPED);
    assert!(text.contains("Health:      Unknown\n"), "{text}");
    assert!(text.contains("Components:  <none>\n"), "{text}");
}
