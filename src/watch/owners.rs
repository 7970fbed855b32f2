use std::sync::Arc;

use kube::Client;

use super::{Feed, FeedError, items::Item};
use crate::{
    discover::Catalogue,
    model::{Object, Owner, decode::Raw},
};

/// The owner that controls `owner`, an object in `namespace` that carries no label itself; `None`
/// where nothing controls it, where it is gone, or where its kind isn't known.
///
/// # Errors
/// Where the API server doesn't say.
pub async fn controller_of(
    client: &Client,
    catalogue: &Catalogue,
    owner: &Owner,
    namespace: &str,
) -> Result<Option<Owner>, FeedError> {
    let found = catalogue.kinds.values().find(|kind| kind.group == owner.group && kind.kind == owner.kind);
    let Some(kind) = found else { return Ok(None) };
    let feed = Feed::uncounted(client.clone(), Arc::clone(kind)).of_metadata();
    let items = feed.within(namespace).named(&owner.name).await?.all().await?;
    let read = |item: &Item| item.seen().decode::<Raw>().ok()?.into_object(Arc::clone(kind));
    let objects = items.iter().filter_map(read);
    let mut same = objects.filter(|object: &Object| object.reference.uid == owner.uid);
    Ok(same.next().and_then(|object| object.controller))
}
