//! Everything that is to be written: which `Addon` is due, what may start now, what came of it.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use tracing::{debug, info, warn};

use super::{
    Command, Limits, Seen,
    decide::{Action, Answer, Entry, Form, Tried, Wish, decide},
    lessened::Lessened,
    live::{Digest, Held, Live},
    pace::{Bucket, Pause, backoff, refused_again},
    request::{Failure, Task, Work},
};
use crate::{
    api::{Addon, LabelPrefix, object_name},
    metrics::WriteResult,
    model::Timestamp,
};

/// One entry for each `Addon` that is wanted or there.
pub(super) struct Ledger {
    prefix: LabelPrefix,
    limits: Limits,
    bucket: Bucket,
    pause: Pause,
    /// Before the first list, what isn't known to be there may well be.
    listed: bool,
    /// Nothing may start for now.
    held: bool,
    slots: HashMap<Arc<str>, Slot>,
    /// Those that aren't kept whole.
    lessened: Lessened,
    /// The names that are to be looked at, by when.
    due: BTreeSet<(Instant, Arc<str>)>,
    in_flight: usize,
    /// Those among them of which the last attempt failed.
    in_doubt: usize,
}

#[derive(Default)]
struct Slot {
    entry: Entry,
    due: Option<Instant>,
    flight: Option<Flight>,
    /// Failures in a row.
    failures: u32,
    /// Times in a row that every form was refused.
    refusals: u32,
    /// What the API server said when it refused, so that it is logged once.
    refusal: Option<String>,
}

/// What is under way.
struct Flight {
    started: Instant,
    outcome: WriteResult,
    /// The status that was wanted and how much of it was sent.
    sent: Option<(Digest, Form)>,
    /// The last attempt failed.
    in_doubt: bool,
    /// The object that it is about, where there was one.
    uid: Option<String>,
    /// Something changed in the meantime.
    stale: bool,
    /// The object was seen to go in the meantime, perhaps after the answer was given.
    vanished: bool,
}

/// What can be done next.
#[derive(Debug)]
pub(super) enum Next {
    /// This, now.
    Start(Work),
    /// Nothing before then.
    At(Instant),
    /// Nothing before something happens.
    Idle,
}

impl Ledger {
    pub(super) fn new(prefix: LabelPrefix, limits: Limits) -> Self {
        Self {
            prefix,
            limits,
            bucket: Bucket::new(limits.per_second, limits.burst),
            pause: Pause::default(),
            listed: false,
            held: false,
            slots: HashMap::new(),
            lessened: Lessened::default(),
            due: BTreeSet::new(),
            in_flight: 0,
            in_doubt: 0,
        }
    }

    /// Takes in a command. `wall` is the time of day at `now`.
    pub(super) fn told(&mut self, command: Command, now: Instant, wall: Timestamp) {
        match command {
            Command::Show(summary) => {
                let name = object_name(&summary.identifier).into();
                self.slot(&name).entry.wish = Wish::Show(summary);
                self.mark(&name, now);
            }
            Command::Gone(identifier) => {
                let name = object_name(&identifier).into();
                let wish = &mut self.slot(&name).entry.wish;
                if !matches!(wish, Wish::Gone { .. }) {
                    *wish = Wish::Gone { since: wall };
                    self.mark(&name, now);
                }
            }
            Command::Seen(Seen::Listed(addons)) => self.list(addons, now),
            Command::Seen(Seen::Changed(addon)) => self.change(*addon, now),
            Command::Seen(Seen::Gone(name)) => self.vanish(&name.into(), now),
            Command::Hold => self.held = true,
            Command::Release => {
                self.held = false;
                // The API server answers: it needn't be found out.
                self.pause.lift();
            }
        }
    }

