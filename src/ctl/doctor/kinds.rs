//! The kinds that the controller should watch, and those that it doesn't.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kube::client::APIGroupDiscovery;

use super::{
    NAMED,
    controller::{Watch, Watches},
    finding::{Finding, Verdict},
    rights::Rights,
    shell::safe,
};
use crate::{
    discover::{Catalogue, ResourceName, Selection},
    model::{Kind, Timestamp},
};

/// How long a kind may take to be listed, in seconds.
const MAX_SYNCING: i64 = 60;

/// How long a watch may be silent, in seconds: the controller opens another after 85.
const MAX_SILENCE: u64 = 180;

/// The label of the roles that the controller's is made of.
const AGGREGATION: &str = "rbac.addons.x-k8s.io/aggregate-to-reader=true";

/// The kinds that are served and to be watched.
pub(super) struct Kinds(pub Vec<Arc<Kind>>);

impl Kinds {
    /// Those that the controller tells of; without it those that it would watch by default.
    pub fn of(groups: &[APIGroupDiscovery], known: Option<&Watches>) -> Self {
        let Catalogue { kinds, excluded, .. } =
            Catalogue::resolve(groups.iter().cloned(), &Selection::default(), &Catalogue::default());
        let Some(watches) = known.filter(|watches| !watches.watches.is_empty()) else {
            return Self(kinds.into_values().collect());
        };
        let told: BTreeMap<(&str, &str), &Watch> =
            watches.watches.iter().map(|watch| ((&*watch.group, &*watch.resource), watch)).collect();
        let is_wanted = |name: &ResourceName, otherwise: bool| {
            told.get(&(&*name.group, &*name.plural)).map_or(otherwise, |watch| watch.state != "excluded")
        };
        let taken = kinds.into_iter().filter(|(name, _)| is_wanted(name, true));
        let included = excluded.into_iter().filter(|(name, _)| is_wanted(name, false));
        Self(taken.chain(included).map(|(_, kind)| kind).collect())
    }
}

/// Whether each kind is watched, by what the controller says; `rights` are those of its account.
pub(super) fn watched(watches: &Watches, rights: &Rights) -> Finding {
    let now = Timestamp::now();
    let ills: Vec<(Verdict, &Watch, String)> = watches
        .watches
        .iter()
        .filter_map(|watch| ill(watch, now).map(|(verdict, why)| (verdict, watch, why)))
        .collect();
    let count = |state: &str| watches.kinds.get(state).copied().unwrap_or_default();
    let Some(verdict) = ills.iter().map(|(verdict, ..)| *verdict).max() else {
        return Finding::ok("kinds", format!("{} are watched", count("synced"))).details(remarks(watches));
    };
    let watched = watches.watches.iter().filter(|watch| watch.state != "excluded").count();
    let what = match ills.len() {
        1 => format!("1 of {watched} isn't watched as it should be"),
        ills => format!("{ills} of {watched} aren't watched as they should be"),
    };
    let mut ills = ills;
    ills.sort_by(|(a, x, _), (b, y, _)| b.cmp(a).then_with(|| x.name().cmp(&y.name())));
    let lines = ills.iter().map(|(_, watch, why)| {
        let held = match watch.components {
            0 => String::new(),
            1 => ", 1 component".to_owned(),
            count => format!(", {count} components"),
        };
        format!("{} ({}{held}): {why}", watch.name(), watch.state)
    });
    let named: Vec<&Watch> = ills.iter().take(NAMED).map(|(_, watch, _)| *watch).collect();
    let forbidden = named.iter().filter(|watch| watch.state == "forbidden");
    let unnamed = forbidden.map(|watch| (watch.group.clone(), watch.resource.clone()));
    let roles = roles(&unnamed.filter(|name| !rights.are_missing(name)).collect());
    let looks = named.iter().filter_map(|watch| look(watch));
    Finding::new("kinds", verdict, what)
        .details(lines)
        .details(remarks(watches))
        .commands(roles)
        .commands(looks)
}

