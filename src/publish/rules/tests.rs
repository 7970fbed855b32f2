//! What is written to rules, and when.
#![allow(clippy::expect_used)]

use std::time::{Duration, Instant};

use super::{
    RuleWish,
    ledger::{Ledger, Next, Work},
};
use crate::{api::AddonCondition, health::Acceptance, model::Timestamp, publish::request::Failure};

const SECOND: Duration = Duration::from_secs(1);

fn wall(minute: u8) -> Timestamp {
    format!("2026-01-01T00:{minute:02}:00Z").parse().expect("a time")
}

fn wish(acceptance: Acceptance, says: Option<&AddonCondition>) -> RuleWish {
    let (name, uid) = ("gears".to_owned(), "1".to_owned());
    RuleWish { name, uid, generation: Some(1), acceptance, says: says.cloned() }
}

fn invalid() -> Acceptance {
    Acceptance::Invalid("rows[0].if[0].path: no".to_owned())
}

fn start(next: Next) -> Work {
    match next {
        Next::Start(work) => work,
        other => panic!("{other:?}"),
    }
}

/// Writes what is due, as an API server that takes it.
fn write(ledger: &mut Ledger, now: Instant) -> AddonCondition {
    let work = start(ledger.next(now));
    ledger.finished(&work, Ok(Some(work.condition.clone())), now);
    work.condition
}

#[test]
fn a_new_rule_is_told_once_and_its_echo_is_no_news() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    ledger.take(&[wish(Acceptance::Accepted, None)], now, wall(0));
    let said = write(&mut ledger, now);
    assert_eq!(
        (said.kind.as_str(), said.status.as_str(), said.reason.as_str()),
        ("Accepted", "True", "Accepted")
    );
    assert_eq!(said.observed_generation, Some(1));
    assert_eq!(ledger.next(now), Next::Idle);
    // The same is wished again, before and after the watch has shown it.
    for says in [None, Some(&said)] {
        ledger.take(&[wish(Acceptance::Accepted, says)], now, wall(1));
        if says.is_some() {
            assert_eq!(ledger.next(now + SECOND * 100), Next::Idle);
        }
    }
}

#[test]
fn a_restart_finds_nothing_to_write() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    ledger.take(&[wish(invalid(), None)], now, wall(0));
    let said = write(&mut ledger, now);
    let mut restarted = Ledger::default();
    restarted.take(&[wish(invalid(), Some(&said))], now, wall(9));
    assert_eq!(restarted.next(now), Next::Idle);
}

#[test]
fn the_time_changes_with_the_status_only() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    ledger.take(&[wish(invalid(), None)], now, wall(0));
    let first = write(&mut ledger, now);
    assert_eq!(first.last_transition_time.0, wall(0));
    let conflict = Acceptance::Conflict("older".to_owned());
    ledger.take(&[wish(conflict, Some(&first))], now + SECOND, wall(1));
    let second = write(&mut ledger, now + SECOND * 2);
    assert_eq!((second.last_transition_time.0, second.reason.as_str()), (wall(0), "Conflict"));
    ledger.take(&[wish(Acceptance::Accepted, Some(&second))], now + SECOND * 5, wall(2));
    assert_eq!(write(&mut ledger, now + SECOND * 6).last_transition_time.0, wall(2));
}

#[test]
fn a_rule_is_written_at_most_once_a_second() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    ledger.take(&[wish(invalid(), None)], now, wall(0));
    let said = write(&mut ledger, now);
    ledger.take(&[wish(Acceptance::Accepted, Some(&said))], now, wall(0));
    assert_eq!(ledger.next(now), Next::At(now + SECOND));
    write(&mut ledger, now + SECOND);
}

#[test]
fn who_changes_it_back_is_answered_ever_more_seldom() {
    let (mut ledger, start) = (Ledger::default(), Instant::now());
    let mut now = start;
    ledger.take(&[wish(Acceptance::Accepted, None)], now, wall(0));
    let said = write(&mut ledger, now);
    let other = AddonCondition { reason: "Other".to_owned(), ..said };
    let mut writes = 0;
    while now < start + SECOND * 600 {
        ledger.take(&[wish(Acceptance::Accepted, Some(&other))], now, wall(0));
        match ledger.next(now) {
            Next::Start(work) => {
                ledger.finished(&work, Ok(Some(work.condition.clone())), now);
                writes += 1;
            }
            Next::At(at) => now = at,
            Next::Idle => panic!("what it says isn't what it should"),
        }
    }
    assert!((10..30).contains(&writes), "{writes} writes in 10 minutes");
}

#[test]
fn what_the_server_makes_of_it_is_left_alone() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    ledger.take(&[wish(invalid(), None)], now, wall(0));
    let work = start(ledger.next(now));
    let changed = AddonCondition { message: "cut".to_owned(), ..work.condition.clone() };
    ledger.finished(&work, Ok(Some(changed.clone())), now);
    assert_eq!(ledger.next(now + SECOND * 600), Next::Idle);
    ledger.take(&[wish(invalid(), Some(&changed))], now, wall(0));
    assert_eq!(ledger.next(now + SECOND * 600), Next::Idle);

    let mut refused = Ledger::default();
    refused.take(&[wish(invalid(), None)], now, wall(0));
    refused.finished(&work, Err(Failure::Refused("no".to_owned())), now);
    assert_eq!(refused.next(now + SECOND * 600), Next::Idle, "it isn't sent again until it changes");
    refused.take(&[wish(Acceptance::Accepted, None)], now, wall(0));
    start(refused.next(now + SECOND));
}

#[test]
fn a_server_that_cannot_take_it_is_given_time() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    let other = RuleWish { name: "levers".to_owned(), ..wish(Acceptance::Accepted, None) };
    ledger.take(&[wish(Acceptance::Accepted, None), other], now, wall(0));
    let work = start(ledger.next(now));
    let busy = Failure::Busy { why: "busy".to_owned(), asked: Some(SECOND * 7) };
    ledger.finished(&work, Err(busy), now);
    assert_eq!(ledger.next(now), Next::At(now + SECOND * 7), "nor is the other one sent");
    // No right to: the same.
    let work = start(ledger.next(now + SECOND * 7));
    assert_eq!(work.name, "levers");
    ledger.finished(&work, Err(Failure::Other("forbidden".to_owned())), now + SECOND * 7);
    assert!(matches!(ledger.next(now + SECOND * 7), Next::At(at) if at > now + SECOND * 7));
}

#[test]
fn a_rule_that_went_is_forgotten_and_one_made_anew_is_told_at_once() {
    let (mut ledger, now) = (Ledger::default(), Instant::now());
    ledger.take(&[wish(Acceptance::Accepted, None)], now, wall(0));
    let work = start(ledger.next(now));
    ledger.take(&[], now, wall(0));
    assert_eq!(ledger.next(now), Next::Idle);
    let anew = RuleWish { uid: "2".to_owned(), ..wish(Acceptance::Accepted, None) };
    ledger.take(&[anew], now, wall(0));
    ledger.finished(&work, Err(Failure::Conflict("uid".to_owned())), now);
    assert_eq!(start(ledger.next(now)).uid, "2");
}