    /// What can be done next. A piece of work that is given counts as started.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        if !self.listed || self.held || self.in_flight >= self.limits.in_flight {
            return Next::Idle;
        }
        if let Some(name) = self.lessened.due(now) {
            self.try_anew(&name, now);
        }
        match (self.next_due(now), self.lessened.at()) {
            (Next::Idle, Some(at)) => Next::At(at),
            (Next::At(next), Some(at)) => Next::At(next.min(at)),
            (next, _) => next,
        }
    }

    fn next_due(&mut self, now: Instant) -> Next {
        let Some((at, name)) = self.due.iter().find(|(_, name)| self.has_room(name)).cloned() else {
            return Next::Idle;
        };
        let held = [Some(at), self.pause.until(now), self.bucket.wait(now)];
        if let Some(at) = held.into_iter().flatten().max().filter(|at| *at > now) {
            return Next::At(at);
        }
        self.due.remove(&(at, Arc::clone(&name)));
        let Some(slot) = self.slots.get_mut(&name) else { return Next::At(now) };
        slot.due = None;
        let (outcome, task) = match decide(&name, &slot.entry, &self.prefix, now) {
            Action::Nothing => {
                if slot.entry.tried.is_none() {
                    self.lessened.forget(&name);
                }
                self.forget(&name);
                return Next::At(now);
            }
            Action::Wait(at) => {
                slot.due = Some(at);
                self.due.insert((at, name));
                return Next::At(now);
            }
            Action::Create(identifier, draft) => {
                (WriteResult::Created, Task::Write { create: Some(identifier), draft })
            }
            Action::Status(draft) => (WriteResult::Updated, Task::Write { create: None, draft }),
            Action::Delete(uid) => (WriteResult::Deleted, Task::Delete(uid)),
        };
        let sent = match &task {
            Task::Write { draft, .. } => Some((draft.wanted, draft.form)),
            Task::Delete(_) => None,
        };
        let uid = slot.entry.live.as_ref().map(|live| live.uid.clone());
        let in_doubt = slot.failures > 0;
        self.in_doubt += usize::from(in_doubt);
        slot.flight =
            Some(Flight { started: now, outcome, sent, in_doubt, uid, stale: false, vanished: false });
        self.bucket.take(now);
        self.in_flight += 1;
        Next::Start(Work { name, task })
    }

    /// Takes in what became of a piece of work.
    pub(super) fn finished(
        &mut self,
        name: &Arc<str>,
        result: Result<Option<Addon>, Failure>,
        now: Instant,
    ) -> Option<WriteResult> {
        let slot = self.slots.get_mut(name)?;
        let flight = slot.flight.take()?;
        self.in_flight -= 1;
        self.in_doubt -= usize::from(flight.in_doubt);
        slot.entry.not_before = Some(flight.started + self.limits.gap);
        if !matches!(result, Err(Failure::Busy { .. })) && self.pause.end() {
            info!("the API server takes writes of Addons again");
        }
        let outcome = match (result, flight.sent) {
            (Ok(addon), _) => {
                let overtaken = slot.taken(addon, &flight);
                if let Some(is_whole) = slot.entry.tried.as_ref().and_then(Tried::is_whole) {
                    for other in self.lessened.note(name, is_whole, now) {
                        self.try_anew(&other, now);
                    }
                }
                match flight.outcome {
                    WriteResult::Deleted => {
                        info!(addon = %name, "deleted an Addon that stands for no component");
                    }
                    outcome => debug!(addon = %name, outcome = outcome.as_str(), "wrote an Addon"),
                }
                if !flight.stale && !overtaken {
                    self.forget(name);
                    return Some(flight.outcome);
                }
                flight.outcome
            }
            (Err(Failure::Refused(words)), Some((wanted, form))) => {
                slot.refused(name, wanted, form, words, now);
                WriteResult::Refused
            }
            (Err(Failure::Busy { why, asked }), _) => {
                slot.entry.not_before = None;
                if self.pause.begin(asked, now) {
                    warn!(%why, "the API server can't take writes of Addons now; they wait");
                }
                WriteResult::Failed
            }
            (Err(failure), _) => {
                slot.failed(name, &failure, &flight, now);
                WriteResult::Failed
            }
        };
        self.mark(name, now);
        Some(outcome)
    }

    /// Writes that failed last take half of the room at most: where they hang, others go on.
    fn has_room(&self, name: &Arc<str>) -> bool {
        let most = self.limits.in_flight.div_ceil(2);
        self.in_doubt < most || self.slots.get(name).is_none_or(|slot| slot.failures == 0)
    }

    fn slot(&mut self, name: &Arc<str>) -> &mut Slot {
        self.slots.entry(Arc::clone(name)).or_default()
    }

    /// Notes that an entry is to be looked at, as soon as it may be written.
    fn mark(&mut self, name: &Arc<str>, now: Instant) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        if let Some(flight) = &mut slot.flight {
            flight.stale = true;
            return;
        }
        let at = slot.entry.not_before.map_or(now, |at| at.max(now));
        if let Some(later) = slot.due.filter(|due| *due > at) {
            self.due.remove(&(later, Arc::clone(name)));
            slot.due = None;
        }
        if slot.due.is_none() {
            slot.due = Some(at);
            self.due.insert((at, Arc::clone(name)));
        }
    }

    /// What the API server made of it, or said to it, may be another now.
    fn try_anew(&mut self, name: &Arc<str>, now: Instant) {
        if let Some(slot) = self.slots.get_mut(name) {
            slot.entry.tried = None;
            self.mark(name, now);
        }
    }

    /// Drops an entry that is neither wanted nor there.
    fn forget(&mut self, name: &Arc<str>) {
        let idle = |slot: &Slot| slot.flight.is_none() && slot.due.is_none() && slot.entry.live.is_none();
        let wanted = |slot: &Slot| matches!(slot.entry.wish, Wish::Show(_));
        if self.slots.get(name).is_some_and(|slot| idle(slot) && !wanted(slot)) {
            self.slots.remove(name);
            self.lessened.forget(name);
        }
    }

    fn list(&mut self, addons: Vec<Held>, now: Instant) {
        let there: HashSet<&str> = addons.iter().map(|held| &*held.name).collect();
        let missing = self.slots.keys().filter(|name| !there.contains(&***name)).cloned();
        for name in missing.collect::<Vec<_>>() {
            self.vanish(&name, now);
        }
        for addon in addons {
            self.see(addon, now);
        }
        self.listed = true;
    }

    /// Takes in a change; one that is older than what is known tells nothing.
    fn change(&mut self, addon: Held, now: Instant) {
        let known = self.slots.get(&*addon.name).and_then(|slot| slot.entry.live.as_ref());
        if !known.is_some_and(|known| addon.live.is_older_than(known)) {
            self.see(addon, now);
        }
    }

    /// Takes in what is there. A list tells it even where its versions are lower than before, as they are once
    /// the store was restored from a backup.
    fn see(&mut self, addon: Held, now: Instant) {
        let Held { name, live } = addon;
        let name = name.into();
        let slot = self.slot(&name);
        let changed = slot.entry.live.as_ref().is_none_or(|known| !known.says_the_same_as(&live));
        slot.entry.live = Some(live);
        if let Some(flight) = &mut slot.flight {
            flight.vanished = false;
        }
        if changed {
            self.mark(&name, now);
        }
    }

    fn vanish(&mut self, name: &Arc<str>, now: Instant) {
        let Some(slot) = self.slots.get_mut(name) else { return };
        slot.entry.live = None;
        if let Some(flight) = &mut slot.flight {
            flight.vanished = true;
        }
        self.mark(name, now);
    }
}

