use std::time::{Duration, Instant};

use super::{
    super::{
        Command, Held, Limits, Seen,
        decide::Form,
        ledger::{Ledger, Next},
        request::{Failure, Task, Work},
    },
    *,
};
use crate::{
    api::{LabelPrefix, bounds},
    metrics::WriteResult,
};

const SECOND: Duration = Duration::from_secs(1);

/// A ledger, a clock that is set by hand, and the version of the last answer.
struct Bench {
    ledger: Ledger,
    start: Instant,
    now: Instant,
    version: u64,
}

impl Bench {
    fn new() -> Self {
        Self::with(Limits::default(), &[])
    }

    fn with(limits: Limits, listed: &[Addon]) -> Self {
        let now = Instant::now();
        let mut bench =
            Self { ledger: Ledger::new(LabelPrefix::default(), limits), start: now, now, version: 1000 };
        bench.seen(Seen::Listed(listed.iter().filter_map(Held::of).collect()));
        bench
    }

    fn told(&mut self, command: Command) {
        self.ledger.told(command, self.now, time(900));
    }

    fn show(&mut self, raw: &str, health: &str) {
        self.told(Command::Show(summary(raw, status(health))));
    }

    fn seen(&mut self, seen: Seen) {
        self.told(Command::Seen(seen));
    }

    fn changed(&mut self, addon: &Addon) {
        self.seen(Seen::Changed(Box::new(Held::of(addon).expect("a name"))));
    }

    /// What starts without the clock moving.
    fn started(&mut self) -> Option<Work> {
        loop {
            match self.ledger.next(self.now) {
                Next::Start(work) => return Some(work),
                Next::At(at) if at <= self.now => {}
                Next::At(_) | Next::Idle => return None,
            }
        }
    }

    /// What starts next, with the clock moved to when it does, and the time since the beginning.
    fn next(&mut self) -> Option<(Work, Duration)> {
        loop {
            match self.ledger.next(self.now) {
                Next::Start(work) => return Some((work, self.now - self.start)),
                Next::At(at) => self.now = self.now.max(at),
                Next::Idle => return None,
            }
        }
    }

    fn finish(&mut self, work: &Work, result: Result<Option<Addon>, Failure>) -> WriteResult {
        self.ledger.finished(&work.name, result, self.now).expect("it was started")
    }

    /// The API server takes the work as it is.
    fn take(&mut self, work: &Work) -> WriteResult {
        self.version += 1;
        let result = match &work.task {
            Task::Write { draft, .. } => {
                Some(addon(&work.name, &work.name, true, self.version, Some(draft.status.clone())))
            }
            Task::Delete(_) => None,
        };
        self.finish(work, Ok(result))
    }
}

fn written(work: &Work) -> &AddonStatus {
    match &work.task {
        Task::Write { draft, .. } => &draft.status,
        Task::Delete(_) => panic!("{work:?}"),
    }
}

fn creates(work: &Work) -> bool {
    matches!(&work.task, Task::Write { create: Some(_), .. })
}

#[test]
fn nothing_is_written_before_the_first_list() {
    let now = Instant::now();
    let mut ledger = Ledger::new(LabelPrefix::default(), Limits::default());
    ledger.told(Command::Show(summary("dns", status("Healthy"))), now, time(1));
    assert!(matches!(ledger.next(now), Next::Idle));
}

#[test]
fn a_restart_writes_nothing() {
    let there = |raw: &str| addon(raw, raw, true, 5, Some(status("Healthy")));
    let mut bench = Bench::with(Limits::default(), &[there("a"), there("b")]);
    bench.show("a", "Healthy");
    bench.show("b", "Healthy");
    assert!(bench.next().is_none());
}

#[test]
fn the_first_change_goes_at_once_and_later_ones_together_after_a_second() {
    let mut bench = Bench::new();
    bench.show("dns", "Progressing");
    let first = bench.started().expect("a first write");
    assert!(creates(&first));
    bench.show("dns", "Degraded");
    assert!(bench.started().is_none(), "one at a time");
    assert_eq!(bench.take(&first), WriteResult::Created);
    for _ in 0..100 {
        bench.show("dns", "Progressing");
        bench.show("dns", "Healthy");
        bench.now += SECOND / 200;
    }
    let (second, at) = bench.next().expect("a second write");
    assert_eq!((written(&second).health.as_str(), at), ("Healthy", SECOND));
    assert_eq!(bench.take(&second), WriteResult::Updated);
    assert!(bench.next().is_none());
}

