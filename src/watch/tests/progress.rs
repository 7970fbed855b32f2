//! What a follower does next, step by step.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    summary::WatchState,
    watch::{
        FeedError,
        feed::PAGE,
        progress::{
            BACKOFF, Outcome, PATIENCE, PATIENCE_UNREACHABLE, Phase, Progress, TOO_LARGE_VERSION, Wait,
        },
    },
};

impl Progress {
    /// How long is waited for the next request after one failed.
    fn fails(&mut self, error: &FeedError, open: Duration, now: Instant) -> Duration {
        let Wait { asked, more } = self.step(Outcome::Failed(error, open), now);
        asked + more
    }

    fn ends(&mut self, open: Duration, now: Instant) -> Duration {
        let Wait { asked, more } = self.step(Outcome::Ended(open), now);
        asked + more
    }

    fn lists(&mut self, version: &str) {
        assert_eq!(self.step(Outcome::Listed(version), Instant::now()), Wait::default());
    }

    fn advances(&mut self, version: &str) {
        assert_eq!(self.step(Outcome::Advanced(version), Instant::now()), Wait::default());
    }

    fn opens(&mut self) {
        assert_eq!(self.step(Outcome::Open, Instant::now()), Wait::default());
    }
}

const NEVER_OPEN: Duration = Duration::ZERO;
const LONG_OPEN: Duration = Duration::from_secs(20);

fn status(code: u16) -> FeedError {
    FeedError::Status { code, message: "no".to_owned(), retry_after: None }
}

fn cut() -> FeedError {
    FeedError::Transport("cut".to_owned())
}

fn synced() -> Progress {
    let mut progress = Progress::new();
    progress.lists("5");
    progress
}

#[test]
fn a_list_leads_to_a_watch_from_its_version() {
    let mut progress = Progress::new();
    assert_eq!((progress.phase(), progress.state()), (&Phase::Unpaged, &WatchState::Syncing));
    progress.lists("5");
    assert_eq!((progress.phase(), progress.state()), (&Phase::Follow("5".into()), &WatchState::Synced));
    progress.advances("7");
    assert_eq!(progress.ends(LONG_OPEN, Instant::now()), Duration::ZERO);
    assert_eq!(progress.phase(), &Phase::Follow("7".into()));
}

#[test]
fn an_expired_version_relists_at_once() {
    let too_large =
        FeedError::Status { code: 504, message: format!("{TOO_LARGE_VERSION}: 9"), retry_after: None };
    for error in [status(410), too_large] {
        let mut progress = synced();
        assert_eq!(progress.fails(&error, NEVER_OPEN, Instant::now()), Duration::ZERO);
        assert_eq!((progress.phase(), progress.state()), (&Phase::Unpaged, &WatchState::Synced));
    }
    let mut progress = synced();
    assert!(progress.fails(&status(504), NEVER_OPEN, Instant::now()) > Duration::ZERO, "a gateway's");
    assert_eq!(progress.phase(), &Phase::Follow("5".into()));
}

#[test]
fn a_version_that_expires_at_once_every_time_backs_off() {
    let mut progress = synced();
    let waits: Vec<Duration> = (0..8)
        .map(|_| {
            let wait = progress.fails(&status(410), NEVER_OPEN, Instant::now());
            progress.lists("6");
            wait
        })
        .collect();
    assert!(waits[1] > Duration::ZERO && waits[7] >= Duration::from_secs(15), "{waits:?}");
    progress.advances("7");
    assert_eq!(progress.fails(&status(410), NEVER_OPEN, Instant::now()), Duration::ZERO);
}

#[test]
fn failures_without_progress_wait_longer_and_longer() {
    let mut progress = Progress::new();
    let now = Instant::now();
    let waits: Vec<Duration> = (0..10).map(|_| progress.fails(&status(500), NEVER_OPEN, now)).collect();
    assert!(waits[0] >= Duration::from_millis(400) && waits[0] <= Duration::from_millis(800), "{waits:?}");
    assert!(waits[9] >= Duration::from_secs(15) && waits[9] <= Duration::from_secs(30), "{waits:?}");
    progress.lists("1");
    assert!(progress.fails(&status(500), NEVER_OPEN, now) <= Duration::from_millis(800));
}

#[test]
fn a_kind_that_was_synced_is_given_time() {
    let start = Instant::now();
    for (error, patience) in [(status(503), PATIENCE), (status(403), PATIENCE), (cut(), PATIENCE_UNREACHABLE)]
    {
        let mut progress = synced();
        progress.fails(&error, NEVER_OPEN, start);
        assert_eq!(progress.state(), &WatchState::Synced, "{error}");
        progress.fails(&error, NEVER_OPEN, start + patience);
        assert_eq!(progress.state().message(), Some(error.to_string().as_str()));
        progress.opens();
        assert_eq!(progress.state(), &WatchState::Synced);
    }
}

