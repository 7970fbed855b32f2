use std::sync::Arc;

use kube::Client;

use super::{Feed, FeedError};
use crate::{
    discover::Catalogue,
    model::{Owner, decode::Raw},
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
    let items = feed.within(namespace).named(&owner.name).await?;
    let Some(item) = items.named(&owner.name).await? else { return Ok(None) };
    let object = item.seen()?.decode::<Raw>().ok().and_then(|raw| raw.into_object(Arc::clone(kind)));
    let same = object.filter(|object| object.reference.uid == owner.uid);
    Ok(same.and_then(|object| object.controller))
}