/// What is to be known though nothing is wrong: which kinds are left out, by default or as the controller was
/// told, which can't be watched, and what was corrected.
fn remarks(watches: &Watches) -> Vec<String> {
    let names = |wanted: &dyn Fn(&Watch) -> bool| -> Vec<String> {
        watches.watches.iter().filter(|watch| wanted(watch)).map(Watch::name).collect()
    };
    let is_left_out = |watch: &Watch| watch.state == "excluded";
    let mut remarks = Vec::new();
    if watches.watches.iter().any(|watch| watch.state == "forbidden") {
        remarks.push("a kind that is refused is asked for again within 10 minutes".to_owned());
    }
    for (names, what) in [
        (
            names(&|watch| is_left_out(watch) && watch.message.is_empty()),
            "left out on purpose ('--include' of the controller takes one in)",
        ),
        (
            names(&|watch| is_left_out(watch) && !watch.message.is_empty()),
            "never seen, as they can't be watched",
        ),
        (
            names(&|watch| watch.drift > 0),
            "an audit found objects otherwise than the watch had told, and corrected them",
        ),
    ] {
        if !names.is_empty() {
            remarks.push(format!("{what}: {}", names.join(", ")));
        }
    }
    remarks
}

/// How bad it is, and why.
fn ill(watch: &Watch, now: Timestamp) -> Option<(Verdict, String)> {
    let why =
        || if watch.message.is_empty() { "it isn't said why".to_owned() } else { watch.message.clone() };
    match watch.state.as_str() {
        "excluded" => None,
        "synced" if watch.heard_age.is_some_and(|age| age > MAX_SILENCE) => {
            let age = watch.heard_age.unwrap_or_default();
            Some((Verdict::Warn, format!("nothing was heard for {age} s")))
        }
        "synced" => None,
        "syncing" => {
            let seconds = watch.since.map_or(0, |since| now.duration_since(since).as_secs());
            (seconds > MAX_SYNCING).then(|| (Verdict::Warn, format!("being listed for {seconds} s")))
        }
        // Nothing is known to be there.
        "forbidden" if watch.components == 0 => Some((Verdict::Warn, why())),
        _ => Some((Verdict::Fail, why())),
    }
}

/// The command that shows the fault itself, or where it is mended.
fn look(watch: &Watch) -> Option<String> {
    let (group, version, resource) = (&watch.group, safe(&watch.version)?, safe(&watch.resource)?);
    match watch.state.as_str() {
        "failing" if watch.message.contains("conversion webhook") => {
            let name = format!("{resource}.{}", safe(group)?);
            Some(format!("kubectl get crd {name} -o jsonpath='{{.spec.conversion}}'"))
        }
        "failing" if group.is_empty() => Some(format!("kubectl get {resource} -A")),
        "failing" => Some(format!("kubectl get {resource}.{version}.{} -A", safe(group)?)),
        "unserved" => Some(format!("kubectl get apiservice {version}.{}", safe(group)?)),
        _ => None,
    }
}

/// The commands that let the controller see kinds, of which groups and resources are given.
pub(super) fn roles(missing: &BTreeSet<(String, String)>) -> Vec<String> {
    let mut by_group: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (group, resource) in missing {
        let Some(resource) = safe(resource) else { continue };
        match safe(group) {
            Some(group) => drop(by_group.entry(group).or_default().insert(resource)),
            None if group.is_empty() => drop(by_group.entry("").or_default().insert(resource)),
            None => {}
        }
    }
    let commands = by_group.into_iter().flat_map(|(group, resources)| {
        let (name, resource) = if group.is_empty() {
            // The whole core group would be its Secrets too.
            let all: Vec<&str> = resources.into_iter().collect();
            (format!("core-{}", all.join("-")), all.join(","))
        } else {
            (group.to_owned(), format!("'*.{group}'"))
        };
        let role = format!("addon-controller-reader-{name}");
        [
            format!("kubectl create clusterrole {role} --verb=list,watch --resource={resource}"),
            format!("kubectl label clusterrole {role} {AGGREGATION}"),
        ]
    });
    commands.collect()
}