impl Slot {
    /// Takes in the answer. True where something newer was seen before it came.
    fn taken(&mut self, addon: Option<Addon>, flight: &Flight) -> bool {
        self.failures = 0;
        self.refusals = 0;
        if !matches!(flight.sent, Some((_, Form::Headline))) {
            self.refusal = None;
        }
        let live = addon.filter(|addon| addon.metadata.name.is_some()).map(|addon| Live::of(&addon));
        if let Some(((wanted, form), live)) = flight.sent.zip(live.as_ref()) {
            self.entry.tried = Some(Tried { wanted, form, answer: Answer::Taken(live.status) });
        }
        let overtaken = self.entry.live.as_ref().is_some_and(|known| match &live {
            Some(live) => live.is_older_than(known),
            // Another object of the same name was made since.
            None => flight.uid.as_ref() != Some(&known.uid),
        });
        if !overtaken && !flight.vanished {
            self.entry.live = live;
        }
        overtaken
    }

    fn refused(&mut self, name: &str, wanted: Digest, form: Form, words: String, now: Instant) {
        self.failures = 0;
        match form {
            // Nothing was written yet: the headline needn't wait.
            Form::Whole => self.entry.not_before = None,
            Form::Headline => self.refusals += 1,
        }
        let again = now + refused_again(self.refusals);
        self.entry.tried = Some(Tried { wanted, form, answer: Answer::Refused(again) });
        if self.refusal.as_ref() != Some(&words) {
            let then = match form {
                Form::Whole => "its headline is tried instead",
                Form::Headline => "it is tried again when it changes, and now and then",
            };
            warn!(addon = %name, why = %words, "the API server refuses the status of an Addon; {then}");
            self.refusal = Some(words);
        }
    }

    fn failed(&mut self, name: &str, failure: &Failure, flight: &Flight, now: Instant) {
        self.failures += 1;
        self.entry.not_before = Some(now + backoff(self.failures));
        if matches!(failure, Failure::Missing(_)) {
            self.entry.live.take_if(|live| flight.uid.as_ref() == Some(&live.uid));
        }
        if self.failures == 1 {
            warn!(addon = %name, why = %failure, "can't write an Addon; trying again");
        } else {
            debug!(addon = %name, why = %failure, failures = self.failures, "still can't write an Addon");
        }
    }
}
