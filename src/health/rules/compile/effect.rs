//! What a rule says without effect: it was meant to have one, and whoever wrote it is told.

use super::{Outcome, contradiction::follow, fault};
use crate::api::{
    CauseRule, ConditionRoles, FactRule, KindMatch, PhaseTable, ReasonTones, Row, StatusRuleSpec,
};

/// Refuses a rule of which a part, right in itself, can never do anything.
pub(super) fn check(spec: &StatusRuleSpec) -> Outcome<()> {
    let parts = parts(spec);
    match (&spec.matches, &spec.combine) {
        (None, None) => return fault("match", "says for which kinds the rule is, unless it combines"),
        (None, Some(_)) => {
            if let Some(part) = parts.first() {
                return fault(*part, "is of the kinds that match names, and there is no match");
            }
        }
        (Some(matches), _) => {
            if parts.is_empty() {
                return fault("match", "nothing is said of these kinds: rows, phases, facts or other parts");
            }
            kinds(matches)?;
        }
    }
    rows(&spec.rows, &spec.phases)?;
    for (n, table) in spec.phases.iter().enumerate() {
        if let Some(first) = spec.phases[..n].iter().position(|other| other.at == table.at) {
            return fault(format!("phases[{n}].at"), format!("phases[{first}] tells of the same field"));
        }
    }
    if spec.conditions.as_ref().is_some_and(|roles| *roles == ConditionRoles::default()) {
        return fault("conditions", "names no type");
    }
    if spec.reasons.as_ref().is_some_and(|tones| *tones == ReasonTones::default()) {
        return fault("reasons", "names no reason");
    }
    for (n, fact) in spec.facts.iter().enumerate() {
        self::fact(fact, &spec.facts[..n], &format!("facts[{n}]"))?;
    }
    spec.causes.iter().enumerate().try_for_each(|(n, cause)| self::cause(cause, &format!("causes[{n}]")))
}

/// The parts that are of the kinds of a rule.
fn parts(spec: &StatusRuleSpec) -> Vec<&'static str> {
    let all = [
        ("deadline", spec.deadline.is_some()),
        ("observedGeneration", spec.observed_generation.is_some()),
        ("empty", spec.empty.is_some()),
        ("suspension", spec.suspension.is_some()),
        ("rows", !spec.rows.is_empty()),
        ("phases", !spec.phases.is_empty()),
        ("conditions", spec.conditions.is_some()),
        ("reasons", spec.reasons.is_some()),
        ("facts", !spec.facts.is_empty()),
        ("causes", !spec.causes.is_empty()),
    ];
    all.into_iter().filter(|(_, is_given)| *is_given).map(|(part, _)| part).collect()
}

fn kinds(matches: &KindMatch) -> Outcome<()> {
    if matches.kind.is_some() && !matches.kinds.is_empty() {
        return fault("match", "has kind and kinds: give one kind, or all of them in kinds");
    }
    for (n, kind) in matches.kinds.iter().enumerate() {
        if matches.kinds[..n].contains(kind) {
            return fault("match.kinds", format!("{kind:?} stands there twice"));
        }
    }
    Ok(())
}

/// Rows below one that always decides, or below one of which all tests hold where theirs do, never do.
fn rows(rows: &[Row], phases: &[PhaseTable]) -> Outcome<()> {
    let always = rows.iter().position(|row| row.tests.is_empty() && row.when.is_none());
    for (n, row) in rows.iter().enumerate() {
        let decides = |other: &Row| {
            (other.when.is_none() || other.when == row.when) && follow(&other.tests, &row.tests)
        };
        let before = always.filter(|always| *always < n).or_else(|| rows[..n].iter().position(decides));
        if let Some(before) = before {
            return fault(
                format!("rows[{n}]"),
                format!("never decides, because rows[{before}] does before it"),
            );
        }
    }
    match always {
        Some(always) if !phases.is_empty() => {
            fault("phases", format!("are never asked, because rows[{always}] always decides"))
        }
        _ => Ok(()),
    }
}

fn fact(fact: &FactRule, before: &[FactRule], at: &str) -> Outcome<()> {
    match before.iter().position(|other| other.name == fact.name) {
        Some(first) => {
            fault(format!("{at}.name"), format!("facts[{first}] has the name {:?} too", fact.name))
        }
        None => Ok(()),
    }
}

fn cause(cause: &CauseRule, at: &str) -> Outcome<()> {
    let CauseRule { group, kind, at: path, owned, labels, named } = cause;
    let lists = *owned || !labels.is_empty();
    match [path.is_some(), lists, *named].iter().filter(|is_given| **is_given).count() {
        0 => fault(at, "leads nowhere: give at, owned, labels or named"),
        1 if lists && kind.is_none() => {
            fault(at, "owned and labels are of objects of a kind, which isn't named")
        }
        1 if *named && (kind.is_some() || !group.is_empty()) => {
            fault(at, "named objects are of the kinds that the message names: leave group and kind out")
        }
        1 => Ok(()),
        _ => fault(at, "leads to several: give at, named, or owned and labels, each in a row of its own"),
    }
}
