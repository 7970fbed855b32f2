use super::{Book, Error, Exit, Io};
use crate::{
    api::StatusRuleSpec,
    ctl::{table::Table, wrap::wrap},
};

/// Columns of what stands below a rule.
const INDENT: usize = 4;

/// `addonctl rules list`.
pub(super) fn run(book: &Book, io: &mut Io<'_>) -> Result<Exit, Error> {
    let mut table = Table::new(["GROUP", "CASES", "HAS"]);
    let mut kinds = Vec::new();
    for chapter in &book.chapters {
        for (written, rule) in &chapter.rules {
            let spec = &written.spec;
            let group = spec.matches.as_ref().map(|matches| match &*matches.group {
                "" => "core",
                group => group,
            });
            table.push(vec![
                group.unwrap_or_default().into(),
                chapter.count(rule).to_string().into(),
                contents(spec).join(", ").into(),
            ]);
            kinds.push(self::kinds(spec));
        }
    }
    if !book.is_empty() {
        let lines = table.lines(true, false);
        for (n, line) in lines.iter().enumerate() {
            writeln!(io.stdout, "{line}")?;
            for line in
                n.checked_sub(1).and_then(|n| kinds.get(n)).into_iter().flat_map(|kinds| wrap(kinds, INDENT))
            {
                writeln!(io.stdout, "{:INDENT$}{line}", "")?;
            }
        }
    }
    io.stdout.flush()?;
    book.say(io.stderr)?;
    Ok(if book.faults.is_empty() { Exit::Success } else { Exit::Failure })
}

/// The kinds that a rule is for.
fn kinds(spec: &StatusRuleSpec) -> String {
    let combined = spec.combine.as_ref().map(|combine| format!("add-ons {}", combine.identifiers.join(", ")));
    let kinds = spec.matches.as_ref().map(|matches| {
        let kinds: Vec<&str> = matches.kind.iter().chain(&matches.kinds).map(String::as_str).collect();
        if kinds.is_empty() { "every kind".to_owned() } else { kinds.join(", ") }
    });
    kinds.into_iter().chain(combined).collect::<Vec<_>>().join("; ")
}

/// What a rule says, in the words of its fields.
fn contents(spec: &StatusRuleSpec) -> Vec<String> {
    let counted = [
        ("row", spec.rows.len()),
        ("phase", spec.phases.len()),
        ("fact", spec.facts.len()),
        ("cause", spec.causes.len()),
    ];
    let single = [
        ("conditions", spec.conditions.is_some()),
        ("reasons", spec.reasons.is_some()),
        ("empty", spec.empty.is_some()),
        ("suspension", spec.suspension.is_some()),
        ("observedGeneration", spec.observed_generation.is_some()),
        ("deadline", spec.deadline.is_some()),
        ("combine", spec.combine.is_some()),
    ];
    let counted = counted.into_iter().filter(|(_, count)| *count > 0);
    let counted = counted.map(|(what, count)| super::counted(count, what));
    let single = single.into_iter().filter(|(_, is)| *is).map(|(what, _)| what.to_owned());
    counted.chain(single).collect()
}
