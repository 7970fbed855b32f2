//! The Addons that aren't seen whole, and the rules that aren't in force.

use serde_json::Value;

use super::{
    NAMED,
    ask::{Asker, Trouble},
    finding::{Finding, Verdict},
    shell::safe,
};
use crate::{
    api::{GROUP, VERSION, accepted, condition},
    model::text,
};

/// An object, and what one of its conditions says: status, reason and message. All empty where it has no
/// such condition.
struct Told {
    name: String,
    status: String,
    said: String,
}

/// Whether every add-on is seen whole.
pub(super) async fn observed(asker: &Asker) -> Finding {
    let path = format!("/apis/{GROUP}/{VERSION}/addons");
    observed_of(asker.list(&path, |addon| told(addon, condition::OBSERVED)).await)
}

fn observed_of(addons: Result<Vec<Told>, Trouble>) -> Finding {
    let check = "add-ons";
    let addons = match addons {
        Ok(addons) => addons,
        Err(trouble) => return Finding::warn(check, format!("they can't be listed: {trouble}")),
    };
    let (unseen, open) = bad(&addons);
    let Some(verdict) = verdict(&unseen, &open) else {
        return Finding::ok(
            check,
            match addons.len() {
                0 => "there are none yet".to_owned(),
                1 => "1 is seen whole".to_owned(),
                count => format!("{count} are seen whole"),
            },
        );
    };
    let what = match unseen.len() {
        0 => format!("{} of {} weren't summed up yet", open.len(), addons.len()),
        count => format!("{count} of {} aren't seen whole, and so are Unknown", addons.len()),
    };
    named(Finding::new(check, verdict, what), &unseen, &open, |name| format!("addonctl describe {name}"))
}

/// Whether every rule is in force.
pub(super) async fn rules(asker: &Asker) -> Finding {
    let path = format!("/apis/{GROUP}/{VERSION}/statusrules");
    rules_of(asker.list(&path, |rule| told(rule, accepted::TYPE)).await)
}

fn rules_of(rules: Result<Vec<Told>, Trouble>) -> Finding {
    let check = "rules";
    let rules = match rules {
        Ok(rules) => rules,
        Err(trouble) => return Finding::warn(check, format!("StatusRules can't be listed: {trouble}")),
    };
    let (refused, open) = bad(&rules);
    let Some(verdict) = verdict(&refused, &open) else {
        return Finding::ok(
            check,
            match rules.len() {
                0 => "there are no StatusRules; the built-in ones hold".to_owned(),
                count => format!("all {count} StatusRules are in force"),
            },
        );
    };
    let what = match refused.len() {
        0 => format!("no controller has looked at {} of {} StatusRules", open.len(), rules.len()),
        count => format!("{count} of {} StatusRules aren't in force", rules.len()),
    };
    named(Finding::new(check, verdict, what), &refused, &open, |name| {
        format!("kubectl edit statusrule {name}")
    })
}

fn told(object: &Value, kind: &str) -> Told {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let found = conditions.into_iter().find(|condition| condition["type"] == kind);
    let of = |field: &str| found.and_then(|found| found[field].as_str()).unwrap_or_default();
    Told {
        name: text::name(object["metadata"]["name"].as_str().unwrap_or_default()),
        status: of("status").to_owned(),
        said: text::message(&[of("reason"), of("message")].join(": ")),
    }
}

/// Those whose condition isn't True, and those that have none.
fn bad(all: &[Told]) -> (Vec<&Told>, Vec<&Told>) {
    let not_true = all.iter().filter(|told| told.status != "True");
    not_true.partition(|told| !told.status.is_empty())
}

fn verdict(bad: &[&Told], open: &[&Told]) -> Option<Verdict> {
    match (bad.is_empty(), open.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Verdict::Warn),
        (false, _) => Some(Verdict::Fail),
    }
}

fn named(finding: Finding, bad: &[&Told], open: &[&Told], command: impl Fn(&str) -> String) -> Finding {
    let lines = bad.iter().map(|told| format!("{}: {}", told.name, told.said));
    let open_lines = open.iter().map(|told| format!("{}: nothing is said of it", told.name));
    let first = bad.iter().chain(open).take(NAMED.min(3));
    let commands: Vec<String> = first.filter_map(|told| Some(command(safe(&told.name)?))).collect();
    finding.details(lines.chain(open_lines)).commands(commands)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, kind: &str, status: &str, message: &str) -> Value {
        let conditions = json!([{"type": kind, "status": status, "reason": "Why", "message": message}]);
        json!({"metadata": {"name": name}, "status": {"conditions": conditions}})
    }

    #[test]
    fn what_is_not_seen_whole_is_named_and_the_rest_counted() {
        let whole = told(&object("whole", "Observed", "True", ""), "Observed");
        let blind =
            (0..14).map(|n| told(&object(&format!("b{n}"), "Observed", "False", "can't"), "Observed"));
        let finding = observed_of(Ok(std::iter::once(whole).chain(blind).collect()));
        assert!(finding.is_failure());
        assert_eq!(finding.what, "14 of 15 aren't seen whole, and so are Unknown");
        assert_eq!((finding.details.len(), finding.details[10].as_str()), (11, "and 4 more"));
        assert_eq!(finding.details[0], "b0: Why: can't");
        assert_eq!(finding.commands[0], "addonctl describe b0");
    }

    #[test]
    fn rules_without_a_word_wait_for_a_controller() {
        assert_eq!(rules_of(Ok(Vec::new())).verdict, Verdict::Ok);
        let open = vec![told(&json!({"metadata": {"name": "new"}}), "Accepted")];
        assert_eq!(rules_of(Ok(open)).verdict, Verdict::Warn);
        let hostile = vec![told(&object("x; rm", "Accepted", "False", "no\u{1b}[2J"), "Accepted")];
        let finding = rules_of(Ok(hostile));
        assert!(finding.is_failure() && finding.commands.is_empty(), "{finding:?}");
        assert!(!finding.details[0].contains('\u{1b}'), "{finding:?}");
        let refused = Err(Trouble { code: Some(403), message: "no".into() });
        assert_eq!(rules_of(refused).verdict, Verdict::Warn);
    }
}
