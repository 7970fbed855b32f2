//! Random histories against a small model of the API server: people edit, delete and make objects,
//! answers and events come late, requests fail. Whatever happens, the right state stands at the end.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use proptest::prelude::*;

use super::{
    super::{
        Command, Held, Limits, Seen,
        ledger::{Ledger, Next},
        request::{Failure, Task, Work},
    },
    *,
};
use crate::api::{LabelPrefix, bounds};

const NAMES: [&str; 3] = ["a", "b", "c"];
const HEALTH: [&str; 3] = ["Healthy", "Degraded", "Progressing"];

#[derive(Clone, Debug)]
enum Step {
    Show(usize, usize),
    Gone(usize),
    EditByHand(usize),
    DeleteByHand(usize),
    MakeByHand(usize),
    /// The API server carries out the oldest request, or fails to.
    Serve(Option<Failure>),
    /// Its oldest answer, or its oldest event, arrives.
    Answer,
    Event,
    Relist,
    Pass(u64),
}

#[derive(Default)]
struct Server {
    objects: BTreeMap<String, Addon>,
    version: u64,
    events: VecDeque<Seen>,
}

impl Server {
    fn put(&mut self, mut addon: Addon) -> Addon {
        self.version += 1;
        addon.metadata.resource_version = Some(self.version.to_string());
        let name = addon.metadata.name.clone().unwrap();
        let uid = format!("uid-{}", self.version);
        addon.metadata.uid = Some(match self.objects.get(&name) {
            Some(old) => old.metadata.uid.clone().unwrap(),
            None => uid,
        });
        self.objects.insert(name, addon.clone());
        self.events.extend(Held::of(&addon).map(|held| Seen::Changed(Box::new(held))));
        addon
    }

    fn delete(&mut self, name: &str) {
        if self.objects.remove(name).is_some() {
            self.version += 1;
            self.events.push_back(Seen::Gone(name.to_owned()));
        }
    }

    fn serve(&mut self, work: &Work) -> Result<Option<Addon>, Failure> {
        let name = &*work.name;
        match &work.task {
            Task::Write { create, draft } => {
                if create.is_some() && !self.objects.contains_key(name) {
                    self.put(addon(name, name, true, 0, None));
                }
                let missing = || Failure::Missing("not found".into());
                let mut object = self.objects.get(name).cloned().ok_or_else(missing)?;
                if object.status.as_ref() != Some(&draft.status) {
                    object.status = Some(draft.status.clone());
                    object = self.put(object);
                }
                Ok(Some(object))
            }
            Task::Delete(uid) => match self.objects.get(name) {
                Some(object) if object.metadata.uid.as_ref() != Some(uid) => {
                    Err(Failure::Conflict("uid".into()))
                }
                _ => {
                    self.delete(name);
                    Ok(None)
                }
            },
        }
    }
}

