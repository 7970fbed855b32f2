//! Where not all components of an add-on must be well.

use super::*;

/// Databases in zones, each with the label's value of its zone, and one thing that all share.
fn zones(healths: &[Health]) -> Vec<Observation> {
    let zones = healths.iter().enumerate().map(|(n, health)| {
        let mut zone = object(&format!("db-{n}"), &["a"], *health);
        zone.memberships[0].install = format!("zone-{n}");
        zone
    });
    zones.chain([object("shared", &["a"], Health::Healthy).of_kind("", "Service")]).collect()
}

fn quorum(at_least: u32) -> Quorum {
    let select = Select { kind: Some("Deployment".into()), names: vec!["db-*".into()], ..Select::default() };
    Quorum { select, by: CountBy::Component, name: Some("zones".into()), at_least }
}

fn combined(objects: Vec<Observation>, quorums: Vec<Quorum>) -> AddonStatus {
    let rule = Combine { identifiers: vec!["a".into()], quorums, informational: Vec::new() };
    one(Census { combinations: Combination::of([&rule]), ..census(objects) })
}

fn condition<'a>(status: &'a AddonStatus, kind: &str) -> (&'a str, &'a str) {
    let condition = status.conditions.iter().find(|condition| condition.kind == kind).expect(kind);
    (&condition.status, &condition.reason)
}

#[test]
fn some_of_many_are_enough() {
    use Health::{Degraded, Healthy, Progressing, Suspended};
    let table: [(&[Health], Health, &str, &str); 8] = [
        (&[Healthy, Healthy, Healthy], Healthy, "AllHealthy", "all 4 healthy"),
        (
            &[Healthy, Healthy, Degraded],
            Healthy,
            "EnoughHealthy",
            "2 of 3 zones healthy, 2 needed; spare: Deployment ns/db-2: Broken",
        ),
        (
            &[Healthy, Progressing, Degraded],
            Degraded,
            "Broken",
            "1 of 3 zones healthy, 2 needed; 2 of 4 not healthy: Deployment ns/db-2: Broken; \
             Deployment ns/db-1: Broken",
        ),
        (
            &[Healthy, Progressing],
            Progressing,
            "Broken",
            "1 of 2 zones healthy, 2 needed; 1 of 3 not healthy: Deployment ns/db-1: Broken",
        ),
        (
            &[Healthy, Healthy, Suspended],
            Healthy,
            "AllHealthy",
            "2 of 3 zones healthy, 2 needed; 3 healthy, 1 suspended",
        ),
        (&[Healthy, Suspended], Degraded, "NotEnoughHealthy", "1 of 2 zones healthy, 2 needed"),
        (&[Healthy], Degraded, "NotEnoughHealthy", "1 of 1 zones healthy, 2 needed"),
        (&[], Degraded, "NotEnoughHealthy", "0 of 0 zones healthy, 2 needed"),
    ];
    for (healths, health, reason, message) in table {
        let status = combined(zones(healths), vec![quorum(2)]);
        assert_eq!(
            (status.health.as_str(), status.reason.as_str(), status.message.as_str()),
            (health.as_str(), reason, message),
            "{healths:?}"
        );
        let degraded = if health == Degraded { ("True", reason) } else { ("False", "NothingFails") };
        assert_eq!(condition(&status, "Degraded"), degraded, "{healths:?}");
    }
}

#[test]
fn what_is_spare_is_shown_and_counted() {
    let status = combined(zones(&[Health::Healthy, Health::Healthy, Health::Degraded]), vec![quorum(2)]);
    assert_eq!((status.ready.as_str(), status.counts.degraded, status.counts.informational), ("3/4", 1, 0));
    let spare: Vec<_> =
        status.components.iter().map(|c| (c.name.as_str(), c.importance.as_deref())).collect();
    assert_eq!(spare, [("db-2", Some("spare")), ("shared", None), ("db-0", None), ("db-1", None)]);
    let install = status.installs.iter().find(|install| install.name == "zone-2").expect("the zone");
    assert_eq!(install.health, "Degraded", "it is ill, however the whole is");
}

#[test]
fn installs_are_counted_whole_and_what_is_shared_colours() {
    use Health::{Degraded, Healthy};
    let by_install =
        |at_least| Quorum { select: Select::default(), by: CountBy::Install, name: None, at_least };
    let mut objects = zones(&[Healthy, Healthy, Degraded]);
    for n in 0..3 {
        let mut proxy = object(&format!("proxy-{n}"), &["a"], Healthy);
        proxy.memberships[0].install = format!("zone-{n}");
        objects.push(proxy);
    }
    let status = combined(objects.clone(), vec![by_install(2)]);
    assert_eq!(
        (status.health.as_str(), status.message.as_str()),
        ("Healthy", "2 of 3 installs healthy, 2 needed; spare: Deployment ns/db-2: Broken")
    );
    assert_eq!(combined(objects.clone(), vec![by_install(3)]).health, "Degraded");
    objects[3].timeline = verdict(Degraded, "Gone", "no address").into();
    let status = combined(objects, vec![by_install(2)]);
    assert_eq!((status.health.as_str(), status.reason.as_str()), ("Degraded", "Gone"));
}

#[test]
fn a_component_is_spare_where_all_that_count_it_have_enough() {
    let two = [quorum(2), quorum(3)];
    let objects = zones(&[Health::Healthy, Health::Healthy, Health::Degraded]);
    assert_eq!(combined(objects.clone(), two.to_vec()).health, "Degraded");
    assert_eq!(combined(objects, vec![quorum(2), quorum(1)]).health, "Healthy");
}

#[test]
fn too_few_of_what_cannot_be_seen_is_unknown() {
    let rule = Combine { identifiers: vec!["a".into()], quorums: vec![quorum(2)], informational: Vec::new() };
    let mut found = Census { combinations: Combination::of([&rule]), ..census(zones(&[])) };
    found.gaps.insert(kind("apps", "Deployment").group_kind(), "forbidden".into());
    let status = one(found);
    assert_eq!((status.health.as_str(), status.reason.as_str()), ("Unknown", "NotEnoughHealthy"));
}

#[test]
fn rules_say_what_never_colours() {
    let select = Select { group: Some("apps".into()), namespaces: vec!["ns".into()], ..Select::default() };
    let rule = Combine {
        identifiers: vec!["b".into(), "a".into(), "no identifier".into()],
        quorums: Vec::new(),
        informational: vec![select],
    };
    let mut index = Index::default();
    index.replace(&kind("apps", "Deployment").group_kind(), zones(&[Health::Degraded]), &[], at(0));
    let health = |index: &mut Index| match index.flush(at(0)).as_slice() {
        [Change::Show(summary)] => (summary.status.health.clone(), summary.status.counts.informational),
        other => (format!("{other:?}"), 0),
    };
    assert_eq!(health(&mut index), ("Degraded".into(), 0));
    index.set_combinations(Combination::of([&rule]));
    assert_eq!(health(&mut index), ("Healthy".into(), 1));
    index.set_combinations(Combination::of([&rule]));
    assert_eq!(index.flush(at(0)), [], "the same again changes nothing");
    index.set_combinations(BTreeMap::new());
    assert_eq!(health(&mut index), ("Degraded".into(), 0));
}
