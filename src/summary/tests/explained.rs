//! What was found further down, in the words of the add-on.

use super::*;

fn explained(health: Health, fails: bool) -> AddonStatus {
    let explanations = [(Arc::from("web"), explanation(1, fails))].into();
    one(Census { explanations, ..census(vec![object("web", &["a"], health)]) })
}

#[test]
fn a_cause_that_fails_makes_what_is_not_there_yet_fail() {
    for health in [Health::Progressing, Health::Unknown, Health::Degraded] {
        let status = explained(health, true);
        assert_eq!((&*status.health, &*status.reason), ("Degraded", "ImagePullBackOff"), "{health}");
        assert_eq!(status.message, "1 of 1 not healthy: Deployment ns/web: Pod ns/p1: no image 1");
        let component = &status.components[0];
        assert_eq!(component.cause.as_ref().unwrap().name, "p1");
        let since = if health == Health::Degraded { None } else { Some(at(0)) };
        assert_eq!(component.since.as_ref().map(|since| since.0), since);
    }
}

#[test]
fn a_cause_that_does_not_fail_is_named() {
    let status = explained(Health::Progressing, false);
    assert_eq!((&*status.health, &*status.reason), ("Progressing", "Broken"));
    assert_eq!(
        status.message,
        "1 of 1 not healthy: Deployment ns/web: Pod ns/p1: ImagePullBackOff: no image 1"
    );
    let mut waiting = object("web", &["a"], Health::Progressing);
    waiting.timeline = verdict(Health::Progressing, "Waiting", "0 of 1 available").into();
    let explanations = [(Arc::from("web"), explanation(1, false))].into();
    let status = one(Census { explanations, ..census(vec![waiting]) });
    assert_eq!(
        status.message,
        "1 of 1 not healthy: Deployment ns/web: 0 of 1 available: Pod ns/p1: ImagePullBackOff: no image 1"
    );
}

#[test]
fn what_was_reported_about_the_component_itself_is_not_named_twice() {
    let mut explanation = explanation(1, false);
    explanation.steps[0].object = object("web", &["a"], Health::Progressing).object;
    let explanations = [(Arc::from("web"), explanation)].into();
    let status = one(Census { explanations, ..census(vec![object("web", &["a"], Health::Progressing)]) });
    assert_eq!(status.message, "1 of 1 not healthy: Deployment ns/web: ImagePullBackOff: no image 1");
}

#[test]
fn what_is_well_stopped_or_going_is_not_explained() {
    for health in [Health::Healthy, Health::Suspended, Health::Terminating] {
        let status = explained(health, true);
        assert_eq!((&*status.health, &status.components[0].cause), (health.as_str(), &None));
    }
}

#[test]
fn a_labelled_object_below_goes_first() {
    let mut pod = object("own", &["a"], Health::Degraded).of_kind("", "Pod").controlled_by("web");
    pod.timeline = verdict(Health::Degraded, "CrashLoopBackOff", "container c").into();
    let explanations = [(Arc::from("web"), explanation(1, true))].into();
    let objects = vec![object("web", &["a"], Health::Progressing), pod];
    let status = one(Census { explanations, ..census(objects) });
    assert_eq!(
        (&*status.reason, &*status.components[0].cause.as_ref().unwrap().name),
        ("CrashLoopBackOff", "own")
    );
}

/// What is shown of the add-on, where anything changed.
fn shown(index: &mut Index) -> Option<AddonStatus> {
    index.flush(at(20)).into_iter().find_map(|change| match change {
        Change::Show(summary) => Some(summary.whole()),
        Change::Empty(_) => None,
    })
}

/// The components that are news, and whether they are ill.
fn told(index: &mut Index) -> Vec<(String, bool)> {
    let told = index.take_illnesses(at(20)).into_iter();
    told.map(|(key, illness)| (key.to_string(), illness.is_some())).collect()
}

