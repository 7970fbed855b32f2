//! Whether `kubectl get addons` means our add-ons.

use std::collections::BTreeSet;

use kube::client::{APIGroupDiscovery, APIResourceDiscovery};

use super::{cluster::group_name, finding::Finding};
use crate::{api::GROUP, model::text};

/// What people type for our add-ons, the likeliest first.
const WORDS: [&str; 3] = ["addons", "addon", "addn"];

pub(super) fn check(groups: &[APIGroupDiscovery]) -> Finding {
    let served = || {
        groups.iter().flat_map(|group| {
            group.versions.iter().flat_map(move |version| {
                version.resources.iter().map(move |resource| (group_name(group), resource))
            })
        })
    };
    let claimed = |word: &str| -> Vec<&str> {
        let exact = served().filter(|(_, resource)| is_name(resource, word));
        // A short name counts where nothing is called so.
        let short = served().filter(|(_, resource)| resource.short_names.iter().any(|short| short == word));
        exact.chain(short).map(|(group, _)| group).collect()
    };
    let others: BTreeSet<String> = served()
        .filter(|(group, resource)| *group != GROUP && WORDS.iter().any(|word| claims(resource, word)))
        .map(|(group, resource)| {
            let plural = resource.resource.as_deref().unwrap_or_default();
            text::name(&format!("{plural}.{group}"))
        })
        .collect();
    if groups.is_empty() {
        return Finding::warn("names", "it can't be told what else is called addons");
    }
    if others.is_empty() {
        return Finding::ok("names", format!("nothing but {GROUP} is called addons"));
    }
    let names = others.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let taken: Vec<&str> =
        WORDS.into_iter().filter(|word| claimed(word).first().is_some_and(|group| *group != GROUP)).collect();
    let what = match taken.first() {
        None => format!("{names} may be meant by the same name, and isn't yet"),
        Some(word) => format!("'kubectl get {word}' shows {names}, not the add-ons. Say the whole name"),
    };
    let mut finding = Finding::warn("names", what).command(format!("kubectl get addons.{GROUP}"));
    if let Some(free) = WORDS.into_iter().rev().find(|word| is_ours(&claimed(word))) {
        finding = finding.command(format!("kubectl get {free}"));
    }
    finding
}

/// Whether nobody else may be meant.
fn is_ours(claims: &[&str]) -> bool {
    !claims.is_empty() && claims.iter().all(|group| *group == GROUP)
}

fn is_name(resource: &APIResourceDiscovery, word: &str) -> bool {
    resource.resource.as_deref() == Some(word) || resource.singular_resource.as_deref() == Some(word)
}

fn claims(resource: &APIResourceDiscovery, word: &str) -> bool {
    is_name(resource, word) || resource.short_names.iter().any(|short| short == word)
}