struct World {
    server: Server,
    ledger: Ledger,
    wishes: BTreeMap<usize, Option<usize>>,
    requests: VecDeque<Work>,
    answers: VecDeque<(Work, Result<Option<Addon>, Failure>)>,
    starts: BTreeMap<String, Instant>,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let now = Instant::now();
        let mut ledger = Ledger::new(LabelPrefix::default(), Limits { in_flight: 2, ..Limits::default() });
        ledger.told(Command::Seen(Seen::Listed(Vec::new())), now, time(0));
        Self {
            server: Server::default(),
            ledger,
            wishes: BTreeMap::new(),
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            starts: BTreeMap::new(),
            now,
        }
    }

    fn told(&mut self, command: Command) {
        self.ledger.told(command, self.now, time(900));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Show(name, health) => {
                self.wishes.insert(name, Some(health));
                self.told(Command::Show(summary(NAMES[name], status(HEALTH[health]))));
            }
            Step::Gone(name) => {
                self.wishes.insert(name, None);
                self.told(Command::Gone(identifier(NAMES[name])));
            }
            Step::EditByHand(name) => {
                if let Some(mut object) = self.server.objects.get(NAMES[name]).cloned() {
                    object.status = Some(status("Edited"));
                    self.server.put(object);
                }
            }
            Step::DeleteByHand(name) => self.server.delete(NAMES[name]),
            Step::MakeByHand(name) => {
                if !self.server.objects.contains_key(NAMES[name]) {
                    self.server.put(addon(NAMES[name], NAMES[name], false, 0, None));
                }
            }
            Step::Serve(failure) => {
                if let Some(work) = self.requests.pop_front() {
                    let result = failure.map_or_else(|| self.server.serve(&work), Err);
                    self.answers.push_back((work, result));
                }
            }
            Step::Answer => {
                if let Some((work, result)) = self.answers.pop_front() {
                    self.ledger.finished(&work.name, result, self.now).expect("it was started");
                }
            }
            Step::Event => {
                if let Some(event) = self.server.events.pop_front() {
                    self.told(Command::Seen(event));
                    self.say_gone();
                }
            }
            Step::Relist => {
                // A list shows everything that happened before it.
                self.server.events.clear();
                let listed = self.server.objects.values().filter_map(Held::of).collect();
                self.told(Command::Seen(Seen::Listed(listed)));
                self.say_gone();
            }
            Step::Pass(milliseconds) => self.now += Duration::from_millis(milliseconds),
        }
        self.start();
    }

    /// Says of each object without components that it has none, as the command asks.
    fn say_gone(&mut self) {
        for name in self.wishes.iter().filter(|(_, wish)| wish.is_none()).map(|(name, _)| *name) {
            let command = Command::Gone(identifier(NAMES[name]));
            self.ledger.told(command, self.now, time(901));
        }
    }

    /// Starts what may start, and gives the time at which more may.
    fn start(&mut self) -> Option<Instant> {
        loop {
            match self.ledger.next(self.now) {
                Next::Start(work) => {
                    self.requests.push_back(work.clone());
                    assert!(self.requests.len() + self.answers.len() <= 2, "too many requests");
                    self.starts.insert(work.name.to_string(), self.now);
                }
                Next::At(at) if at <= self.now => {}
                Next::At(at) => return Some(at),
                Next::Idle => return None,
            }
        }
    }

    /// Lets everything come to rest.
    fn rest(&mut self) {
        for _ in 0..1000 {
            let wake = self.start();
            if !self.requests.is_empty() {
                self.step(Step::Serve(None));
            } else if !self.answers.is_empty() {
                self.step(Step::Answer);
            } else if !self.server.events.is_empty() {
                self.step(Step::Event);
            } else if let Some(at) = wake {
                self.now = at;
            } else {
                return;
            }
        }
        panic!("it never comes to rest");
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || 0..NAMES.len();
    let failure = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Failure::Busy { why: "busy".into(), asked: None })),
        1 => Just(Some(Failure::Other("no".into()))),
    ];
    let step = prop_oneof![
        3 => (name(), 0..HEALTH.len()).prop_map(|(name, health)| Step::Show(name, health)),
        1 => name().prop_map(Step::Gone),
        1 => name().prop_map(Step::EditByHand),
        1 => name().prop_map(Step::DeleteByHand),
        1 => name().prop_map(Step::MakeByHand),
        4 => failure.prop_map(Step::Serve),
        4 => Just(Step::Answer),
        3 => Just(Step::Event),
        1 => Just(Step::Relist),
        2 => (0..1500_u64).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_the_right_state_stands_at_the_end(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
        }
        world.rest();
        for (name, wish) in &world.wishes {
            let object = world.server.objects.get(NAMES[*name]);
            match (wish, object) {
                (Some(health), Some(object)) => {
                    let wanted = bounds::fit(&status(HEALTH[*health]));
                    prop_assert_eq!(object.status.as_ref(), Some(&wanted));
                }
                (Some(_), None) => prop_assert!(false, "{} isn't there", NAMES[*name]),
                (None, Some(object)) => {
                    prop_assert!(object.metadata.labels.is_none(), "{} wasn't deleted", NAMES[*name]);
                    prop_assert_eq!(&object.status.as_ref().unwrap().reason, "NoComponents");
                }
                (None, None) => {}
            }
        }
        // Nothing is left to do: a second look writes nothing.
        let before = world.server.version;
        world.step(Step::Relist);
        world.rest();
        prop_assert_eq!(world.server.version, before);
    }
}
