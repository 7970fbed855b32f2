//! The index gives, after every change, what a fresh computation over everything gives.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Upsert(Box<Observation>),
    /// An object that is there becomes so, at that generation.
    Turn(usize, Health, Option<i64>, Option<SignedDuration>),
    Remove(usize, usize),
    /// A list, in which some can't be read.
    Relist(usize, Vec<Observation>, Vec<usize>),
    Gap(usize, bool),
    Combine(Vec<Combine>),
    Link(usize, Option<usize>),
    /// Nobody could tell what controls an object that was asked for.
    PutOff(usize),
    /// There is a reason to ask for those again.
    AskAgain,
    /// Somebody looked for the cause and found this one, which fails or not; or none.
    Explain(usize, Option<(usize, bool)>),
    Wait(i64),
}

const KINDS: [(&str, &str); 3] = [("apps", "Deployment"), ("", "Pod"), ("addons.x-k8s.io", "Addon")];

/// The kind whose objects never wait without a time.
const ADDON: usize = 2;

const IDENTIFIERS: [&str; 4] = ["a", "b", "c", "d"];
const UIDS: usize = 9;

fn group_kind(kind: usize) -> GroupKind {
    GroupKind { group: KINDS[kind].0.into(), kind: KINDS[kind].1.into() }
}

/// The kind of an object follows from its number, as an object never changes its kind.
fn observations(kind: usize) -> impl Strategy<Value = Observation> {
    let own = (0..UIDS / KINDS.len()).prop_map(move |n| n * KINDS.len() + kind);
    let health = prop::sample::select(Health::ALL.to_vec());
    (
        own,
        prop::collection::btree_map(0..IDENTIFIERS.len(), prop::sample::select(vec!["", "x"]), 1..4),
        prop::option::of(0..UIDS + 2),
        0..IDENTIFIERS.len(),
        health.clone(),
        prop::option::of((0..100i64, health)),
        (any::<bool>(), any::<bool>(), prop::option::of(patience())),
    )
        .prop_map(
            move |(own, labels, controller, child, health, later, (informational, superseded, patience))| {
                let mut observation =
                    object(&own.to_string(), &[], health).of_kind(KINDS[kind].0, KINDS[kind].1);
                observation.memberships = labels
                    .into_iter()
                    .map(|(n, install)| Membership {
                        identifier: id(IDENTIFIERS[n]),
                        install: install.into(),
                    })
                    .collect();
                if let Some(controller) = controller {
                    observation = observation.controlled_by(&controller.to_string());
                }
                if kind == ADDON {
                    observation.sums_up = Some(id(IDENTIFIERS[child]));
                }
                let later = later.map(|(second, health)| {
                    Box::new(Later { at: at(second), verdict: verdict(health, "Later", "it took too long") })
                });
                let waits = kind != ADDON && health == Health::Progressing && later.is_none();
                let patience = patience.filter(|_| waits);
                observation.timeline = Timeline { first: observation.timeline.first, later, patience };
                observation.informational = informational;
                observation.superseded = superseded;
                observation
            },
        )
}

fn selects() -> impl Strategy<Value = Select> {
    let kind = prop::option::of((0..KINDS.len()).prop_map(|kind| KINDS[kind].1.to_owned()));
    let names = prop::collection::vec((0..UIDS).prop_map(|uid| format!("{uid}*")), 0..3);
    (kind, names).prop_map(|(kind, names)| Select { kind, names, ..Select::default() })
}

fn combines() -> impl Strategy<Value = Combine> {
    let quorums = (selects(), any::<bool>(), 1..4u32).prop_map(|(select, installs, at_least)| {
        let by = if installs { CountBy::Install } else { CountBy::Component };
        Quorum { select, by, at_least, name: None }
    });
    let identifiers = prop::collection::vec(prop::sample::select(IDENTIFIERS.to_vec()), 1..3);
    (identifiers, prop::collection::vec(quorums, 0..3), prop::collection::vec(selects(), 0..2)).prop_map(
        |(identifiers, quorums, informational)| Combine {
            identifiers: identifiers.into_iter().map(str::to_owned).collect(),
            quorums,
            informational,
        },
    )
}

fn patience() -> impl Strategy<Value = SignedDuration> {
    (1..60i64).prop_map(SignedDuration::from_secs)
}

