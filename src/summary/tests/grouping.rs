//! Which objects are components, and of what.

use super::*;

#[test]
fn an_object_may_belong_to_many_addons() {
    let identifiers: Vec<String> = (0..20).map(|n| format!("addon-{n:02}")).collect();
    let names: Vec<&str> = identifiers.iter().map(String::as_str).collect();
    let all = summarize(census(vec![object("shared", &names, Health::Healthy)]), at(0));
    assert_eq!(all.len(), 20);
    assert!(all.iter().all(|summary| summary.status.ready == "1/1"));
}

#[test]
fn identifiers_differ_by_case() {
    let all = summarize(
        census(vec![object("x", &["dns"], Health::Healthy), object("y", &["DNS"], Health::Degraded)]),
        at(0),
    );
    let seen: Vec<_> = all.iter().map(|s| (s.identifier.as_str(), s.status.health.as_str())).collect();
    assert_eq!(seen, [("DNS", "Degraded"), ("dns", "Healthy")]);
}

#[test]
fn derived_objects_roll_up_to_the_topmost_labelled_owner() {
    let status = one(census(vec![
        object("web", &["a"], Health::Progressing),
        object("web-1", &["a"], Health::Progressing).of_kind("apps", "ReplicaSet").controlled_by("web"),
        object("web-1-x", &["a"], Health::Degraded).of_kind("", "Pod").controlled_by("web-1"),
    ]));
    assert_eq!(status.ready, "0/1");
    assert_eq!(status.health, "Degraded");
    let cause = status.components[0].cause.as_ref().expect("a cause");
    assert_eq!((cause.kind.as_str(), cause.name.as_str()), ("Pod", "web-1-x"));
}

#[test]
fn a_chain_of_owners_may_lead_through_an_object_without_the_label() {
    let mut found = census(vec![
        object("nightly", &["a"], Health::Healthy).of_kind("batch", "CronJob"),
        object("pod", &["a"], Health::Healthy).of_kind("", "Pod").controlled_by("job"),
    ]);
    assert_eq!(one(found.clone()).counts.total, 2);
    found.links.push(("job".into(), "nightly".into()));
    assert_eq!(one(found).counts.total, 1);
}

#[test]
fn a_labelled_object_of_an_unlabelled_owner_is_a_component() {
    let status =
        one(census(vec![object("pod", &["a"], Health::Healthy).of_kind("", "Pod").controlled_by("set")]));
    assert_eq!(status.counts.total, 1);
}

#[test]
fn an_owner_of_which_nobody_could_tell_is_asked_for_again() {
    let total = |index: &mut Index| match index.flush(at(1)).pop() {
        Some(Change::Show(summary)) => summary.status.counts.total,
        other => panic!("{other:?}"),
    };
    let mut index = Index::default();
    index.upsert(object("web", &["a"], Health::Healthy), at(0));
    index.upsert(object("pod", &["a"], Health::Healthy).of_kind("", "Pod").controlled_by("set"), at(0));
    let asked = index.take_unknown_owners();
    assert_eq!(asked, [(owner("set"), "ns".to_owned())]);
    index.put_off(&asked[0].0, "ns");
    assert_eq!(total(&mut index), 2);

    index.ask_again_where(|owner| owner.group == "other");
    assert!(index.take_unknown_owners().is_empty());
    index.ask_again_where(|owner| owner.group == "apps");
    assert_eq!(index.take_unknown_owners(), asked);
    index.link("set", Some(&owner("web")), "ns");
    assert_eq!(total(&mut index), 1);

    // What nothing names any more isn't asked for.
    index.upsert(object("pod", &["a"], Health::Healthy).of_kind("", "Pod").controlled_by("gone"), at(1));
    index.put_off(&owner("gone"), "ns");
    index.remove(&GroupKind { group: String::new(), kind: "Pod".into() }, "pod");
    index.ask_again_where(|_| true);
    assert!(index.take_unknown_owners().is_empty());
}

#[test]
fn an_owner_that_tells_by_itself_is_not_asked_for_again() {
    let mut index = Index::default();
    index.upsert(object("web", &["a"], Health::Healthy), at(0));
    index.upsert(object("pod", &["a"], Health::Healthy).of_kind("", "Pod").controlled_by("set"), at(0));
    index.put_off(&owner("set"), "ns");
    // It gets a label, and what is said of it then is too late.
    index.upsert(
        object("set", &["a"], Health::Healthy).of_kind("apps", "ReplicaSet").controlled_by("web"),
        at(1),
    );
    index.put_off(&owner("set"), "ns");
    index.ask_again_where(|_| true);
    assert!(index.take_unknown_owners().is_empty());
    // Without the label it is asked for.
    index.remove(&GroupKind { group: "apps".into(), kind: "ReplicaSet".into() }, "set");
    assert_eq!(index.take_unknown_owners().len(), 1);
    index.link("set", Some(&owner("web")), "ns");
    index.ask_again_where(|_| true);
    assert!(index.take_unknown_owners().is_empty(), "the link holds");
}

#[test]
fn owners_in_a_circle_are_components() {
    let status = one(census(vec![
        object("x", &["a"], Health::Healthy).controlled_by("y"),
        object("y", &["a"], Health::Healthy).controlled_by("x"),
    ]));
    assert_eq!(status.counts.total, 2);
}

#[test]
fn what_ended_says_nothing_about_its_owner() {
    let mut pod = object("pod", &["a"], Health::Degraded).of_kind("", "Pod").controlled_by("web");
    pod.superseded = true;
    let status = one(census(vec![object("web", &["a"], Health::Progressing), pod]));
    assert_eq!(status.health, "Progressing");
}

#[test]
fn one_object_of_two_groups_counts_once() {
    let old = object("x", &["a"], Health::Healthy).of_kind("extensions", "Ingress");
    let new = object("x", &["a"], Health::Healthy).of_kind("networking.k8s.io", "Ingress");
    for order in [vec![old.clone(), new.clone()], vec![new, old]] {
        let status = one(census(order));
        assert_eq!(status.counts.total, 1);
        assert_eq!(status.components[0].group, "networking.k8s.io");
    }
}

#[test]
fn an_addon_of_addons_is_as_ill_as_they_are() {
    let all = summarize(
        census(vec![
            object("platform", &["estate"], Health::Healthy).summing_up("platform"),
            object("dns", &["platform"], Health::Healthy).summing_up("dns"),
            object("coredns", &["dns"], Health::Degraded),
        ]),
        at(0),
    );
    let seen: Vec<_> = all.iter().map(|s| (s.identifier.as_str(), s.status.health.as_str())).collect();
    assert_eq!(seen, [("dns", "Degraded"), ("estate", "Degraded"), ("platform", "Degraded")]);
    assert_eq!(all[1].status.reason, "Broken");
}

#[test]
fn addons_that_contain_each_other_are_reported_and_not_followed() {
    let all = summarize(
        census(vec![
            object("a", &["c"], Health::Healthy).summing_up("a"),
            object("b", &["a"], Health::Healthy).summing_up("b"),
            object("c", &["b"], Health::Healthy).summing_up("c"),
            object("self", &["loop"], Health::Healthy).summing_up("loop"),
            object("above", &["top"], Health::Healthy).summing_up("a"),
        ]),
        at(0),
    );
    let said: BTreeMap<_, _> =
        all.iter().map(|s| (s.identifier.as_str(), s.components[0].message())).collect();
    assert_eq!(said["a"], "add-ons contain each other: a > b > c > a");
    assert_eq!(said["loop"], "add-ons contain each other: loop > loop");
    assert!(all.iter().all(|s| s.status.reason == "Circular"), "{all:?}");
}
