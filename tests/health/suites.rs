//! The cases of other projects' own test suites, with what those projects say.

use std::{collections::BTreeMap, env};

use addons::{
    health::judge,
    model::{Health, StatusReporting, Timestamp, Verdict},
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

/// The least agreement of all suites together, in thousandths.
const GOAL: usize = 980;

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
            let going = object.deletion.is_some();
            if going && ours.health != Health::Terminating {
                faults.push(format!("{}, is being deleted", line(&case, ours)));
            }
            tally.going += usize::from(going);
            for tally in [&mut tally, kinds.entry(kind).or_default()].into_iter().filter(|_| !going) {
                tally.judged += 1;
                tally.agreeing += usize::from(agrees);
            }
            match told {
                Some(told) => faults.extend(told.fault(theirs, ours.health.as_str())),
                None if agrees => {}
                None => faults.push(format!("{}, isn't there", line(&case, ours))),
            }
        }
        suites.push((suite, tally));
    }
    faults.extend(told.into_keys().map(|case| format!("{case}: there is no such case")));
    let all = Tally::sum(suites.iter().map(|(_, tally)| tally));
    suites.push(("together", all));
    print!("{}\n{}", report::by_suite(&suites), report::by_kind(&kinds));

    assert!(faults.is_empty(), "disagreements.yaml isn't right: {faults:#?}");
    assert!(all.thousandths() >= GOAL, "{} of 1000 agree, {GOAL} must", all.thousandths());
    report::check_readme(&report::by_suite(&suites));
}

fn line(case: &Case, ours: &Verdict) -> String {
    let theirs = case.mapped.as_deref().unwrap_or("no word");
    format!("{}: {theirs}, ours {} ({}) by {}", case.id, ours.health, ours.reason, ours.rule)
}