fn steps() -> impl Strategy<Value = Step> {
    let kind = 0..KINDS.len();
    prop_oneof![
        5 => kind.clone().prop_flat_map(observations).prop_map(|o| Step::Upsert(Box::new(o))),
        9 => (
            0..UIDS,
            prop_oneof![prop::sample::select(Health::ALL.to_vec()), Just(Health::Progressing)],
            prop::option::weighted(0.1, 0..3i64),
            prop::option::of(patience()),
        )
            .prop_map(|(uid, health, generation, patience)| Step::Turn(uid, health, generation, patience)),
        2 => (kind.clone(), 0..UIDS).prop_map(|(kind, uid)| Step::Remove(kind, uid)),
        1 => kind.clone().prop_flat_map(|kind| {
            let unread = prop::collection::vec(0..UIDS, 0..3);
            (prop::collection::vec(observations(kind), 0..5), unread)
                .prop_map(move |(all, unread)| Step::Relist(kind, all, unread))
        }),
        1 => (kind, any::<bool>()).prop_map(|(kind, on)| Step::Gap(kind, on)),
        1 => prop::collection::vec(combines(), 0..3).prop_map(Step::Combine),
        // The two last numbers stand for objects that never carry a label; any may lose its own.
        2 => (0..UIDS + 2, prop::option::of(0..UIDS + 2)).prop_map(|(uid, by)| Step::Link(uid, by)),
        1 => (0..UIDS + 2).prop_map(Step::PutOff),
        1 => Just(Step::AskAgain),
        4 => (1..60i64).prop_map(Step::Wait),
        1 => (200..700i64).prop_map(Step::Wait),
    ]
}

fn steps_and_causes() -> impl Strategy<Value = Step> {
    let cause = prop::option::of((0..3usize, any::<bool>()));
    prop_oneof![
        4 => steps(),
        1 => (0..UIDS, cause).prop_map(|(uid, cause)| Step::Explain(uid, cause)),
    ]
}

fn asks_for(index: &mut Index, uid: usize) -> bool {
    index.take_unknown_owners().iter().any(|(owner, _)| *owner.uid == uid.to_string())
}

/// What is true, kept as plainly as possible.
#[derive(Default)]
struct Truth {
    explanations: BTreeMap<String, Explanation>,
    /// Who was told as ill.
    ill: BTreeSet<String>,
    objects: BTreeMap<(usize, String), Observation>,
    links: BTreeMap<String, String>,
    gaps: BTreeMap<GroupKind, String>,
    histories: BTreeMap<String, History>,
    combinations: BTreeMap<Identifier, Combination>,
    now: i64,
}

/// Every change of an object that counts, and what the last one showed.
#[derive(Default)]
struct History {
    waiting_since: Option<i64>,
    swings: Vec<i64>,
    flapping: Option<Flapping>,
}

impl Truth {
    fn apply(&mut self, index: &mut Index, step: Step) {
        match step {
            Step::Upsert(observation) => {
                let kind = self.kind_of(&observation);
                index.upsert((*observation).clone(), at(self.now));
                self.insert(kind, *observation);
            }
            Step::Turn(uid, health, generation, patience) => {
                let Some(((kind, _), known)) =
                    self.objects.iter().find(|((_, of), _)| *of == uid.to_string())
                else {
                    return;
                };
                let mut observation = known.clone();
                let patience = patience.filter(|_| health == Health::Progressing && *kind != ADDON);
                let reason = if health == Health::Healthy { "Exists" } else { "Turned" };
                let turned = verdict(health, reason, "");
                observation.timeline = Timeline { patience, ..Timeline::from(turned) };
                observation.generation = generation.or(known.generation);
                let kind = *kind;
                index.upsert(observation.clone(), at(self.now));
                self.insert(kind, observation);
            }
            Step::Remove(kind, uid) => {
                index.remove(&group_kind(kind), &uid.to_string());
                self.objects.remove(&(kind, uid.to_string()));
                self.forget_what_is_gone();
            }
            Step::Relist(kind, observations, unread) => {
                let unread: Vec<String> = unread.iter().map(ToString::to_string).collect();
                let keys: Vec<ObjectKey> = unread.iter().map(|uid| ObjectKey::of(uid)).collect();
                index.replace(&group_kind(kind), observations.clone(), &keys, at(self.now));
                // One by one, as links are forgotten in between; what isn't in the list goes last.
                let seen = observations.iter().map(|o| o.object.uid.to_string());
                let listed: Vec<String> = seen.chain(unread).collect();
                for observation in observations {
                    self.insert(kind, observation);
                }
                self.objects.retain(|(of, uid), _| *of != kind || listed.contains(uid));
                self.forget_what_is_gone();
            }
            Step::Gap(kind, on) => {
                index.set_gap(&group_kind(kind), on.then_some("forbidden"));
                if on {
                    self.gaps.insert(group_kind(kind), "forbidden".to_owned());
                } else {
                    self.gaps.remove(&group_kind(kind));
                }
            }
            Step::Combine(rules) => {
                self.combinations = Combination::of(&rules);
                index.set_combinations(self.combinations.clone());
            }
            Step::Link(uid, by) => {
                // The index takes an answer only to what it asked: it forgets links without use.
                if asks_for(index, uid) {
                    index.link(&uid.to_string(), by.map(|by| owner(&by.to_string())).as_ref(), "ns");
                    self.links.insert(uid.to_string(), by.map(|by| by.to_string()).unwrap_or_default());
                }
            }
            Step::PutOff(uid) => {
                // As if nothing controlled it.
                if asks_for(index, uid) {
                    index.put_off(&owner(&uid.to_string()), "ns");
                    self.links.insert(uid.to_string(), String::new());
                }
            }
            Step::AskAgain => index.ask_again_where(|_| true),
            Step::Explain(uid, cause) => {
                let explanation = cause.map(|(n, fails)| explanation(n, fails)).unwrap_or_default();
                index.explain(&uid.to_string(), explanation.clone());
                if self.ill.contains(&uid.to_string()) {
                    self.explanations.insert(uid.to_string(), explanation);
                }
            }
            Step::Wait(seconds) => self.now += seconds,
        }
        self.forget_unused_links();
    }

