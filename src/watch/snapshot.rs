use std::{collections::HashSet, sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use kube::Client;
use tokio::time::timeout;

use super::{
    Feed, FeedError, News, Reader,
    components::ComponentReader,
    feed::{ALL, PAGE},
    listing::list as list_into,
    owners::{Controller, controller_of},
};
use crate::{
    api::LabelPrefix,
    discover::{Catalogue, DiscoverError, Selection, discover_within},
    health::SharedRules,
    model::{Kind, Owner, StatusReporting},
    summary::{Census, Observation, object_key},
};

/// How many kinds are listed, and owners looked up, at the same time.
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
    match list_into(&mut feed, &mut reader, ALL).await {
        Err(FeedError::BrokeOff(_)) => list_into(&mut feed, &mut reader, PAGE).await?,
        unpaged => unpaged?,
    };
    Ok(match reader.complete().map(|report| report.news) {
        Some(News::Listed(observations, _)) => observations,
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
    // Many objects have one owner, which is asked for once, whatever the answer is.
    let mut known: HashSet<Box<str>> = observations
        .iter()
        .map(|o| object_key(&o.object.kind, &o.object.namespace, &o.object.name, &o.object.uid))
        .collect();
    let owned =
        |o: &Observation| Some((Owner::clone(o.controller.as_ref()?), Arc::clone(&o.object.namespace)));
    let mut open: Vec<(Owner, Arc<str>)> = observations.iter().filter_map(owned).collect();
    let mut links = Vec::new();
    for _ in 0..MAX_CHAIN {
        open.retain(|(owner, _)| known.insert(owner.uid.clone()));
        let searches = open.into_iter().map(|(owner, namespace)| async move {
            let search = timeout(patience, controller_of(client, catalogue, &owner, &namespace)).await;
            match search {
                Ok(Ok(Controller::Is(controller))) => Some((owner.uid, controller, namespace)),
                _ => None,
            }
        });
        let found: Vec<_> = stream::iter(searches).buffer_unordered(CONCURRENT).collect().await;
        open = Vec::new();
        for (uid, controller, namespace) in found.into_iter().flatten() {
            links.push((uid, controller.uid.clone()));
            open.push((controller, namespace));
        }
    }
    links
}
