use std::sync::Arc;

use kube::Client;

use super::{Feed, FeedError};
use crate::{
    discover::Catalogue,
    model::{Owner, decode::Raw},
};

/// What controls an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controller {
    /// This does.
    Is(Owner),
    /// Nothing does, or the object is gone.
    Nobody,
    /// Nobody can tell: the object is of a kind that isn't served, as far as is known, or may not be read.
    Unknown,
}

/// What controls `owner`, an object in `namespace` that carries no label itself.
///
/// # Errors
/// Where the API server doesn't say.
pub async fn controller_of(
    client: &Client,
    catalogue: &Catalogue,
    owner: &Owner,
    namespace: &str,
) -> Result<Controller, FeedError> {
    let found = catalogue.kinds.values().find(|kind| kind.group == owner.group && kind.kind == owner.kind);
    let Some(kind) = found else { return Ok(Controller::Unknown) };
    let feed = Feed::uncounted(client.clone(), Arc::clone(kind)).of_metadata();
    let items = feed.within(namespace).named(&owner.name).await?;
    let Some(item) = items.named(&owner.name).await? else { return Ok(Controller::Nobody) };
    let object = item.seen()?.decode::<Raw>().ok().and_then(|raw| raw.into_object(Arc::clone(kind)));
    let same = object.filter(|object| object.reference.uid == owner.uid);
    Ok(same.and_then(|object| object.controller).map_or(Controller::Nobody, Controller::Is))
}
