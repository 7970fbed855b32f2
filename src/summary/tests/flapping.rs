//! What goes to and fro is marked, and the mark moves only with its object.

use super::*;

/// At a second, well or not, at a generation.
type Change = (i64, bool, i64);

/// How many changes, the first and the last.
type Mark = (usize, i64, i64);

fn seen(changes: &[Change], index: &mut Index) -> Option<Flapping> {
    let mut shown = None;
    for (second, well, generation) in changes {
        let health = if *well { Health::Healthy } else { Health::Degraded };
        let mut observation = object("web", &["a"], health);
        observation.generation = Some(*generation);
        index.upsert(observation, at(*second));
        shown = status(index, *second).or(shown);
    }
    flapping(&shown.expect("a status"))
}

fn status(index: &mut Index, second: i64) -> Option<AddonStatus> {
    match index.flush(at(second)).pop()? {
        super::Change::Show(summary) => Some(summary.whole()),
        super::Change::Empty(_) => None,
    }
}

fn flapping(status: &AddonStatus) -> Option<Flapping> {
    let flapping = status.components[0].flapping.as_ref()?;
    let changes = usize::try_from(flapping.changes).expect("a count");
    Some(Flapping { changes, first: flapping.first.0, last: flapping.last.0 })
}

fn to_and_fro(seconds: impl IntoIterator<Item = i64>) -> Vec<Change> {
    let start = (0, true, 1);
    let turns = seconds.into_iter().enumerate().map(|(n, second)| (second, n % 2 == 1, 1));
    std::iter::once(start).chain(turns).collect()
}

#[test]
fn four_changes_within_ten_minutes_are_flapping() {
    let table: [(&str, Vec<Change>, Option<Mark>); 9] = [
        ("never", to_and_fro([]), None),
        ("a rollout", to_and_fro([10, 60]), None),
        ("three", to_and_fro([10, 20, 30]), None),
        ("four", to_and_fro([10, 20, 30, 609]), Some((4, 10, 609))),
        ("four, in too long a time", to_and_fro([10, 20, 30, 610]), None),
        ("on and on", to_and_fro([10, 20, 30, 40, 50, 605, 615]), Some((6, 20, 615))),
        ("it rests, then changes once", to_and_fro([10, 20, 30, 40, 700]), None),
        ("more than are counted", to_and_fro(1..=40), Some((16, 25, 40))),
        (
            "somebody asks for something else again and again",
            vec![(0, true, 1), (1, false, 2), (2, true, 2), (3, false, 3), (4, true, 3), (5, false, 4)],
            None,
        ),
    ];
    for (what, changes, expected) in table {
        let expected =
            expected.map(|(changes, first, last)| Flapping { changes, first: at(first), last: at(last) });
        assert_eq!(seen(&changes, &mut Index::default()), expected, "{what}");
    }
}

#[test]
fn the_message_names_what_flaps() {
    let mut index = Index::default();
    seen(&to_and_fro([1, 2, 3, 4]), &mut index);
    index.upsert(object("web", &["a"], Health::Degraded), at(5));
    let status = status(&mut index, 5).expect("a status");
    assert_eq!(status.message, "1 of 1 not healthy: Deployment ns/web (flapping): Broken");
}

#[test]
fn time_alone_changes_nothing_and_costs_nothing() {
    let mut index = Index::default();
    assert!(seen(&to_and_fro([1, 2, 3, 4]), &mut index).is_some());
    index.upsert(object("calm", &["b"], Health::Healthy), at(4));
    index.upsert(object("calm", &["b"], Health::Degraded), at(5));
    index.flush(at(5));
    assert_eq!(index.next_due(), None);
    assert_eq!(index.flush(at(100_000)), []);
    assert_eq!(index.pasts(), 1, "what changed once long ago is forgotten");
}

#[test]
fn a_restart_keeps_the_mark_until_the_next_change() {
    let mut index = Index::default();
    let before = seen(&to_and_fro([1, 2, 3, 4]), &mut index);
    index.upsert(object("web", &["a"], Health::Healthy), at(4));
    let written = summarize_again(&mut index, 4);

    for listed_first in [false, true] {
        let mut index = Index::default();
        let remembered = Remembered::of(&id("a"), &written.components[0]);
        let list = vec![object("web", &["a"], Health::Healthy)];
        let kind = list[0].group_kind();
        if listed_first {
            index.replace(&kind, list, &[], at(50));
            index.flush(at(50));
            index.recall(&remembered);
        } else {
            index.remember(remembered, at(50));
            index.replace(&kind, list, &[], at(51));
        }
        let shown = status(&mut index, 51).expect("a status");
        assert_eq!((flapping(&shown), &shown.components), (before, &written.components));
        index.upsert(object("web", &["a"], Health::Degraded), at(60));
        assert_eq!(flapping(&status(&mut index, 60).expect("a status")), None);
    }
}

/// What is shown now, though nothing changed.
fn summarize_again(index: &mut Index, second: i64) -> AddonStatus {
    let kind = kind("apps", "Deployment").group_kind();
    index.set_gap(&kind, Some("for a moment"));
    index.set_gap(&kind, None);
    status(index, second).expect("a status")
}
