use super::*;

/// What happens to a kind.
#[derive(Clone, Copy, Debug)]
enum Is {
    Failing,
    Forbidden,
    Synced,
    Left,
}
use Is::{Failing, Forbidden, Left, Synced};

/// Ten kinds of ten groups are followed, and `Addon`, which is 10.
const KINDS: usize = 11;

fn kind(number: usize) -> GroupKind {
    match number {
        10 => addon_kind().group_kind(),
        _ => GroupKind { group: format!("g{number}"), kind: "Thing".to_owned() },
    }
}

/// At which second what happens to which kinds, and whether writes are held then.
type Script = Vec<(u64, Vec<usize>, Is, bool)>;

#[track_caller]
fn play(script: Script) {
    let start = Instant::now();
    let mut blackout = Blackout::default();
    for (step, (second, kinds, is, held)) in script.into_iter().enumerate() {
        let now = start + Duration::from_secs(second);
        for number in kinds {
            let kind = kind(number);
            match is {
                Failing => blackout.note(&kind, &WatchState::Failing("cut".to_owned()), now),
                Forbidden => blackout.note(&kind, &WatchState::Forbidden("no".to_owned()), now),
                Synced => blackout.note(&kind, &WatchState::Synced, now),
                Left => blackout.leave(&kind),
            }
        }
        assert_eq!(blackout.holds(KINDS, now), held, "step {step}");
    }
}

fn none() -> Vec<usize> {
    Vec::new()
}

#[test]
fn one_group_that_is_broken_holds_up_nothing() {
    play(vec![(0, vec![3], Failing, false), (60, vec![4], Failing, false), (120, vec![10], Failing, false)]);
}

#[test]
fn kinds_that_fail_again_and_again_hold_up_nothing_for_long() {
    // As behind a webhook that answers now and then.
    let mut script = vec![(0, vec![0, 1], Failing, true), (5, vec![0, 1], Synced, false)];
    for second in (10..500).step_by(10) {
        script.push((second, vec![0, 1], Failing, false));
        script.push((second + 5, vec![0, 1], Synced, false));
    }
    // All of them are out all the same.
    script.push((500, (0..=10).collect(), Failing, true));
    script.push((501, (0..=10).collect(), Synced, false));
    // After a while it is news again.
    script.push((1200, vec![0, 1], Failing, true));
    play(script);
}

#[test]
fn what_is_forbidden_holds_up_nothing() {
    play(vec![(0, (0..=10).collect(), Forbidden, false)]);
}

#[test]
fn it_holds_from_when_failures_spread_until_all_have_recovered() {
    play(vec![
        (0, vec![0], Failing, false),
        (1, vec![1], Failing, true),
        (8, vec![2, 3, 4], Failing, true),
        (16, vec![5, 6, 10], Failing, true),
        (300, none(), Failing, true),
        (301, vec![0, 10], Synced, true),
        (304, vec![1, 2, 3, 4, 5], Synced, true),
        (305, vec![6], Synced, false),
    ]);
}

#[test]
fn what_still_fails_after_a_while_fails_by_itself() {
    play(vec![
        (0, (0..=10).collect(), Failing, true),
        (100, (1..=10).collect(), Synced, true),
        (129, none(), Synced, true),
        (130, none(), Synced, false),
        (300, vec![0], Synced, false),
    ]);
}

#[test]
fn a_server_that_goes_again_is_out_again() {
    play(vec![
        (0, (0..=10).collect(), Failing, true),
        (100, vec![3], Synced, true),
        (101, vec![3], Failing, true),
        (200, none(), Failing, true),
        (201, (0..=10).collect(), Synced, false),
    ]);
}

#[test]
fn a_server_that_comes_back_before_all_were_called_failing() {
    play(vec![
        (0, vec![0, 1], Failing, true),
        (5, vec![2], Failing, true),
        (7, vec![0], Synced, true),
        (20, vec![1], Synced, true),
        (21, vec![2], Synced, false),
    ]);
}