#[test]
fn one_that_never_rests_is_written_every_second() {
    let mut bench = Bench::new();
    let mut writes = 0;
    for step in 0..1000 {
        bench.show("dns", if step % 2 == 0 { "Healthy" } else { "Degraded" });
        if let Some(work) = bench.started() {
            writes += 1;
            bench.take(&work);
        }
        bench.now += Duration::from_millis(10);
    }
    assert_eq!(writes, 10);
}

#[test]
fn a_change_that_was_taken_back_is_not_written() {
    let mut bench = Bench::new();
    bench.show("dns", "Healthy");
    let work = bench.started().unwrap();
    bench.take(&work);
    bench.show("dns", "Degraded");
    bench.show("dns", "Healthy");
    assert!(bench.next().is_none());
}

#[test]
fn what_was_edited_or_deleted_by_hand_is_put_right() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, Some(status("Healthy")))]);
    bench.show("dns", "Healthy");
    bench.changed(&addon("dns", "dns", true, 6, Some(status("Edited"))));
    let work = bench.started().expect("a write");
    assert!(!creates(&work));
    bench.take(&work);
    bench.now += SECOND;
    bench.seen(Seen::Gone("dns".into()));
    let work = bench.started().expect("a write");
    assert!(creates(&work));
    bench.take(&work);
    bench.seen(Seen::Listed(Vec::new()));
    assert!(creates(&bench.next().expect("a write").0));
}

#[test]
fn an_old_event_tells_nothing() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, None)]);
    bench.show("dns", "Healthy");
    let work = bench.started().unwrap();
    bench.take(&work);
    bench.changed(&addon("dns", "dns", true, 6, Some(status("Edited"))));
    bench.changed(&addon("dns", "dns", true, bench.version, Some(status("Healthy"))));
    assert!(bench.next().is_none());
}

#[test]
fn a_store_that_was_restored_has_lower_versions() {
    let there = |version, health| addon("dns", "dns", true, version, Some(status(health)));
    let mut bench = Bench::with(Limits::default(), &[there(900, "Healthy")]);
    bench.show("dns", "Healthy");
    assert!(bench.next().is_none());
    bench.seen(Seen::Listed(vec![Held::of(&there(70, "Degraded")).expect("a name")]));
    let (work, _) = bench.next().expect("it is put right");
    bench.finish(&work, Ok(Some(there(71, "Healthy"))));
    assert!(bench.next().is_none(), "once");
}

#[test]
fn one_that_goes_while_it_is_written_is_made_again() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, None)]);
    bench.show("dns", "Healthy");
    let work = bench.started().unwrap();
    bench.seen(Seen::Gone("dns".into()));
    bench.take(&work);
    assert!(creates(&bench.next().expect("a write").0));
}

#[test]
fn a_refused_status_is_replaced_by_its_headline() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, None)]);
    let refuse = || Err(Failure::Refused("too long".into()));
    bench.show("dns", "Healthy");
    let whole = bench.started().unwrap();
    assert_eq!(bench.finish(&whole, refuse()), WriteResult::Refused);
    let headline = bench.started().expect("the headline, at once");
    assert_eq!(written(&headline), &bounds::headline(&status("Healthy")));
    bench.take(&headline);
    bench.show("dns", "Healthy");
    assert!(bench.started().is_none());

    bench.now += SECOND;
    bench.show("dns", "Degraded");
    let whole = bench.started().expect("what changed is tried whole");
    assert_eq!(written(&whole), &status("Degraded"));
    bench.finish(&whole, refuse());
    let headline = bench.started().unwrap();
    bench.finish(&headline, refuse());
    bench.changed(&addon("dns", "dns", true, 9000, Some(status("Edited"))));
    assert!(bench.started().is_none(), "refused in every form");
}

