use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use kube::Client;
use tokio::time::timeout;

use super::{
    Feed, FeedError, News, Reader,
    components::ComponentReader,
    feed::{ALL, PAGE},
    listing::list as list_into,
    owners::controller_of,
};
use crate::{
    api::LabelPrefix,
    discover::{Catalogue, DiscoverError, Selection, discover_within},
    health::SharedRules,
    model::{Kind, StatusReporting},
    summary::{Census, Observation, object_key},
};

/// How many kinds are listed at the same time.
const CONCURRENT: usize = 16;

/// How far up a chain of owners without labels is followed.
const MAX_CHAIN: usize = 8;

/// Lists every kind once, with the rights that `client` has: all labelled objects, and the kinds
/// that could not be read and why, judged by `rules`. No request waits longer than `patience` for its answer.
///
/// # Errors
/// Where it can't be told which kinds there are.
pub async fn snapshot(
    client: &Client,
    selection: &Selection,
    prefix: &LabelPrefix,
    rules: &SharedRules,
    patience: Duration,
) -> Result<Census, DiscoverError> {
    let catalogue = discover_within(patience, client, selection, &Catalogue::default()).await?;
    let mut kinds: Vec<Arc<Kind>> = catalogue.kinds.values().cloned().collect();
    kinds.push(Arc::new(addon_kind()));

    let mut lists = stream::iter(kinds)
        .map(|kind| async move { (Arc::clone(&kind), list(client, kind, prefix, rules, patience).await) })
        .buffer_unordered(CONCURRENT);
    let mut census = Census::default();

    while let Some((kind, listed)) = lists.next().await {
        match listed {
            Ok(observations) => census.observations.extend(observations),
            // Nobody has to have installed the controller.
            Err(error) if kind.group == crate::api::GROUP && error.code() == Some(404) => {}
            Err(error) => drop(census.gaps.insert(kind.group_kind(), error.to_string())),
        }
    }
    census.links = links(client, &catalogue, &census.observations, patience).await;
    Ok(census)
}

/// `Addon` itself, whose objects may be components of others.
pub fn addon_kind() -> Kind {
    Kind {
        group: crate::api::GROUP.to_owned(),
        version: crate::api::VERSION.to_owned(),
        kind: "Addon".to_owned(),
        plural: "addons".to_owned(),
        namespaced: false,
        status: StatusReporting::Yes,
    }
}

async fn list(
    client: &Client,
    kind: Arc<Kind>,
    prefix: &LabelPrefix,
    rules: &SharedRules,
    patience: Duration,
) -> Result<Vec<Observation>, FeedError> {
    let mut feed = Feed::uncounted(client.clone(), Arc::clone(&kind)).patient(patience).as_needed();
    let mut reader = ComponentReader::new(kind, prefix.clone(), Arc::clone(rules));
    let at_once = list_into(&mut feed, &mut reader, ALL).await;
    if let Err(FeedError::BrokeOff(_)) = at_once {
        list_into(&mut feed, &mut reader, PAGE).await?;
    } else {
        at_once?;
    }
    Ok(match reader.complete().map(|report| report.news) {
        Some(News::Listed(observations)) => observations,
        _ => Vec::new(),
    })
}

/// The chains of owners that lead through objects without a label. Where the API server doesn't
/// say, the object at hand counts as a component.
async fn links(
    client: &Client,
    catalogue: &Catalogue,
    observations: &[Observation],
    patience: Duration,
) -> Vec<(Box<str>, Box<str>)> {
    let known: std::collections::HashSet<Box<str>> = observations
        .iter()
        .map(|o| object_key(&o.object.kind, &o.object.namespace, &o.object.name, &o.object.uid))
        .collect();
    let mut links = BTreeMap::new();
    for observation in observations {
        let Some(owner) = &observation.controller else { continue };
        let mut current = (**owner).clone();
        for _ in 0..MAX_CHAIN {
            if known.contains(&current.uid) || links.contains_key(&current.uid) {
                break;
            }
            let search = controller_of(client, catalogue, &current, &observation.object.namespace);
            let Ok(Ok(Some(next))) = timeout(patience, search).await else { break };
            links.insert(current.uid, next.uid.clone());
            current = next;
        }
    }
    links.into_iter().collect()
}