#[test]
fn the_ill_are_told_and_their_causes_shown_until_they_are_well() {
    let mut index = Index::default();
    index.upsert(object("well", &["a"], Health::Healthy), at(1));
    index.upsert(object("web", &["a"], Health::Progressing), at(1));
    index.upsert(object("pod", &["a"], Health::Degraded).of_kind("", "Pod").controlled_by("web"), at(1));
    assert_eq!(told(&mut index), [("web".to_owned(), true)], "the pod is part of it");
    index.flush(at(20));

    index.explain("web", explanation(1, true));
    index.explain("nobody", explanation(2, true));
    assert!(shown(&mut index).is_some());
    index.explain("web", explanation(1, true));
    assert_eq!(shown(&mut index), None, "that is no news");
    assert!(told(&mut index).is_empty());

    index.remove(&kind("", "Pod").group_kind(), "pod");
    index.upsert(object("web", &["a"], Health::Degraded), at(2));
    assert_eq!(told(&mut index), [("web".to_owned(), true)]);
    assert_eq!(shown(&mut index).unwrap().components[0].cause.as_ref().unwrap().name, "p1");
    index.explain("web", Explanation::default());
    assert_eq!(shown(&mut index).unwrap().components[0].cause, None);

    index.explain("web", explanation(1, true));
    index.upsert(object("web", &["a"], Health::Healthy), at(3));
    assert_eq!(told(&mut index), [("web".to_owned(), false)]);
    index.upsert(object("web", &["a"], Health::Progressing), at(4));
    assert_eq!(shown(&mut index).unwrap().health, "Progressing", "what explained it before is forgotten");
}

#[test]
fn what_cannot_be_observed_is_not_asked_about() {
    let mut index = Index::default();
    let deployments = kind("apps", "Deployment").group_kind();
    index.upsert(object("web", &["a"], Health::Degraded), at(1));
    assert_eq!(told(&mut index), [("web".to_owned(), true)]);
    index.explain("web", explanation(1, true));
    index.set_gap(&deployments, Some("down"));
    assert_eq!(told(&mut index), [("web".to_owned(), false)]);
    assert_eq!(shown(&mut index).unwrap().reason, "NotObserved");
    index.set_gap(&deployments, None);
    assert_eq!(told(&mut index), [("web".to_owned(), true)]);
    assert_eq!(shown(&mut index).unwrap().reason, "ImagePullBackOff", "it is still known");
}

#[test]
fn a_cause_is_forgotten_of_what_became_well_while_nobody_could_see_it() {
    let mut index = Index::default();
    let deployments = kind("apps", "Deployment").group_kind();
    index.upsert(object("web", &["a"], Health::Degraded), at(1));
    told(&mut index);
    index.explain("web", explanation(1, true));
    index.set_gap(&deployments, Some("down"));
    told(&mut index);
    index.upsert(object("web", &["a"], Health::Healthy), at(2));
    assert!(told(&mut index).is_empty(), "it was told already that it isn't ill as far as can be seen");
    index.set_gap(&deployments, None);
    assert!(told(&mut index).is_empty());
    index.upsert(object("web", &["a"], Health::Progressing), at(3));
    assert_eq!(shown(&mut index).unwrap().components[0].cause, None);
}

#[test]
fn a_restart_shows_the_same_before_anybody_looks_again() {
    let listed = object("web", &["a"], Health::Progressing);
    let deployments = listed.group_kind();
    for (fails, message) in
        [(true, ""), (true, "0 of 1"), (false, ""), (false, "0 of 1"), (false, &*"x".repeat(500))]
    {
        let mut listed = listed.clone();
        listed.timeline = verdict(Health::Progressing, "Waiting", message).into();
        let mut index = Index::default();
        index.upsert(listed.clone(), at(1));
        told(&mut index);
        index.explain("web", explanation(1, fails));
        let written = shown(&mut index).unwrap();
        let remembered = Remembered::of(&id("a"), &written.components[0]);

        let mut index = Index::default();
        index.remember(remembered.clone(), at(10));
        assert_eq!(shown(&mut index).unwrap().components, written.components, "before it is listed");
        index.replace(&deployments, vec![listed.clone()], &[], at(11));
        assert_eq!(shown(&mut index).unwrap().components, written.components, "once it is listed");

        let mut index = Index::default();
        index.replace(&deployments, vec![listed], &[], at(10));
        index.recall(&remembered);
        assert_eq!(shown(&mut index).unwrap().components, written.components, "listed before");
    }
}