#[test]
fn what_is_refused_in_every_form_is_tried_again_now_and_then() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, None)]);
    let refuse = || Err(Failure::Refused("a policy".into()));
    bench.show("dns", "Healthy");
    let mut tries = Vec::new();
    for _ in 0..10 {
        let (whole, at) = bench.next().expect("it is tried again");
        assert_eq!(written(&whole), &status("Healthy"));
        tries.push(at.as_secs());
        bench.finish(&whole, refuse());
        let headline = bench.started().expect("the headline, at once");
        bench.finish(&headline, refuse());
    }
    assert_eq!(tries, [0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430]);

    // What changes isn't held back, and what is taken is the end of it.
    bench.now += SECOND;
    bench.show("dns", "Degraded");
    let whole = bench.started().expect("at once");
    assert_eq!(written(&whole), &status("Degraded"));
    bench.take(&whole);
    assert!(bench.next().is_none());
}

#[test]
fn what_the_api_server_does_not_keep_is_tried_again_now_and_then() {
    let names = ["dns", "mesh", "web"];
    let listed = names.map(|name| addon(name, name, true, 5, None));
    let mut bench = Bench::with(Limits::default(), &listed);
    let pruned = |work: &Work, version| {
        let kept = AddonStatus { reason: String::new(), ..written(work).clone() };
        addon(&work.name, &work.name, true, version, Some(kept))
    };
    for name in names {
        bench.show(name, "Healthy");
        let work = bench.started().expect("it is written");
        let kept = pruned(&work, 6);
        bench.finish(&work, Ok(Some(kept.clone())));
        bench.changed(&kept);
        bench.show(name, "Healthy");
        assert!(bench.started().is_none(), "it can't be had");
    }
    // The headline of one of them is all that is taken.
    bench.now += SECOND;
    bench.show("web", "Degraded");
    let whole = bench.started().expect("it is written");
    bench.finish(&whole, Err(Failure::Refused("a policy".into())));
    let headline = bench.started().expect("the headline, at once");
    bench.take(&headline);

    for (name, second) in [("dns", 30), ("mesh", 60)] {
        let (work, at) = bench.next().expect("one of them");
        assert_eq!((&*work.name, at.as_secs()), (name, second));
        let kept = pruned(&work, 6);
        bench.finish(&work, Ok(Some(kept)));
        assert!(bench.started().is_none(), "one is enough");
    }
    let (whole, at) = bench.next().expect("the third");
    assert_eq!((&*whole.name, at.as_secs()), ("web", 90));
    bench.take(&whole);
    for name in ["dns", "mesh"] {
        let work = bench.started().expect("what was tried for one is tried for all");
        assert_eq!((&*work.name, written(&work)), (name, &status("Healthy")));
        bench.take(&work);
    }
    assert!(bench.next().is_none());
}

#[test]
fn ours_is_deleted_when_its_components_are_gone_and_anothers_says_so() {
    let listed = [addon("ours", "ours", true, 5, None), addon("theirs", "theirs", false, 6, None)];
    let mut bench = Bench::with(Limits::default(), &listed);
    bench.told(Command::Gone(identifier("ours")));
    let work = bench.started().unwrap();
    assert!(matches!(&work.task, Task::Delete(uid) if uid == "uid-ours"));
    assert_eq!(bench.take(&work), WriteResult::Deleted);
    bench.told(Command::Gone(identifier("theirs")));
    let work = bench.started().unwrap();
    let notice = addon("theirs", "theirs", false, 7, Some(written(&work).clone()));
    bench.finish(&work, Ok(Some(notice.clone())));
    bench.changed(&notice);
    bench.told(Command::Gone(identifier("theirs")));
    assert!(bench.next().is_none());
}

#[test]
fn an_object_made_while_another_is_deleted_is_not_forgotten() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, None)]);
    bench.told(Command::Gone(identifier("dns")));
    let work = bench.started().unwrap();
    bench.seen(Seen::Gone("dns".into()));
    let mut new = addon("dns", "dns", false, 8, None);
    new.metadata.uid = Some("new".into());
    bench.changed(&new);
    bench.take(&work);
    let (work, _) = bench.next().expect("a notice");
    assert_eq!(written(&work).reason, "NoComponents");
}

#[test]
fn only_so_many_requests_are_under_way() {
    let mut bench = Bench::new();
    for n in 0..20 {
        bench.show(&format!("a{n}"), "Healthy");
    }
    let under_way: Vec<Work> = std::iter::from_fn(|| bench.started()).collect();
    assert_eq!(under_way.len(), Limits::default().in_flight);
    bench.take(&under_way[3]);
    assert!(bench.started().is_some() && bench.started().is_none());
}

