//! Summaries and kinds as the rooms above would show them.

use std::sync::Arc;

use crate::{
    api::{
        AddonCondition, AddonStatus, ComponentCause, ComponentCondition, ComponentStatus, Counts, Identifier,
        InstallStatus, condition,
    },
    model::{Health, Kind, StatusReporting, Timestamp},
    summary::{KindCoverage, Summary, WatchState},
};

pub fn identifier(raw: &str) -> Identifier {
    Identifier::new(raw).expect("an identifier")
}

pub fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

pub fn component(kind: &str, name: &str, health: Health) -> ComponentStatus {
    ComponentStatus {
        group: "apps".into(),
        kind: kind.into(),
        resource: format!("{}s", kind.to_lowercase()),
        version: "v1".into(),
        namespace: "kube-system".into(),
        name: name.into(),
        uid: String::new(),
        install: String::new(),
        health: health.as_str().into(),
        reason: if health == Health::Healthy { "Available" } else { "ProgressDeadlineExceeded" }.into(),
        message: String::new(),
        since: Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(time("2026-01-02T03:04:05Z"))),
        rule: format!("builtin/apps.{kind}"),
        importance: None,
        flapping: None,
        conditions: vec![ComponentCondition {
            kind: "Available".into(),
            status: if health == Health::Healthy { "True" } else { "False" }.into(),
            reason: "MinimumReplicas".into(),
            message: "Deployment has or hasn't its minimum".into(),
            last_transition_time: None,
        }],
        cause: None,
    }
}

/// A component whose pod can't pull its image.
pub fn broken(name: &str, message: &str) -> ComponentStatus {
    ComponentStatus {
        message: "0 of 2 replicas are available".into(),
        cause: Some(ComponentCause {
            kind: "Pod".into(),
            namespace: "kube-system".into(),
            name: format!("{name}-7c9"),
            reason: "ImagePullBackOff".into(),
            message: message.into(),
        }),
        ..component("Deployment", name, Health::Degraded)
    }
}

/// An add-on of these components, counted and summed up like one of the summary room.
pub fn summary(raw: &str, message: &str, components: Vec<ComponentStatus>) -> Arc<Summary> {
    let of = |health: Health| {
        let count = components.iter().filter(|component| component.health == health.as_str()).count();
        i32::try_from(count).expect("few")
    };
    let health = components.iter().map(|component| Health::parse(&component.health)).reduce(Health::worst);
    let health = health.unwrap_or(Health::Unknown);
    let counts = Counts {
        total: i32::try_from(components.len()).expect("few"),
        healthy: of(Health::Healthy),
        progressing: of(Health::Progressing),
        degraded: of(Health::Degraded),
        suspended: of(Health::Suspended),
        terminating: of(Health::Terminating),
        unknown: of(Health::Unknown),
        informational: 0,
    };
    let ready = AddonCondition {
        kind: condition::READY.into(),
        status: if health == Health::Healthy { "True" } else { "False" }.into(),
        reason: "Summary".into(),
        message: message.into(),
        last_transition_time: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(time(
            "2026-01-02T03:04:05Z",
        )),
        observed_generation: None,
    };
    let status = AddonStatus {
        conditions: vec![ready],
        health: health.as_str().into(),
        reason: components.first().map(|component| component.reason.clone()).unwrap_or_default(),
        message: message.into(),
        ready: format!("{}/{}", counts.healthy, counts.total),
        counts,
        version: Some("1.9.4".into()),
        facts: Vec::new(),
        installs: Vec::<InstallStatus>::new(),
        components,
        omitted: 0,
    };
    Arc::new(Summary { identifier: identifier(raw), status, since: None, components: Arc::default() })
}

pub fn coverage(group: &str, plural: &str, state: WatchState) -> KindCoverage {
    let kind = Kind {
        group: group.into(),
        version: "v1".into(),
        kind: plural.trim_end_matches('s').to_owned(),
        plural: plural.into(),
        namespaced: true,
        status: StatusReporting::Yes,
    };
    KindCoverage { kind: Arc::new(kind), state, since: time("2026-01-02T03:04:05Z"), components: 3 }
}