    /// Hears who is ill: what isn't any more is explained no more, once it can be seen.
    fn hear(&mut self, index: &mut Index) {
        for (key, illness) in index.take_illnesses(at(self.now)) {
            if illness.is_some() {
                self.ill.insert(key.to_string());
            } else {
                assert!(self.ill.remove(&*key), "{key} was never ill");
            }
        }
        let unseen = |uid: &String| {
            let mut of_kinds = self.objects.keys().filter(|(_, known)| known == uid);
            of_kinds.any(|(kind, _)| self.gaps.contains_key(&group_kind(*kind)))
        };
        self.explanations.retain(|uid, _| self.ill.contains(uid) || unseen(uid));
    }

    /// Those whose cause is wanted, seen afresh.
    fn ill(&self) -> BTreeSet<String> {
        let shown = self.summarize();
        let components = shown.values().flat_map(|summary| summary.whole().components);
        components
            .filter(|component| component.kind != "Addon" && component.rule != "coverage")
            .map(|component| component.uid)
            .filter(|uid| {
                let mut known = self.objects.iter().filter(|((_, of), _)| of == uid).map(|(_, o)| o);
                known.any(|object| {
                    let past = self.histories.get(uid).map(History::past).unwrap_or_default();
                    let verdict = past.age(object.timeline.clone()).at(at(self.now)).clone();
                    matches!(verdict.health, Health::Degraded | Health::Unknown | Health::Progressing)
                })
            })
            .collect()
    }

    /// What an object says itself of its controller is what counts.
    fn insert(&mut self, kind: usize, observation: Observation) {
        let uid = observation.object.uid.to_string();
        self.links.remove(&uid);
        let history = self.histories.entry(uid.clone()).or_default();
        let waits = observation.timeline.patience.is_some();
        history.waiting_since = waits.then(|| history.waiting_since.unwrap_or(self.now));
        if let Some(before) = self.objects.get(&(kind, uid.clone())) {
            let well = |o: &Observation| {
                matches!(o.timeline.at(at(self.now)).health, Health::Healthy | Health::Suspended)
            };
            let (was, is) = (well(before), well(&observation));
            let asked = before.generation.zip(observation.generation).is_some_and(|(a, b)| a != b);
            if asked {
                history.swings.clear();
            } else if was != is {
                history.swing(self.now);
            }
        }
        self.objects.insert((kind, uid), observation);
        self.forget_unused_links();
    }

    fn forget_what_is_gone(&mut self) {
        self.histories.retain(|uid, _| self.objects.keys().any(|(_, known)| known == uid));
        self.explanations.retain(|uid, _| self.objects.keys().any(|(_, known)| known == uid));
    }

    fn kind_of(&self, observation: &Observation) -> usize {
        KINDS.iter().position(|(_, kind)| *kind == observation.object.kind.kind).expect("one of ours")
    }

    /// A link is known as long as something below it is.
    fn forget_unused_links(&mut self) {
        loop {
            let used = |uid: &String| {
                self.objects.values().any(|o| o.controller.as_ref().is_some_and(|owner| *owner.uid == **uid))
                    || self.links.values().any(|controller| controller == uid)
            };
            let unused: Vec<String> = self.links.keys().filter(|uid| !used(uid)).cloned().collect();
            if unused.is_empty() {
                return;
            }
            for uid in unused {
                self.links.remove(&uid);
            }
        }
    }

