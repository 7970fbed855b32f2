#![allow(clippy::expect_used, clippy::unwrap_used)]

mod decisions;
mod ledger;
mod simulation;

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{MANAGED_BY, MANAGER, settle};
use crate::{
    api::{Addon, AddonCondition, AddonSpec, AddonStatus, Identifier, condition},
    model::Timestamp,
    summary::Summary,
};

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn ready(status: &str, second: i64) -> AddonCondition {
    AddonCondition {
        kind: condition::READY.into(),
        status: status.into(),
        reason: "X".into(),
        message: String::new(),
        last_transition_time: Time(time(second)),
        observed_generation: None,
    }
}

fn status(health: &str) -> AddonStatus {
    AddonStatus {
        conditions: vec![ready("True", 100)],
        health: health.into(),
        reason: "X".into(),
        ready: "1/1".into(),
        ..AddonStatus::default()
    }
}

fn identifier(raw: &str) -> Identifier {
    Identifier::new(raw).unwrap()
}

fn summary(raw: &str, status: AddonStatus) -> Arc<Summary> {
    Arc::new(Summary { identifier: identifier(raw), status, since: None, components: Arc::default() })
}

/// An `Addon` as the API server holds it.
fn addon(name: &str, raw: &str, managed: bool, version: u64, status: Option<AddonStatus>) -> Addon {
    let mut addon = Addon::new(name, AddonSpec { identifier: raw.into() });
    addon.metadata.uid = Some(format!("uid-{name}"));
    addon.metadata.resource_version = Some(version.to_string());
    addon.metadata.creation_timestamp = Some(Time(time(50)));
    if managed {
        addon.metadata.labels = Some([(MANAGED_BY.to_owned(), MANAGER.to_owned())].into());
    }
    addon.status = status;
    addon
}

#[test]
fn a_condition_keeps_its_time_as_long_as_its_status() {
    let previous = AddonStatus { conditions: vec![ready("True", 7)], ..AddonStatus::default() };
    for (status, previous, since) in [
        ("True", Some(&previous), 7),
        ("False", Some(&previous), 100),
        ("True", Some(&AddonStatus::default()), 100),
        ("True", None, 100),
    ] {
        let mut desired = AddonStatus { conditions: vec![ready(status, 100)], ..AddonStatus::default() };
        settle(&mut desired, previous);
        assert_eq!(desired.conditions, [ready(status, since)]);
    }
}