#[test]
fn a_server_that_was_down_is_given_time_to_come_up() {
    let start = Instant::now();
    let mut progress = synced();
    progress.fails(&cut(), NEVER_OPEN, start);
    let up = start + Duration::from_secs(50);
    for (error, after) in [(status(403), 0), (status(429), 4), (cut(), 5), (status(503), 9)] {
        progress.fails(&error, NEVER_OPEN, up + Duration::from_secs(after));
        assert_eq!(progress.state(), &WatchState::Synced, "{error} after {after} s");
    }
    progress.fails(&status(503), NEVER_OPEN, up + Duration::from_secs(9) + PATIENCE);
    assert_eq!(progress.state(), &WatchState::Failing(status(503).to_string()));
}

#[test]
fn a_kind_that_never_was_is_failing_at_once() {
    let mut progress = Progress::new();
    progress.fails(&status(500), NEVER_OPEN, Instant::now());
    assert_eq!(progress.state(), &WatchState::Failing("no (500)".into()));
    let mut progress = Progress::new();
    progress.fails(&status(404), NEVER_OPEN, Instant::now());
    assert_eq!(progress.state(), &WatchState::Absent("no (404)".into()));
}

#[test]
fn a_watch_that_is_cut_after_a_while_is_no_failure_in_a_row() {
    let mut progress = synced();
    let mut now = Instant::now();
    for _ in 0..20 {
        now += LONG_OPEN;
        assert!(progress.fails(&cut(), LONG_OPEN, now) <= BACKOFF.0);
        assert_eq!(progress.state(), &WatchState::Synced);
    }
}

#[test]
fn a_watch_that_fell_silent_was_failing_meanwhile_if_the_next_fails_too() {
    let silent = FeedError::Silent(Duration::from_secs(85));
    let unanswered = FeedError::Timeout(Duration::from_secs(30));
    let start = Instant::now() + Duration::from_secs(100);
    let mut progress = synced();
    assert!(progress.fails(&silent, LONG_OPEN, start) <= BACKOFF.0);
    assert_eq!(progress.state(), &WatchState::Synced, "the next may work");
    assert!(progress.is_in_doubt());
    progress.fails(&unanswered, NEVER_OPEN, start + Duration::from_secs(30));
    assert_eq!(progress.state(), &WatchState::Failing(unanswered.to_string()));

    let mut progress = synced();
    progress.fails(&silent, LONG_OPEN, start);
    progress.opens();
    progress.fails(&unanswered, NEVER_OPEN, start + Duration::from_secs(30));
    assert_eq!(progress.state(), &WatchState::Synced, "it worked in between");
}

#[test]
fn that_nobody_answers_after_a_silent_watch_is_said_within_two_minutes() {
    let unanswered = FeedError::Timeout(Duration::from_secs(30));
    // How long each try takes, and how it fails then; the last one again and again.
    let cases: [(&str, &[(f64, FeedError)]); 6] = [
        ("no answer", &[(30.0, unanswered.clone())]),
        ("no connection", &[(5.0, cut())]),
        ("a gateway that gives up a little sooner", &[(29.9, cut())]),
        ("a gateway that says so", &[(29.0, status(504))]),
        ("a connection that had been closed", &[(0.0, cut()), (30.0, unanswered)]),
        ("no connection, and a gateway", &[(5.0, cut()), (0.0, status(502)), (5.0, cut())]),
    ];
    for (what, tries) in cases {
        for _ in 0..100 {
            let mut progress = synced();
            let heard = Instant::now();
            let silent = Duration::from_secs(85);
            let mut now = heard + silent;
            now += progress.fails(&FeedError::Silent(silent), LONG_OPEN, now);
            for (took, error) in tries.iter().chain(tries.last().into_iter().cycle()) {
                now += Duration::from_secs_f64(*took);
                let wait = progress.fails(error, NEVER_OPEN, now);
                if progress.state() != &WatchState::Synced {
                    break;
                }
                now += wait;
            }
            assert!(now - heard < Duration::from_secs(120), "{what}: {:?}", now - heard);
        }
    }
}

