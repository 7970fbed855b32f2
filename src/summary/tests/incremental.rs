//! The index gives, after every change, what a fresh computation over everything gives.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Upsert(Box<Observation>),
    Remove(usize, usize),
    Relist(usize, Vec<Observation>),
    Gap(usize, bool),
    Link(usize, Option<usize>),
    Wait(i64),
}

const KINDS: [(&str, &str); 3] = [("apps", "Deployment"), ("", "Pod"), ("addons.x-k8s.io", "Addon")];
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
        (any::<bool>(), any::<bool>()),
    )
        .prop_map(move |(own, labels, controller, child, health, later, (informational, superseded))| {
            let mut observation = object(&own.to_string(), &[], health).of_kind(KINDS[kind].0, KINDS[kind].1);
            observation.memberships = labels
                .into_iter()
                .map(|(n, install)| Membership { identifier: id(IDENTIFIERS[n]), install: install.into() })
                .collect();
            if let Some(controller) = controller {
                observation = observation.controlled_by(&controller.to_string());
            }
            if kind == 2 {
                observation.sums_up = Some(id(IDENTIFIERS[child]));
            }
            let later = later.map(|(second, health)| {
                Box::new(Later { at: at(second), verdict: verdict(health, "Later", "it took too long") })
            });
            observation.timeline = Timeline { first: observation.timeline.first, later, patience: None };
            observation.informational = informational;
            observation.superseded = superseded;
            observation
        })
}

fn steps() -> impl Strategy<Value = Step> {
    let kind = 0..KINDS.len();
    prop_oneof![
        6 => kind.clone().prop_flat_map(observations).prop_map(|o| Step::Upsert(Box::new(o))),
        3 => (kind.clone(), 0..UIDS).prop_map(|(kind, uid)| Step::Remove(kind, uid)),
        1 => kind.clone().prop_flat_map(|kind| {
            prop::collection::vec(observations(kind), 0..5).prop_map(move |all| Step::Relist(kind, all))
        }),
        1 => (kind, any::<bool>()).prop_map(|(kind, on)| Step::Gap(kind, on)),
        // The two last numbers stand for objects that never carry a label; any may lose its own.
        2 => (0..UIDS + 2, prop::option::of(0..UIDS + 2)).prop_map(|(uid, by)| Step::Link(uid, by)),
        1 => (1..30i64).prop_map(Step::Wait),
    ]
}

/// What is true, kept as plainly as possible.
#[derive(Default)]
struct Truth {
    objects: BTreeMap<(usize, String), Observation>,
    links: BTreeMap<String, String>,
    gaps: BTreeMap<GroupKind, String>,
    now: i64,
}

impl Truth {
    fn apply(&mut self, index: &mut Index, step: Step) {
        match step {
            Step::Upsert(observation) => {
                let kind = self.kind_of(&observation);
                index.upsert((*observation).clone());
                self.insert(kind, *observation);
            }
            Step::Remove(kind, uid) => {
                index.remove(&group_kind(kind), &uid.to_string());
                self.objects.remove(&(kind, uid.to_string()));
            }
            Step::Relist(kind, observations) => {
                index.replace(&group_kind(kind), observations.clone());
                // One by one, as links are forgotten in between; what isn't in the list goes last.
                let listed: Vec<String> = observations.iter().map(|o| o.object.uid.to_string()).collect();
                for observation in observations {
                    self.insert(kind, observation);
                }
                self.objects.retain(|(of, uid), _| *of != kind || listed.contains(uid));
            }
            Step::Gap(kind, on) => {
                index.set_gap(&group_kind(kind), on.then_some("forbidden"));
                if on {
                    self.gaps.insert(group_kind(kind), "forbidden".to_owned());
                } else {
                    self.gaps.remove(&group_kind(kind));
                }
            }
            Step::Link(uid, by) => {
                // The index takes an answer only to what it asked: it forgets links without use.
                let asked =
                    index.take_unknown_owners().iter().any(|(owner, _)| *owner.uid == uid.to_string());
                if asked {
                    index.link(&uid.to_string(), by.map(|by| owner(&by.to_string())).as_ref(), "ns");
                    self.links.insert(uid.to_string(), by.map(|by| by.to_string()).unwrap_or_default());
                }
            }
            Step::Wait(seconds) => self.now += seconds,
        }
        self.forget_unused_links();
    }

    /// What an object says itself of its controller is what counts.
    fn insert(&mut self, kind: usize, observation: Observation) {
        let uid = observation.object.uid.to_string();
        self.links.remove(&uid);
        self.objects.insert((kind, uid), observation);
        self.forget_unused_links();
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

    fn summarize(&self) -> BTreeMap<Identifier, Summary> {
        let census = Census {
            observations: self.objects.values().cloned().collect(),
            links: self.links.iter().map(|(a, b)| (a.as_str().into(), b.as_str().into())).collect(),
            gaps: self.gaps.clone(),
        };
        timeless(summarize(census, at(self.now)))
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
