//! Objects of add-ons that a controller with a marker doesn't see.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt, stream};

use super::{
    NAMED,
    ask::Asker,
    controller::Watches,
    finding::{Finding, Verdict},
    kinds::Kinds,
    shell::safe,
};
use crate::{
    api::{LabelPrefix, MarkerLabel},
    ctl::args::Doctor,
    model::{Kind, text},
    watch::{Unmarked, unmarked},
};

/// Sets a marker on what carries a label of the default prefix.
const POLICY: &str = "kubectl apply -f deploy/options/marker-label.yaml";

/// The marker that it sets.
const POLICY_MARKER: &str = "watch.addons.x-k8s.io/marked";

/// How many kinds are listed at the same time.
const CONCURRENT: usize = 8;

/// Lists all kinds, where the user asks for it.
pub(super) async fn check(
    asker: &Asker,
    args: &Doctor,
    kinds: &Kinds,
    known: Option<&Watches>,
) -> Option<Finding> {
    let marker = args.marker.as_ref()?;
    let list = |kind: &Arc<Kind>| {
        let kind = Arc::clone(kind);
        async move {
            let found = unmarked(asker.client(), &kind, &args.prefix, marker, asker.patience()).await;
            (kind, found)
        }
    };
    let mut lists = stream::iter(kinds.0.iter()).map(list).buffered(CONCURRENT);
    let mut all = Unmarked::default();
    let mut unread = BTreeMap::new();
    while let Some((kind, found)) = lists.next().await {
        match found {
            Ok(found) => {
                all.total += found.total;
                all.objects.extend(found.objects);
            }
            Err(error) => drop(unread.insert(kind.resource_name(), error.to_string())),
        }
    }
    let needs_it = known.is_none_or(|known| known.marker_label.is_some());
    Some(verdict(&all, &unread, marker, &args.prefix, needs_it))
}

/// Objects without the marker fail where the controller asks for one.
fn verdict(
    all: &Unmarked,
    unread: &BTreeMap<String, String>,
    marker: &MarkerLabel,
    prefix: &LabelPrefix,
    needs_it: bool,
) -> Finding {
    let check = "marker";
    let gaps = || unread.iter().map(|(kind, why)| format!("{} can't be listed: {why}", text::name(kind)));
    if all.total == 0 && unread.is_empty() {
        return Finding::ok(check, format!("whatever is part of an add-on carries {marker}"));
    }
    if all.total == 0 {
        return Finding::warn(check, format!("{} kinds can't be listed", unread.len())).details(gaps());
    }
    let (what, verdict) = match (all.total, needs_it) {
        (1, true) => (format!("1 object isn't seen: it lacks {marker}"), Verdict::Fail),
        (count, true) => (format!("{count} objects aren't seen: they lack {marker}"), Verdict::Fail),
        (count, false) => {
            (format!("{count} lack {marker}, and the controller doesn't ask for it"), Verdict::Warn)
        }
    };
    let mut lines: Vec<String> =
        all.objects.iter().take(NAMED).map(|(object, _)| object.to_string()).collect();
    if all.total > lines.len() {
        lines.push(format!("and {} more", all.total - lines.len()));
    }
    let mut finding = Finding::new(check, verdict, what);
    finding.details = lines;
    let mut by_addon: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (object, identifiers) in &all.objects {
        let Some(resource) = safe(&object.kind.resource_name()).map(str::to_owned) else { continue };
        for identifier in identifiers {
            by_addon.entry(identifier.as_str()).or_default().insert(resource.clone());
        }
    }
    let commands = by_addon.into_iter().map(|(identifier, resources)| {
        let resources: Vec<String> = resources.into_iter().collect();
        format!("kubectl label {} -A -l {prefix}{identifier} {marker}=true", resources.join(","))
    });
    let finding = finding.details(gaps()).commands(commands);
    if marker.as_str() == POLICY_MARKER && *prefix == LabelPrefix::default() {
        finding.command(POLICY)
    } else {
        finding.detail(format!(
            "deploy/options/marker-label.yaml sets {POLICY_MARKER}: change it there for {marker}"
        ))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use crate::{api::Identifier, model::ObjectRef};

    fn object(plural: &str, name: &str, identifier: &str) -> (ObjectRef, Vec<Identifier>) {
        let kind = Kind { plural: plural.into(), ..Kind::named("apps/v1", "Deployment") };
        let object =
            ObjectRef { kind: Arc::new(kind), namespace: "web".into(), name: name.into(), uid: "".into() };
        (object, vec![Identifier::new(identifier).expect("an identifier")])
    }

    fn found(all: &Unmarked, unread: &[(&str, &str)], needs_it: bool) -> Finding {
        found_of("m/marked", all, unread, needs_it)
    }

    fn found_of(marker: &str, all: &Unmarked, unread: &[(&str, &str)], needs_it: bool) -> Finding {
        let unread = unread.iter().map(|(kind, why)| ((*kind).to_owned(), (*why).to_owned())).collect();
        let marker = marker.parse().expect("a marker");
        verdict(all, &unread, &marker, &LabelPrefix::default(), needs_it)
    }

    #[test]
    fn what_lacks_the_marker_is_named_and_marked_an_add_on_at_a_time() {
        assert_eq!(found(&Unmarked::default(), &[], true).verdict, Verdict::Ok);
        assert_eq!(found(&Unmarked::default(), &[("gears", "no")], true).verdict, Verdict::Warn);
        let mut objects: Vec<_> = (0..11).map(|n| object("deployments", &format!("d{n}"), "web")).collect();
        objects.push(object("statefulsets", "s", "web"));
        objects.push(object("a;b", "s", "other"));
        let all = Unmarked { objects, total: 2000 };
        let finding = found(&all, &[], true);
        assert!(finding.is_failure());
        assert_eq!(finding.details[0], "Deployment web/d0");
        assert_eq!(finding.details[10], "and 1990 more");
        assert!(finding.details[11].ends_with("change it there for m/marked"), "{finding:?}");
        assert_eq!(
            finding.commands,
            ["kubectl label deployments.apps,statefulsets.apps -A -l addons.x-k8s.io/web m/marked=true"]
        );
        let of_policy = found_of(POLICY_MARKER, &all, &[], true);
        assert_eq!(of_policy.commands.last().map(String::as_str), Some(POLICY));
        assert_eq!(found(&all, &[], false).verdict, Verdict::Warn);
    }
}
