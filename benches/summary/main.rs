//! What it costs to keep summaries up to date: one change of one component of an add-on of 20 and of
//! 20,000 components until it is on the board, and a storm of labels that come and go.
#![allow(clippy::expect_used, missing_docs)]

mod components;

use std::{hint::black_box, sync::Arc, time::Duration};

use addons::{
    model::Timestamp,
    summary::{Board, Change, Index, Observation},
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

use self::components::Kinds;

/// An index and what it shows.
struct Shown {
    index: Index,
    board: Board,
    now: Timestamp,
}

impl Shown {
    /// One add-on of so many components.
    fn of(kinds: &Kinds, count: usize) -> Self {
        let now = "2026-02-01T00:00:00Z".parse().expect("a time");
        let mut shown = Self { index: Index::default(), board: Board::default(), now };
        for n in 0..count {
            shown.index.upsert(kinds.observe("big", n, true), now);
        }
        shown.flush();
        shown
    }

    /// From a change to the board.
    fn change(&mut self, observation: Observation) {
        self.index.upsert(observation, self.now);
        self.flush();
    }

    fn flush(&mut self) {
        for change in self.index.flush(self.now) {
            match change {
                Change::Show(summary) => {
                    let shown = self.board.get(summary.identifier.as_str());
                    if shown.as_deref() != Some(&*summary) {
                        self.board.put(Arc::from(summary));
                    }
                }
                Change::Empty(identifier) => self.board.remove(&identifier),
            }
        }
    }
}

fn one_change(criterion: &mut Criterion) {
    let kinds = Kinds::default();
    for count in [20, 20_000] {
        let mut shown = Shown::of(&kinds, count);
        // A custom resource whose controller has and hasn't seen its spec, in turn.
        let states = [false, true].map(|is_well| kinds.observe("big", 10, is_well));
        let mut group = criterion.benchmark_group(format!("one of {count}"));
        group
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(2))
            .sample_size(20);
        group.bench_function("change", |bencher| {
            let mut turn = 0;
            bencher.iter_batched(
                || {
                    turn += 1;
                    states[turn % 2].clone()
                },
                |observation| shown.change(observation),
                BatchSize::PerIteration,
            );
        });
        group.bench_function("whole status", |bencher| {
            let summary = shown.board.get("big").expect("it is shown");
            bencher.iter(|| black_box(summary.whole()));
        });
        group.finish();
    }
}

/// 48 objects get the label and lose it in turn, each time with all that follows.
fn storm(criterion: &mut Criterion) {
    let kinds = Kinds::default();
    let mut shown = Shown::of(&kinds, 20);
    let objects: Vec<Observation> = (0..48).map(|n| kinds.observe("big", n, true)).collect();
    let mut group = criterion.benchmark_group("storm");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function("1000 flaps", |bencher| {
        bencher.iter(|| {
            for n in 0..1000 {
                let object = &objects[n % 48];
                if n / 48 % 2 == 0 {
                    shown.index.remove(&object.group_kind(), &object.object.uid);
                } else {
                    shown.index.upsert(object.clone(), shown.now);
                }
                shown.flush();
            }
        });
    });
    group.finish();
}

criterion_group!(benches, one_change, storm);
criterion_main!(benches);
