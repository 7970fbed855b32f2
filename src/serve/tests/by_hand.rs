//! Not a check but a way to look at the page while working on it:
//! `cargo test --lib serve::tests::by_hand -- --ignored --nocapture`.

use std::{sync::Arc, time::Duration};

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::fixture::{broken, component, coverage, summary};
use crate::{
    api::{ComponentStatus, InstallStatus},
    metrics::Metrics,
    model::Health,
    serve::{Pulse, Readiness, State, run},
    summary::{Board, WatchState},
};

#[tokio::test]
#[ignore = "serves until it is interrupted"]
async fn serve_a_board() {
    let board = Arc::new(Board::default());
    fill(&board);
    let readiness = Readiness::waiting_for("sync", "12 of 86 kinds are listed");
    let state =
        State::new(Arc::clone(&board), &Metrics::default(), Pulse::new(Duration::from_secs(60)), readiness);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("http://{}/", listener.local_addr().expect("an address"));
    run(listener, state, CancellationToken::new()).await;
}

fn fill(board: &Board) {
    let hostile = "can't pull <img src=x onerror=alert(1)>registry.example/ingress/controller:2: not found";
    let installs = ["internal", "external"].map(|install| {
        let mut component: ComponentStatus = broken(&format!("controller-{install}"), hostile);
        component.install = install.into();
        component
    });
    let healthy = ["admission", "default-backend"].map(|name| component("Deployment", name, Health::Healthy));
    let message = "2 of 4 not healthy: Deployment kube-system/controller-internal: pod controller-internal-7c9 can't pull its image";
    let mut ingress =
        Arc::unwrap_or_clone(summary("ingress", message, installs.into_iter().chain(healthy).collect()));
    ingress.status.installs = ["internal", "external"]
        .map(|name| InstallStatus { name: name.into(), health: "Degraded".into(), ready: "0/1".into() })
        .into();
    board.put(Arc::new(ingress));
    for (identifier, health) in [
        ("Storage_Driver", Health::Unknown),
        ("certificate-manager", Health::Progressing),
        ("old-dashboard", Health::Terminating),
        ("nightly-backup", Health::Suspended),
    ] {
        let message = format!("1 of 2 not healthy: DaemonSet kube-system/{identifier}");
        let components =
            vec![component("DaemonSet", identifier, health), component("Deployment", "b", health)];
        board.put(summary(identifier, &message, components));
    }
    for i in 0..1000 {
        board.put(summary(&format!("addon-{i:04}"), "", vec![component("Deployment", "a", Health::Healthy)]));
    }
    let mut kinds = vec![
        coverage("storage.example", "volumes", WatchState::Forbidden("volumes.storage.example is forbidden: User \"system:serviceaccount:addons:controller\" cannot list resource".into())),
        coverage("hooks.example", "hooks", WatchState::Failing("500: conversion webhook failed: connection refused".into())),
        coverage("slow.example", "turtles", WatchState::Syncing),
    ];
    kinds.extend((0..83).map(|i| coverage(&format!("g{i}.example"), "things", WatchState::Synced)));
    board.cover(kinds);
}
