//! What the add-ons must be: computed from a fresh list of everything.

use std::{collections::BTreeMap, time::Duration};

use addons::{
    api::{Addon, LabelPrefix, bounds, object_name},
    connect,
    discover::Selection,
    model::Timestamp,
    summary::summarize,
    watch::{LiveRules, snapshot},
};
use addons_testbed::eventually;
use kube::{Api, ResourceExt, api::ListParams};
use serde_json::Value;

use crate::stage::Stage;

/// How long a request of the fresh list may take.
const PATIENCE: Duration = Duration::from_secs(30);

impl Stage {
    /// Waits until the controller and the `Addon` objects say what follows from a fresh list.
    pub async fn agrees(&self, within: Duration) {
        eventually(within, "all is as a fresh list says", || async {
            let (whole, fitted) = self.computed().await?;
            let served = self.served().await?;
            differ("HTTP", &whole, &served)?;
            differ("the API server", &fitted, &self.stored().await?)
        })
        .await;
    }

    /// The statuses by name: whole, and as they fit into an object.
    async fn computed(&self) -> Result<(Statuses, Statuses), String> {
        let client = connect::client(Some(self.cluster.kubeconfig()), None).await;
        let client = client.map_err(|error| error.to_string())?;
        let rules = LiveRules::default().shared();
        let read = snapshot(&client, &Selection::default(), &LabelPrefix::default(), &rules, PATIENCE).await;
        let census = read.map_err(|error| error.to_string())?;
        if !census.gaps.is_empty() {
            return Err(format!("the fresh list isn't whole: {:?}", census.gaps));
        }
        let (mut whole, mut fitted) = (Statuses::new(), Statuses::new());
        for summary in summarize(census, Timestamp::now()) {
            let name = object_name(&summary.identifier);
            let status = summary.whole();
            fitted.insert(name.clone(), timeless(serde_json::to_value(bounds::fit(&status))));
            whole.insert(name, timeless(serde_json::to_value(&status)));
        }
        Ok((whole, fitted))
    }

    async fn served(&self) -> Result<Statuses, String> {
        let (_, list) = self.controller().get("/api/v1alpha1/addons").await?;
        let list: Value = serde_json::from_str(&list).map_err(|error| error.to_string())?;
        let mut served = Statuses::new();
        for item in list["items"].as_array().ok_or("no items")? {
            let identifier = item["spec"]["identifier"].as_str().ok_or("no identifier")?;
            let status = self.controller().addon(identifier).await?["status"].take();
            served.insert(
                item["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
                timeless(Ok(status)),
            );
        }
        Ok(served)
    }

    async fn stored(&self) -> Result<Statuses, String> {
        let list = Api::<Addon>::all(self.client.clone()).list(&ListParams::default()).await;
        let list = list.map_err(|error| error.to_string())?;
        let status = |addon: &Addon| timeless(serde_json::to_value(&addon.status));
        Ok(list.items.iter().map(|addon| (addon.name_any(), status(addon))).collect())
    }
}

type Statuses = BTreeMap<String, Value>;

/// A status without times, and without what only those know who have watched for a while.
fn timeless(status: serde_json::Result<Value>) -> Value {
    let mut status = status.unwrap_or_default();
    strip(&mut status);
    status
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["since", "lastTransitionTime", "cause", "flapping"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The first difference.
fn differ(place: &str, wanted: &Statuses, seen: &Statuses) -> Result<(), String> {
    for (name, status) in wanted {
        match seen.get(name) {
            Some(seen) if seen == status => {}
            Some(seen) => return Err(format!("{name} in {place}:\n{seen}\nand not\n{status}")),
            None => return Err(format!("{name} isn't in {place}")),
        }
    }
    match seen.keys().find(|name| !wanted.contains_key(*name)) {
        Some(extra) => Err(format!("{extra} is in {place} and shouldn't be")),
        None => Ok(()),
    }
}
