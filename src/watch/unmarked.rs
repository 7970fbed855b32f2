use std::{sync::Arc, time::Duration};

use kube::Client;

use super::{Feed, FeedError, feed::PAGE, labels::LabelFinder, pages::Pages};
use crate::{
    api::{Identifier, LabelPrefix, MarkerLabel},
    model::{Kind, ObjectRef},
};

/// The most objects of a kind that are kept.
const KEPT: usize = 1000;

/// The objects of a kind that belong to add-ons and don't carry the marker.
#[derive(Clone, Debug, Default)]
pub struct Unmarked {
    /// Those that come first, and the add-ons of each. At most 1000.
    pub objects: Vec<(ObjectRef, Vec<Identifier>)>,
    /// How many there are.
    pub total: usize,
}

/// Lists the objects of a kind that carry a label of `prefix` and not the marker. No request waits
/// longer than `patience` for its answer.
///
/// # Errors
/// Where the API server refuses or doesn't answer.
pub async fn unmarked(
    client: &Client,
    kind: &Kind,
    prefix: &LabelPrefix,
    marker: &MarkerLabel,
    patience: Duration,
) -> Result<Unmarked, FeedError> {
    let kind = Arc::new(kind.clone());
    let feed = Feed::uncounted(client.clone(), Arc::clone(&kind)).of_metadata();
    let feed = feed.patient(patience).of_labels(&format!("!{marker}"));
    let labels = LabelFinder::new(kind, prefix.clone());
    let mut found = Unmarked::default();
    let mut pages = Pages::default();
    loop {
        let mut items = feed.list(PAGE, pages.token()).await?;
        while let Some(item) = items.next().await? {
            let Ok(Some(object)) = labels.read(&item.seen()?) else { continue };
            let identifiers = labels.identifiers(&object);
            if identifiers.is_empty() {
                continue;
            }
            found.total += 1;
            if found.objects.len() < KEPT {
                found.objects.push((object.reference, identifiers));
            }
        }
        if !pages.turn(&items.end()?)? {
            return Ok(found);
        }
    }
}
