//! What the status says.

use super::*;

#[test]
fn the_headline_follows_the_worst_that_colours() {
    use Health::{Degraded, Healthy, Progressing, Suspended, Terminating, Unknown};
    let table: [(&[Health], Health, &str); 8] = [
        (&[Healthy, Healthy], Healthy, "2/2"),
        (&[Healthy, Suspended], Healthy, "1/2"),
        (&[Suspended, Suspended], Suspended, "0/2"),
        (&[Healthy, Terminating], Terminating, "1/2"),
        (&[Terminating, Progressing], Progressing, "0/2"),
        (&[Progressing, Unknown], Unknown, "0/2"),
        (&[Unknown, Degraded], Degraded, "0/2"),
        (&[Suspended, Degraded, Healthy], Degraded, "1/3"),
    ];
    for (parts, health, ready) in table {
        let objects =
            parts.iter().enumerate().map(|(n, part)| object(&n.to_string(), &["a"], *part)).collect();
        let status = one(census(objects));
        assert_eq!((status.health.as_str(), status.ready.as_str()), (health.as_str(), ready), "{parts:?}");
    }
}

#[test]
fn informational_components_are_shown_and_do_not_colour() {
    let mut noise = object("noise", &["a"], Health::Degraded);
    noise.informational = true;
    let status = one(census(vec![noise, object("web", &["a"], Health::Healthy)]));
    assert_eq!(status.health, "Healthy");
    assert_eq!((status.counts.degraded, status.counts.informational), (1, 1));
    assert_eq!(status.components[0].name, "noise");
    assert_eq!(status.message, "all 1 healthy, 1 informational");
}

#[test]
fn the_message_names_the_worst_and_groups_the_same() {
    let mut objects: Vec<Observation> =
        (0..5).map(|n| object(&format!("w{n}"), &["a"], Health::Degraded)).collect();
    for (n, object) in objects.iter_mut().enumerate() {
        let message = if n == 0 { "deadline exceeded" } else { "can't pull registry.example/x:2" };
        object.timeline = verdict(Health::Degraded, "Stuck", message).into();
    }
    objects.push(object("ok", &["a"], Health::Healthy));
    let status = one(census(objects));
    assert_eq!(
        status.message,
        "5 of 6 not healthy: Deployment ns/w0: deadline exceeded; \
         Deployment ns/w1, Deployment ns/w2, Deployment ns/w3, 1 more: can't pull registry.example/x:2"
    );
    assert_eq!(status.reason, "Stuck");
}

#[test]
fn installs_are_told_apart_by_the_value() {
    let mut objects = Vec::new();
    for (name, install, health) in [
        ("i", "internal", Health::Healthy),
        ("e", "external", Health::Degraded),
        ("class", "", Health::Healthy),
    ] {
        let mut object = object(name, &["ingress"], health);
        object.memberships[0].install = install.into();
        objects.push(object);
    }
    let status = one(census(objects));
    let seen: Vec<_> =
        status.installs.iter().map(|i| (i.name.as_str(), i.health.as_str(), i.ready.as_str())).collect();
    assert_eq!(
        seen,
        [("", "Healthy", "1/1"), ("external", "Degraded", "0/1"), ("internal", "Healthy", "1/1")]
    );
}

#[test]
fn a_kind_that_cannot_be_observed_is_never_green() {
    let mut found = census(vec![object("web", &["a"], Health::Healthy)]);
    let kind = found.observations[0].group_kind();
    found.gaps.insert(kind, "forbidden".into());
    let status = one(found);
    assert_eq!((status.health.as_str(), status.reason.as_str()), ("Unknown", "NotObserved"));
    assert_eq!(
        status.message,
        "1 of 1 not healthy: Deployment ns/web: deployments.apps can't be watched: forbidden"
    );
    let observed = status.conditions.iter().find(|c| c.kind == "Observed").expect("the condition");
    assert_eq!(
        (observed.status.as_str(), observed.message.as_str()),
        ("False", "can't be watched: deployments.apps")
    );
}

#[test]
fn versions_that_differ_are_listed() {
    let mut objects: Vec<Observation> = ["1.9.4", "1.9.3", "1.9.4"]
        .iter()
        .enumerate()
        .map(|(n, version)| {
            let mut object = object(&n.to_string(), &["a"], Health::Healthy);
            object.version = Some((*version).to_owned());
            object
        })
        .collect();
    assert_eq!(one(census(objects.clone())).version.as_deref(), Some("1.9.3, 1.9.4"));
    objects.remove(1);
    assert_eq!(one(census(objects)).version.as_deref(), Some("1.9.4"));
}

