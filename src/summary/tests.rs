#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::*;
use crate::api::{Combine, CountBy, Quorum, Select};
use crate::model::{
    Cause, Fact, Flapping, Kind, Later, ObjectRef, Owner, SignedDuration, StatusReporting, Timeline,
};

mod combination;
mod explained;
mod flapping;
mod grouping;
mod incremental;
mod wording;

fn id(raw: &str) -> Identifier {
    Identifier::new(raw).expect("an identifier")
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn kind(group: &str, kind: &str) -> Arc<Kind> {
    Arc::new(Kind {
        group: group.into(),
        version: "v1".into(),
        kind: kind.into(),
        plural: format!("{}s", kind.to_lowercase()),
        namespaced: true,
        status: StatusReporting::Yes,
    })
}

fn verdict(health: Health, reason: &str, message: &str) -> Verdict {
    Verdict {
        health,
        reason: reason.to_owned().into(),
        message: message.into(),
        since: None,
        rule: "test".into(),
    }
}

/// A Deployment with the label of `identifiers`; its name is its uid.
fn object(name: &str, identifiers: &[&str], health: Health) -> Observation {
    Observation {
        object: ObjectRef {
            kind: kind("apps", "Deployment"),
            namespace: "ns".into(),
            name: name.into(),
            uid: name.into(),
        },
        memberships: identifiers
            .iter()
            .map(|i| Membership { identifier: id(i), install: String::new() })
            .collect(),
        controller: None,
        sums_up: None,
        timeline: verdict(health, if health == Health::Healthy { "Fine" } else { "Broken" }, "").into(),
        conditions: Vec::new(),
        version: None,
        informational: false,
        superseded: false,
        facts: Vec::new(),
        generation: None,
    }
}

impl Observation {
    fn of_kind(mut self, group: &str, name: &str) -> Self {
        self.object.kind = kind(group, name);
        self
    }

    fn controlled_by(mut self, uid: &str) -> Self {
        self.controller = Some(Box::new(owner(uid)));
        self
    }

    fn summing_up(mut self, child: &str) -> Self {
        self.sums_up = Some(id(child));
        self.of_kind("addons.x-k8s.io", "Addon")
    }
}

/// The cause `Pod ns/p<n>`, which makes what it explains fail where it `fails`.
fn explanation(n: usize, fails: bool) -> Explanation {
    let object = ObjectRef {
        kind: kind("", "Pod"),
        namespace: "ns".into(),
        name: format!("p{n}").into(),
        uid: format!("p{n}").into(),
    };
    let cause = Cause { object, reason: "ImagePullBackOff".into(), message: format!("no image {n}") };
    let evidence = Verdict { since: Some(at(0)), ..verdict(Health::Degraded, &cause.reason, &cause.message) };
    Explanation { steps: vec![cause], evidence: fails.then_some(evidence), incomplete: None }
}

fn owner(uid: &str) -> Owner {
    Owner { uid: uid.into(), group: "apps".into(), kind: "ReplicaSet".into(), name: uid.into() }
}

fn census(observations: Vec<Observation>) -> Census {
    Census { observations, ..Census::default() }
}

/// The summaries by identifier, with every time of a condition that may be that of the computation
/// taken out.
fn timeless(summaries: impl IntoIterator<Item = Summary>) -> BTreeMap<Identifier, Summary> {
    summaries
        .into_iter()
        .map(|mut summary| {
            for condition in &mut summary.status.conditions {
                condition.last_transition_time = Time(at(0));
            }
            (summary.identifier.clone(), summary)
        })
        .collect()
}

fn one(census: Census) -> AddonStatus {
    let mut all = summarize(census, at(1000));
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).whole()
}