#[test]
fn a_storm_is_held_at_the_rate() {
    let limits = Limits { per_second: 50, burst: 100, ..Limits::default() };
    let mut bench = Bench::with(limits, &[]);
    for n in 0..300 {
        bench.show(&format!("a{n}"), "Healthy");
    }
    let mut times = Vec::new();
    while let Some((work, at)) = bench.next() {
        times.push(at);
        bench.take(&work);
    }
    assert_eq!(times.len(), 300);
    assert_eq!(times[99], Duration::ZERO);
    assert_eq!(times[299], SECOND * 4);
}

#[test]
fn an_api_server_that_is_busy_is_left_alone_as_long_as_it_asks() {
    let mut bench = Bench::new();
    bench.show("a", "Healthy");
    bench.show("b", "Healthy");
    let a = bench.started().unwrap();
    let busy = Failure::Busy { why: "429".into(), asked: Some(SECOND * 5) };
    assert_eq!(bench.finish(&a, Err(busy)), WriteResult::Failed);
    bench.show("c", "Healthy");
    let mut names = Vec::new();
    while let Some((work, at)) = bench.next() {
        assert_eq!(at, SECOND * 5);
        names.push(work.name.to_string());
        bench.take(&work);
    }
    names.sort();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn what_is_held_is_written_once_as_it_is_in_the_end() {
    let mut bench = Bench::new();
    bench.show("dns", "Healthy");
    let work = bench.started().expect("a write");
    bench.show("web", "Healthy");
    bench.told(Command::Hold);
    bench.finish(&work, Err(Failure::Busy { why: "cut".into(), asked: None }));
    bench.show("dns", "Unknown");
    bench.show("web", "Unknown");
    bench.now += SECOND * 100;
    assert!(bench.next().is_none());
    bench.show("web", "Healthy");
    bench.show("dns", "Degraded");
    bench.told(Command::Release);
    let written: Vec<String> = std::iter::from_fn(|| bench.started())
        .map(|work| format!("{} {}", work.name, written(&work).health))
        .collect();
    assert_eq!(written, ["dns Degraded", "web Healthy"]);
}

#[test]
fn another_failure_holds_back_only_its_own() {
    let mut bench = Bench::new();
    bench.show("a", "Healthy");
    let mut waits = Vec::new();
    let mut before = Duration::ZERO;
    for _ in 0..8 {
        let (work, at) = bench.next().unwrap();
        waits.push((at - before).as_secs());
        before = at;
        bench.finish(&work, Err(Failure::Other("no".into())));
    }
    assert_eq!(waits, [0, 1, 2, 4, 8, 16, 30, 30]);
    bench.show("b", "Healthy");
    assert_eq!(&*bench.started().expect("b isn't held back").name, "b");
}

#[test]
fn those_that_hang_leave_room_for_others() {
    let mut bench = Bench::new();
    let names = ["a", "b", "c", "d"];
    for raw in names {
        bench.show(raw, "Healthy");
        let work = bench.started().expect("there is room");
        bench.finish(&work, Err(Failure::Other("no answer".to_owned())));
    }
    bench.now += 60 * SECOND;
    let hanging: Vec<Work> = std::iter::from_fn(|| bench.started()).collect();
    assert_eq!(hanging.len(), Limits::default().in_flight / 2);
    bench.show("e", "Healthy");
    let work = bench.started().expect("another has room");
    assert_eq!(&*work.name, "e");
    bench.take(&work);
    for work in &hanging {
        bench.take(work);
    }
    let rest: Vec<Work> = std::iter::from_fn(|| bench.started()).collect();
    assert_eq!(rest.len(), 2, "and then the others of them");
}

#[test]
fn one_that_is_not_there_after_all_is_made() {
    let mut bench = Bench::with(Limits::default(), &[addon("dns", "dns", true, 5, None)]);
    bench.show("dns", "Healthy");
    let work = bench.started().unwrap();
    bench.finish(&work, Err(Failure::Missing("gone".into())));
    let (work, at) = bench.next().unwrap();
    assert!(creates(&work));
    assert_eq!(at, SECOND);
    let Task::Write { draft, .. } = &work.task else { unreachable!() };
    assert_eq!(draft.form, Form::Whole);
}
