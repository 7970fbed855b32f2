//! The cases of other projects' own test suites, with what those projects say.

use std::{collections::BTreeMap, env};

use addons::{
    health::judge,
    model::{StatusReporting, Timestamp, Verdict},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    disagreements,
    fixtures::{cases, object_of, rules},
    report::{self, Tally},
};

/// The files under `suites/`.
const SUITES: [&str; 5] = ["argo-lua", "gitops-engine", "kstatus", "kapp", "helm"];

/// Those whose kinds all have rules: each disagreement must be explained.
const SETTLED: [&str; 3] = ["kstatus", "kapp", "helm"];

/// Whether the rules are whole: then 98 % must agree, each disagreement must be explained, and the
/// figures in `README.md` must be right. Until then only [`FLOOR`] holds.
const STRICT: bool = false;

/// The least agreement in thousandths once the rules are whole.
const GOAL: usize = 980;

/// The least agreement in thousandths before that.
const FLOOR: usize = 640;

#[derive(Deserialize)]
struct Case {
    id: String,
    object: Value,
    /// What the project says in our words; `None` where no word fits.
    mapped: Option<String>,
    /// Other objects that its answer takes.
    needs_related: Option<Value>,
    eval_time: Option<Timestamp>,
}

#[test]
fn suites_of_other_projects() {
    let rules = rules();
    let shown = env::var("ADDONS_SHOW").ok();
    let mut suites: Vec<(&str, Tally)> = Vec::new();
    let mut kinds: BTreeMap<String, Tally> = BTreeMap::new();
    let mut told = disagreements::read();
    let mut unexplained = Vec::new();
    let mut faults = Vec::new();
    for suite in SUITES {
        let Some(cases) = cases::<Case>(&format!("suites/{suite}.jsonl")) else { return };
        let mut tally = Tally::default();
        for case in cases {
            let told = told.remove(&case.id);
            let object = object_of(&case.object, StatusReporting::Unsaid);
            let timeline = judge(&object, &rules).timeline;
            let ours = case.eval_time.map_or(&timeline.first, |time| timeline.at(time));
            if shown.as_ref().is_some_and(|part| case.id.contains(part.as_str())) {
                println!("{}", line(&case, ours));
            }
            let theirs = match (&case.mapped, &case.needs_related) {
                (_, Some(_)) => {
                    tally.needing_others += 1;
                    continue;
                }
                (None, None) => {
                    tally.without_word += 1;
                    continue;
                }
                (Some(theirs), None) => theirs,
            };
            let agrees = theirs == ours.health.as_str();
            let kind = object.reference.kind.group_kind().to_string();
            for tally in [&mut tally, kinds.entry(kind).or_default()] {
                tally.judged += 1;
                tally.agreeing += usize::from(agrees);
            }
            match told {
                Some(told) => faults.extend(told.fault(theirs, ours.health.as_str())),
                None if agrees => {}
                None if SETTLED.contains(&suite) => {
                    faults.push(format!("{}, isn't there", line(&case, ours)));
                }
                None => unexplained.push(line(&case, ours)),
            }
        }
        suites.push((suite, tally));
    }
    faults.extend(told.into_keys().map(|case| format!("{case}: there is no such case")));
    let all = Tally::sum(suites.iter().map(|(_, tally)| tally));
    suites.push(("together", all));
    print!("{}\n{}", report::by_suite(&suites), report::by_kind(&kinds));
    println!("not explained in disagreements.yaml: {}", unexplained.len());
    unexplained.iter().for_each(|line| println!("  {line}"));

    assert!(faults.is_empty(), "disagreements.yaml isn't right: {faults:#?}");
    let floor = if STRICT { GOAL } else { FLOOR };
    assert!(all.thousandths() >= floor, "{} of 1000 agree, {floor} must", all.thousandths());
    if STRICT {
        assert!(unexplained.is_empty(), "not in disagreements.yaml: {unexplained:#?}");
        report::check_readme(&report::by_suite(&suites));
    }
}

fn line(case: &Case, ours: &Verdict) -> String {
    let theirs = case.mapped.as_deref().unwrap_or("no word");
    format!("{}: {theirs}, ours {} ({}) by {}", case.id, ours.health, ours.reason, ours.rule)
}
