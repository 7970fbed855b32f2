//! Components of many add-ons, as an API server shows them: of twenty objects of an add-on three are
//! Deployments, three service accounts, four Services, five custom resources with conditions and five
//! ConfigMaps.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use addons::{
    api::LabelPrefix,
    health::Rules,
    model::{Kind, StatusReporting, decode::Raw},
    summary::Observation,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The kinds of the objects, each with a watch that shares it.
pub struct Kinds {
    kinds: [Arc<Kind>; 5],
    prefix: LabelPrefix,
}

impl Default for Kinds {
    fn default() -> Self {
        let kinds = [
            ("apps", "Deployment", "deployments", StatusReporting::Yes),
            ("", "ServiceAccount", "serviceaccounts", StatusReporting::No),
            ("", "Service", "services", StatusReporting::Yes),
            ("bench.example", "Thing", "things", StatusReporting::Yes),
            ("", "ConfigMap", "configmaps", StatusReporting::No),
        ];
        let kinds = kinds.map(|(group, kind, plural, status)| {
            Arc::new(Kind {
                group: group.into(),
                version: "v1".into(),
                kind: kind.into(),
                plural: plural.into(),
                namespaced: true,
                status,
            })
        });
        Self { kinds, prefix: LabelPrefix::default() }
    }
}

impl Kinds {
    /// What is observed of object `n` of an add-on: well, or its spec not seen by its controller yet.
    pub fn observe(&self, addon: &str, n: usize, is_well: bool) -> Observation {
        let kind = &self.kinds[match n % 20 {
            0..3 => 0,
            3..6 => 1,
            6..10 => 2,
            10..15 => 3,
            _ => 4,
        }];
        let mut object = match kind.kind.as_str() {
            "Deployment" => deployment(n),
            "Thing" => thing(),
            "Service" => {
                json!({"spec": {"clusterIP": "None", "ports": [{"port": 80}]}, "status": {"loadBalancer": {}}})
            }
            _ => json!({}),
        };
        object["metadata"] = json!({
            "name": format!("object-{n:06}"), "namespace": "default", "uid": uid(addon, n),
            "generation": if is_well { 1 } else { 2 }, "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {format!("addons.x-k8s.io/{addon}"): "", "app.kubernetes.io/version": "v0"},
        });
        let raw = Raw::deserialize(&object).expect("an object");
        let object = raw.into_object(Arc::clone(kind)).expect("it has a name");
        Observation::of(&object, &self.prefix, &Rules::builtin()).expect("it has the label")
    }
}

fn uid(addon: &str, n: usize) -> String {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((addon, n));
    format!("{:08x}-{:04x}-4000-8000-{n:012x}", hash >> 32, hash & 0xffff)
}

fn deployment(n: usize) -> Value {
    let condition = |kind: &str, reason: &str, message: String| {
        json!({"type": kind, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z", "lastUpdateTime": "2026-01-01T00:00:00Z"})
    };
    json!({
        "spec": {"replicas": 0},
        "status": {"observedGeneration": 1, "conditions": [
            condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability.".into()),
            condition("Progressing", "NewReplicaSetAvailable",
                format!("ReplicaSet \"object-{n:06}-7c9d8b6f5\" has successfully progressed.")),
        ]},
    })
}

fn thing() -> Value {
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "reason": "AsItShould", "message": "nothing to complain of",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1})
    };
    json!({"spec": {"size": 3}, "status": {"observedGeneration": 1, "conditions": [condition("Synced"), condition("Ready")]}})
}