#[test]
fn a_watch_that_comes_back_and_tells_nothing_is_listed_anew_once() {
    let now = Instant::now();
    let mut progress = synced();
    let silent = FeedError::Silent(Duration::from_secs(85));
    progress.fails(&silent, Duration::from_secs(85), now);
    assert_eq!(*progress.phase(), Phase::Follow("5".to_owned()), "a quiet kind");
    progress.fails(&cut(), Duration::ZERO, now);
    progress.opens();
    progress.fails(&silent, Duration::from_secs(85), now);
    assert_eq!(*progress.phase(), Phase::Unpaged);
    progress.lists("2");
    progress.fails(&silent, Duration::from_secs(85), now);
    assert_eq!(*progress.phase(), Phase::Follow("2".to_owned()));
    // What tells something is alive.
    progress.fails(&cut(), Duration::ZERO, now);
    progress.advances("3");
    progress.fails(&silent, Duration::from_secs(85), now);
    assert_eq!(*progress.phase(), Phase::Follow("3".to_owned()));
}

#[test]
fn the_reason_of_a_failure_stands_while_it_lasts() {
    let mut progress = Progress::new();
    let now = Instant::now();
    progress.fails(&FeedError::Transport("port 1".into()), NEVER_OPEN, now);
    progress.fails(&FeedError::Transport("port 2".into()), NEVER_OPEN, now);
    assert_eq!(progress.state(), &WatchState::Failing("port 1".into()));
    progress.fails(&status(403), NEVER_OPEN, now);
    assert_eq!(progress.state(), &WatchState::Forbidden("no (403)".into()));
}

#[test]
fn what_is_forbidden_is_asked_for_seldom_in_the_end() {
    let mut progress = Progress::new();
    let now = Instant::now();
    for _ in 0..6 {
        progress.fails(&cut(), NEVER_OPEN, now);
    }
    // What failed otherwise before doesn't make the first refusals wait.
    let waits: Vec<Duration> = (0..12).map(|_| progress.fails(&status(403), NEVER_OPEN, now)).collect();
    assert!(waits[0] <= Duration::from_secs(2), "{waits:?}");
    assert!(waits[11] >= Duration::from_secs(300), "{waits:?}");
}

#[test]
fn what_does_not_come_through_at_once_comes_in_pages() {
    let broke_off = FeedError::BrokeOff("cut".into());
    let mut progress = Progress::new();
    let fail = |progress: &mut Progress, error: &FeedError| {
        progress.fails(error, NEVER_OPEN, Instant::now());
        progress.phase().clone()
    };
    // A server that isn't there, or that fails once, says nothing of the list.
    assert_eq!(fail(&mut progress, &cut()), Phase::Unpaged);
    assert_eq!(fail(&mut Progress::new(), &status(500)), Phase::Unpaged);
    assert_eq!(fail(&mut progress, &status(403)), Phase::Unpaged);
    assert_eq!(fail(&mut progress, &status(500)), Phase::Pages(PAGE), "again");
    assert_eq!(fail(&mut progress, &status(500)), Phase::Pages(PAGE / 5));
    assert_eq!(fail(&mut progress, &status(410)), Phase::Unpaged, "a page has expired");
    progress.lists("5");

    for code in [413, 504] {
        assert_eq!(fail(&mut Progress::new(), &status(code)), Phase::Pages(PAGE));
    }
    let slow = FeedError::Timeout(Duration::from_secs(30));
    assert_eq!(fail(&mut Progress::new(), &slow), Phase::Pages(PAGE));

    assert_eq!(fail(&mut progress, &status(410)), Phase::Unpaged, "its version has expired");
    assert_eq!(fail(&mut progress, &broke_off), Phase::Pages(PAGE));
    progress.lists("6");
    assert_eq!(fail(&mut progress, &status(410)), Phase::Unpaged, "it is tried once more");
    assert_eq!(fail(&mut progress, &broke_off), Phase::Pages(PAGE));
    progress.lists("7");
    assert_eq!(fail(&mut progress, &status(410)), Phase::Pages(PAGE), "and not every time");
}

#[test]
fn watches_that_end_at_once_are_a_failure() {
    let mut progress = synced();
    assert!(progress.ends(Duration::from_millis(2), Instant::now()) > Duration::ZERO);
    assert!(progress.is_in_doubt());
}

#[test]
fn the_server_may_ask_for_more_time() {
    let mut progress = synced();
    let busy =
        FeedError::Status { code: 429, message: "busy".into(), retry_after: Some(Duration::from_secs(7)) };
    let wait = progress.fails(&busy, NEVER_OPEN, Instant::now());
    assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8), "{wait:?}");
    let mut new = Progress::new();
    new.fails(&busy, NEVER_OPEN, Instant::now());
    assert_eq!(new.state(), &WatchState::Syncing, "a kind that was made just now");
}

