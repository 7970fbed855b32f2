//! How many requests the program that is measured sends, and of which sort.
//!
//! The program is a user of its own, and a `FlowSchema` each counts its lists, watches, gets, writes
//! and the rest. All lead to the priority level that every service account has, so counting changes
//! nothing.

use std::{collections::BTreeMap, time::Duration};

use addons_testbed::{Cluster, User, until};
use anyhow::{Result, ensure};
use http::Request;
use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::PolicyRule};
use kube::{Api, api::ListParams};
use serde_json::{Value, json};

/// The API server's own count.
const METRIC: &str = "apiserver_flowcontrol_dispatched_requests_total{flow_schema=\"bench-";

/// The sorts, by the verbs that belong to them; what has no resource is discovery.
const SORTS: [(&str, &[&str]); 4] = [
    ("lists", &["list"]),
    ("watches", &["watch"]),
    ("gets", &["get"]),
    ("writes", &["create", "update", "patch", "delete", "deletecollection"]),
];

/// Requests by sort.
#[derive(Clone, Default)]
pub(crate) struct Requests(BTreeMap<String, u64>);

/// The user that the programs are: may do everything, and is counted.
pub(crate) async fn counted_user(cluster: &Cluster) -> Result<User> {
    let all = || Some(vec!["*".to_owned()]);
    let rules = vec![
        PolicyRule { api_groups: all(), resources: all(), verbs: vec!["*".into()], ..PolicyRule::default() },
        PolicyRule { non_resource_urls: all(), verbs: vec!["*".into()], ..PolicyRule::default() },
    ];
    let user = cluster.user("bench", rules).await?;
    let resources = SORTS.map(|(sort, verbs)| {
        let rule = json!({"verbs": verbs, "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"],
            "clusterScope": true});
        schema(&user, sort, "resourceRules", &rule)
    });
    let rest = json!({"verbs": ["*"], "nonResourceURLs": ["*"]});
    let discovery = schema(&user, "discovery", "nonResourceRules", &rest);
    let items: Vec<Value> = resources.into_iter().chain([discovery]).collect();
    cluster.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).await?;

    let lists = Api::<ConfigMap>::namespaced(user.client().await?, "kube-system");
    until(Duration::from_secs(60), "requests are counted", || async {
        lists.list_metadata(&ListParams::default().limit(1)).await?;
        let counted = Requests::so_far(cluster).await?;
        ensure!(counted.0.get("lists").is_some_and(|count| *count > 0), "none is");
        Ok(())
    })
    .await?;
    Ok(user)
}

fn schema(user: &User, sort: &str, rules: &str, rule: &Value) -> Value {
    json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": {"name": format!("bench-{sort}")},
        "spec": {
            "matchingPrecedence": 10,
            "priorityLevelConfiguration": {"name": "workload-low"},
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{"subjects": [{"kind": "User", "user": {"name": user.name()}}], rules: [rule]}],
        },
    })
}

impl Requests {
    /// Those since the API server started.
    pub(crate) async fn so_far(cluster: &Cluster) -> Result<Self> {
        let request = Request::get("/metrics").body(Vec::new())?;
        let text = cluster.client().await?.request_text(request).await?;
        let counts = text.lines().filter_map(|line| {
            let (sort, rest) = line.strip_prefix(METRIC)?.split_once('"')?;
            Some((sort.to_owned(), rest.rsplit(' ').next()?.parse().ok()?))
        });
        Ok(Self(counts.collect()))
    }

    /// Those since an earlier count, such as `12: 10 watches, 2 gets`.
    pub(crate) fn since(&self, earlier: &Self) -> String {
        let mut some: Vec<(u64, &str)> = self
            .0
            .iter()
            .map(|(sort, count)| (count.saturating_sub(*earlier.0.get(sort).unwrap_or(&0)), sort.as_str()))
            .filter(|(count, _)| *count > 0)
            .collect();
        some.sort_by(|a, b| b.cmp(a));
        let total: u64 = some.iter().map(|(count, _)| count).sum();
        let each: Vec<String> = some.iter().map(|(count, sort)| format!("{count} {sort}")).collect();
        if each.is_empty() { total.to_string() } else { format!("{total}: {}", each.join(", ")) }
    }
}