#[test]
fn failures_that_stop_spreading_are_published() {
    play(vec![
        (0, vec![0, 1, 2, 3, 4, 5, 6], Failing, true),
        (9, none(), Failing, true),
        (10, none(), Failing, false),
        (60, vec![10], Failing, true),
    ]);
}

#[test]
fn kinds_that_are_refused_or_gone_in_the_end_are_not_waited_for() {
    play(vec![
        (0, (0..=10).collect(), Failing, true),
        (100, (0..=10).collect(), Forbidden, true),
        (103, (1..=10).collect(), Synced, true),
        (104, vec![0], Left, false),
    ]);
    play(vec![
        (0, (0..=10).collect(), Failing, true),
        (100, (0..=10).collect(), Forbidden, true),
        (130, none(), Forbidden, false),
    ]);
}

#[test]
fn each_recovery_hurries_the_others_once_a_second_at_most() {
    let start = Instant::now();
    let mut blackout = Blackout::default();
    let synced = |blackout: &mut Blackout, number, after: u64| {
        let now = start + Duration::from_millis(after);
        blackout.note(&kind(number), &WatchState::Synced, now);
        blackout.holds(KINDS, now);
        blackout.hurries(now)
    };
    assert!(!synced(&mut blackout, 0, 0), "nothing was wrong");
    for number in 0..=10 {
        blackout.note(&kind(number), &WatchState::Failing("cut".to_owned()), start);
    }
    assert!(blackout.holds(KINDS, start));
    let hurried: Vec<bool> = [(0, 100), (1, 200), (2, 900), (3, 1100), (4, 1200)]
        .map(|(n, at)| synced(&mut blackout, n, at))
        .into();
    assert_eq!(hurried, [true, false, false, true, false]);
    assert_eq!(blackout.next(start), Some(start + Duration::from_millis(2100)), "the last isn't forgotten");
}

#[test]
fn those_that_still_fail_are_hurried_until_the_recovery_is_over() {
    let start = Instant::now();
    let mut blackout = Blackout::default();
    for number in 0..=10 {
        blackout.note(&kind(number), &WatchState::Failing("cut".to_owned()), start);
    }
    assert!(blackout.holds(KINDS, start) && !blackout.hurries(start));
    let mut now = start + Duration::from_secs(100);
    for number in 1..=10 {
        blackout.note(&kind(number), &WatchState::Synced, now);
    }
    let mut hurried = Vec::new();
    while blackout.holds(KINDS, now) {
        if blackout.hurries(now) {
            hurried.push((now - start).as_secs());
        }
        let Some(next) = blackout.next(now) else { panic!("held for ever, since {:?}", now - start) };
        now = next;
    }
    assert_eq!(hurried, [100, 103, 106, 109, 112, 115, 118, 121, 124, 127]);
    assert_eq!(now - start, Duration::from_secs(130));
    assert!(!blackout.hurries(now), "what fails by itself is asked as seldom as ever");
    assert_eq!(blackout.next(now), None);
}

#[test]
fn it_is_looked_at_again_when_it_may_end() {
    let start = Instant::now();
    let mut blackout = Blackout::default();
    assert_eq!(blackout.next(start), None);
    for number in [0, 1] {
        blackout.note(&kind(number), &WatchState::Failing("cut".to_owned()), start);
    }
    assert!(blackout.holds(KINDS, start));
    assert_eq!(blackout.next(start), Some(start + SPREAD));
    let now = start + Duration::from_secs(2);
    blackout.note(&kind(0), &WatchState::Synced, now);
    assert!(blackout.holds(KINDS, now) && blackout.hurries(now));
    assert_eq!(blackout.next(now), Some(now + HURRY_AGAIN));
    let later = now + RECOVERY - HURRY_AGAIN;
    assert!(blackout.holds(KINDS, later) && blackout.hurries(later));
    assert_eq!(blackout.next(later), Some(now + RECOVERY));
}