#[test]
fn a_server_that_restarts_right_after_a_silent_watch_is_given_its_time() {
    let start = Instant::now() + Duration::from_secs(100);
    let mut progress = synced();
    progress.fails(&FeedError::Silent(Duration::from_secs(85)), LONG_OPEN, start);
    progress.fails(&cut(), NEVER_OPEN, start + Duration::from_secs(1));
    assert_eq!(progress.state(), &WatchState::Synced);
    progress.fails(&cut(), NEVER_OPEN, start + PATIENCE_UNREACHABLE + Duration::from_secs(1));
    assert_eq!(progress.state(), &WatchState::Failing(cut().to_string()));
}

#[test]
fn a_kind_that_can_be_listed_and_not_watched_is_failing_and_listed_seldom() {
    for error in [status(405), status(404), FeedError::Unreadable("<html>".into())] {
        let mut progress = synced();
        let start = Instant::now();
        let mut now = start;
        let mut lists = 0;
        for _ in 0..40 {
            now += progress.fails(&error, NEVER_OPEN, now);
            if *progress.phase() == Phase::Unpaged {
                lists += 1;
                progress.lists("6");
            }
        }
        assert!(now - start > Duration::from_secs(10) * lists, "{lists} lists in {:?}", now - start);
        assert!(progress.state().message().is_some(), "{error}: {:?}", progress.state());
        assert!(progress.fails(&error, NEVER_OPEN, now) >= Duration::from_secs(15));
        progress.lists("7");
        assert!(progress.state().message().is_some(), "a list alone doesn't follow it");
        progress.opens();
        assert_eq!(progress.state(), &WatchState::Synced);
    }
}

#[test]
fn what_can_not_be_read_twice_is_passed_over_by_a_list() {
    let odd = FeedError::Unreadable("no event".into());
    let mut progress = synced();
    progress.fails(&odd, LONG_OPEN, Instant::now());
    assert_eq!(progress.phase(), &Phase::Follow("5".into()), "it may have been cut off");
    progress.fails(&odd, NEVER_OPEN, Instant::now());
    assert_eq!(progress.phase(), &Phase::Unpaged);
    progress.lists("6");
    progress.advances("7");
    progress.fails(&odd, LONG_OPEN, Instant::now());
    assert_eq!(progress.phase(), &Phase::Follow("7".into()), "once again");
}

#[test]
fn a_list_without_a_version_is_listed_anew_when_its_watch_ends() {
    let mut progress = Progress::new();
    progress.lists("");
    assert_eq!(progress.ends(LONG_OPEN, Instant::now()), Duration::ZERO);
    assert_eq!((progress.phase(), progress.state()), (&Phase::Unpaged, &WatchState::Synced));
    progress.lists("");
    progress.fails(&cut(), LONG_OPEN, Instant::now());
    assert_eq!(progress.phase(), &Phase::Unpaged);
}

#[test]
fn a_list_without_a_version_that_can_not_be_watched_is_failing() {
    let mut progress = Progress::new();
    let start = Instant::now();
    let mut now = start;
    for _ in 0..30 {
        progress.lists("");
        now += progress.ends(NEVER_OPEN, now);
    }
    assert!(progress.state().message().is_some(), "{:?}", progress.state());
    assert!(now - start > Duration::from_secs(300), "30 lists in {:?}", now - start);
}

#[test]
fn what_was_wrong_long_ago_is_not_in_a_row() {
    let mut progress = synced();
    for _ in 0..20 {
        // Nothing ever changes in this kind, and the API server restarts now and then.
        assert_eq!(progress.fails(&status(410), NEVER_OPEN, Instant::now()), Duration::ZERO);
        progress.lists("6");
        progress.ends(LONG_OPEN, Instant::now());
    }
    for _ in 0..20 {
        progress.fails(&FeedError::Unreadable("no event".into()), LONG_OPEN, Instant::now());
        assert_eq!(progress.phase(), &Phase::Follow("6".into()));
        progress.fails(&cut(), LONG_OPEN, Instant::now());
    }
}

#[test]
fn pages_that_do_not_come_through_get_smaller() {
    let broke_off = FeedError::BrokeOff("cut".into());
    let mut progress = Progress::new();
    let sizes: Vec<Phase> = (0..5)
        .map(|_| {
            progress.fails(&broke_off, NEVER_OPEN, Instant::now());
            progress.phase().clone()
        })
        .collect();
    assert_eq!(sizes, [500, 100, 50, 50, 50].map(Phase::Pages));
    progress.lists("5");
    progress.fails(&status(410), NEVER_OPEN, Instant::now());
    progress.fails(&broke_off, NEVER_OPEN, Instant::now());
    assert_eq!(progress.phase(), &Phase::Pages(PAGE), "the next list begins with large ones");
}