#[test]
fn facts_are_merged_by_name() {
    let with = |name: &str, facts: &[(&str, &str)]| {
        let mut object = object(name, &["a"], Health::Healthy);
        object.facts = facts.iter().map(|(n, v)| Fact { name: (*n).into(), value: (*v).into() }).collect();
        object
    };
    let facts = |objects: Vec<Observation>| {
        let facts = one(census(objects)).facts;
        facts.into_iter().map(|fact| format!("{}={}", fact.name, fact.value)).collect::<Vec<_>>()
    };
    let objects = vec![
        with("x", &[("url", "https://x"), ("leader", "b")]),
        with("y", &[("leader", "a"), ("size", "3")]),
        with("z", &[("leader", "b"), ("size", "3")]),
    ];
    let expected = ["leader=a, b", "size=3", "url=https://x"];
    assert_eq!(facts(objects.clone()), expected);
    assert_eq!(facts(objects.into_iter().rev().collect()), expected);

    let long: Vec<Observation> =
        (0..9).map(|n| with(&n.to_string(), &[("x", &n.to_string().repeat(200))])).collect();
    let said = facts(long).remove(0);
    assert!(said.len() == "x=".len() + 1024 && said.ends_with("..."), "{said}");

    let names: Vec<String> = (0..200).map(|n| format!("n{n:03}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let said = facts(vec![with("many", &many)]);
    assert_eq!((said.len(), said[126].as_str(), said[127].as_str()), (128, "n126=1", "...=and 73 more"));
}

#[test]
fn a_verdict_changes_when_its_patience_ends() {
    let mut slow = object("slow", &["a"], Health::Progressing);
    slow.timeline.later = Some(Box::new(Later {
        at: at(600),
        verdict: verdict(Health::Degraded, "TookTooLong", "10 minutes"),
    }));
    let mut index = Index::default();
    index.upsert(slow, at(0));
    let health = |changes: Vec<Change>| match changes.as_slice() {
        [Change::Show(summary)] => summary.status.health.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(health(index.flush(at(0))), "Progressing");
    assert_eq!(index.next_due(), Some(at(600)));
    assert_eq!(index.flush(at(599)), []);
    assert_eq!(health(index.flush(at(600))), "Degraded");
    assert_eq!(index.next_due(), None);
}

#[test]
fn patience_without_a_time_is_counted_from_the_first_sight() {
    let stuck = |message: &str| {
        let mut stuck = object("stuck", &["a"], Health::Progressing);
        stuck.timeline = Timeline {
            patience: Some(SignedDuration::from_mins(10)),
            ..Timeline::from(verdict(Health::Progressing, "Unavailable", message))
        };
        stuck
    };
    let mut index = Index::default();
    let shown = |index: &mut Index, second: i64| match index.flush(at(second)).as_slice() {
        [Change::Show(summary)] => {
            let component = &summary.whole().components[0];
            (component.health.clone(), component.since.as_ref().map(|since| since.0.as_second()))
        }
        other => (format!("{other:?}"), None),
    };
    index.upsert(stuck("2 of 3"), at(1000));
    assert_eq!(shown(&mut index, 1000), ("Progressing".into(), Some(1000)));
    index.upsert(stuck("1 of 3"), at(1300));
    index.replace(&stuck("").group_kind(), vec![stuck("1 of 3")], &[], at(1400));
    assert_eq!(shown(&mut index, 1400), ("Progressing".into(), Some(1000)));
    assert_eq!(index.next_due(), Some(at(1600)));
    assert_eq!(index.flush(at(1599)), []);
    assert_eq!(shown(&mut index, 1600), ("Degraded".into(), Some(1000)));
    index.upsert(stuck("2 of 3"), at(1700));
    assert_eq!(shown(&mut index, 1700), ("Degraded".into(), Some(1000)));
    index.upsert(object("stuck", &["a"], Health::Healthy), at(1800));
    index.upsert(stuck("2 of 3"), at(1900));
    assert_eq!(shown(&mut index, 1900), ("Progressing".into(), Some(1900)));
    index.remove(&stuck("").group_kind(), "stuck");
    index.flush(at(1950));
    index.upsert(stuck("2 of 3"), at(2000));
    assert_eq!(shown(&mut index, 2000), ("Progressing".into(), Some(2000)));
}