    /// What an index shows that starts now, with what the `Addon` objects hold: those are listed last
    /// or first.
    fn after_a_restart(
        &self,
        written: &BTreeMap<Identifier, Summary>,
        addons_last: bool,
    ) -> BTreeMap<Identifier, Summary> {
        let now = at(self.now);
        let mut index = Index::default();
        index.set_combinations(self.combinations.clone());
        let mut remembered: BTreeMap<Box<str>, Remembered> = BTreeMap::new();
        for (identifier, summary) in written {
            for component in summary.whole().components {
                let component = Remembered::of(identifier, &component);
                match remembered.get_mut(&component.key()) {
                    Some(known) => known.join(component),
                    None => drop(remembered.insert(component.key(), component)),
                }
            }
        }
        if !addons_last {
            remembered.values().for_each(|component| index.remember(component.clone(), now));
        }
        for kind in 0..KINDS.len() {
            let of_kind = self.objects.iter().filter(|((of, _), _)| *of == kind);
            index.replace(&group_kind(kind), of_kind.map(|(_, o)| o.clone()).collect(), &[], now);
            index.set_gap(&group_kind(kind), self.gaps.get(&group_kind(kind)).map(String::as_str));
        }
        loop {
            let unknown = index.take_unknown_owners();
            if unknown.is_empty() {
                break;
            }
            for (asked, _) in unknown {
                let by = self.links.get(&*asked.uid).filter(|by| !by.is_empty());
                index.link(&asked.uid, by.map(|by| owner(by)).as_ref(), "ns");
            }
        }
        let mut shown: BTreeMap<Identifier, Summary> = BTreeMap::new();
        let mut flush = |index: &mut Index| {
            shown.extend(timeless(index.flush(now).into_iter().filter_map(|change| match change {
                Change::Show(summary) => Some(*summary),
                Change::Empty(_) => None,
            })));
        };
        if addons_last {
            flush(&mut index);
            remembered.values().for_each(|component| index.recall(component));
        }
        flush(&mut index);
        shown
    }

    fn summarize(&self) -> BTreeMap<Identifier, Summary> {
        let census = Census {
            observations: self.objects.values().cloned().collect(),
            links: self.links.iter().map(|(a, b)| (a.as_str().into(), b.as_str().into())).collect(),
            gaps: self.gaps.clone(),
            explanations: self.explanations.iter().map(|(uid, e)| (uid.as_str().into(), e.clone())).collect(),
            combinations: self.combinations.clone(),
            pasts: self
                .histories
                .iter()
                .map(|(uid, history)| (uid.as_str().into(), history.past()))
                .collect(),
        };
        timeless(summarize(census, at(self.now)))
    }
}

impl History {
    fn past(&self) -> Past {
        Past { waiting_since: self.waiting_since.map(at), flapping: self.flapping }
    }

    fn swing(&mut self, now: i64) {
        self.swings.push(now);
        let recent: Vec<i64> = self.swings.iter().copied().filter(|swing| now - swing < 600).collect();
        let counted = &recent[recent.len().saturating_sub(16)..];
        self.flapping = (counted.len() >= 4).then(|| Flapping {
            changes: counted.len(),
            first: at(counted[0]),
            last: at(now),
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_index_equals_the_recomputation(steps in prop::collection::vec(steps(), 1..60)) {
        let mut index = Index::default();
        let mut truth = Truth::default();
        let mut shown: BTreeMap<Identifier, Summary> = BTreeMap::new();
        for step in steps {
            truth.apply(&mut index, step);
            for change in index.flush(at(truth.now)) {
                match change {
                    Change::Show(summary) => shown.extend(timeless([*summary])),
                    Change::Empty(identifier) => drop(shown.remove(&identifier)),
                }
            }
            prop_assert_eq!(&shown, &truth.summarize());
            prop_assert!(index.next_due().is_none_or(|due| due > at(truth.now)));
        }
        prop_assert_eq!(&truth.after_a_restart(&shown, false), &shown);
        prop_assert_eq!(&truth.after_a_restart(&shown, true), &shown);
    }

    #[test]
    fn causes_are_shown_as_long_as_they_hold(steps in prop::collection::vec(steps_and_causes(), 1..60)) {
        let mut index = Index::default();
        let mut truth = Truth::default();
        let mut shown: BTreeMap<Identifier, Summary> = BTreeMap::new();
        for step in steps {
            truth.apply(&mut index, step);
            for change in index.flush(at(truth.now)) {
                match change {
                    Change::Show(summary) => shown.extend(timeless([*summary])),
                    Change::Empty(identifier) => drop(shown.remove(&identifier)),
                }
            }
            prop_assert_eq!(&shown, &truth.summarize());
            truth.hear(&mut index);
            prop_assert_eq!(&truth.ill, &truth.ill());
        }
    }

    #[test]
    fn the_order_of_the_list_does_not_matter(
        mut observations in prop::collection::vec((0..KINDS.len()).prop_flat_map(observations), 0..12),
    ) {
        observations.sort_by(|a, b| a.object.uid.cmp(&b.object.uid));
        observations.dedup_by(|a, b| a.object.uid == b.object.uid);
        let forwards = summarize(census(observations.clone()), at(50));
        observations.reverse();
        prop_assert_eq!(forwards, summarize(census(observations), at(50)));
    }
}
