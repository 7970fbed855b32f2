use super::{Book, Chapter, Error, Exit, Io};
use crate::{
    api::StatusRuleSpec,
    ctl::{args::Listing, table::Table, wrap::wrap},
    health::{Rule, Written},
};

/// Columns of what stands below a rule.
const INDENT: usize = 4;

/// `addonctl rules list`.
pub(super) fn run(book: &Book, output: Listing, io: &mut Io<'_>) -> Result<Exit, Error> {
    let rules: Vec<Row> = book
        .chapters
        .iter()
        .flat_map(|chapter| chapter.rules.iter().map(|(written, rule)| Row::of(chapter, written, rule)))
        .collect();
    match output {
        _ if rules.is_empty() => {}
        Listing::Wide => io.stdout.write_all(wide(&rules).render(true, false).as_bytes())?,
        Listing::Table => {
            let lines = table(&rules).lines(true, false);
            let below = std::iter::once(None).chain(rules.iter().map(Some));
            for (line, rule) in lines.iter().zip(below) {
                writeln!(io.stdout, "{line}")?;
                for line in rule.into_iter().flat_map(Row::below) {
                    writeln!(io.stdout, "{:INDENT$}{line}", "")?;
                }
            }
        }
    }
    io.stdout.flush()?;
    book.say(io.stderr)?;
    Ok(if book.faults.is_empty() { Exit::Success } else { Exit::Failure })
}

/// What is shown of a rule.
struct Row<'a> {
    name: &'a str,
    /// File and line.
    place: String,
    /// `None` for one that only combines.
    group: Option<&'a str>,
    kinds: String,
    cases: String,
    has: String,
}

impl<'a> Row<'a> {
    fn of(chapter: &Chapter, written: &'a Written, rule: &Rule) -> Self {
        let spec = &written.spec;
        let group = spec.matches.as_ref().map(|matches| match &*matches.group {
            "" => "core",
            group => group,
        });
        Self {
            name: &written.name,
            place: format!("{}:{}", written.file, written.line),
            group,
            kinds: kinds(spec),
            cases: chapter.count(rule).to_string(),
            has: contents(spec).join(", "),
        }
    }

    /// Where it stands and what it is for, and what it has.
    fn below(&self) -> Vec<String> {
        let Self { place, kinds, has, .. } = self;
        let whole = match self.group {
            Some(group) => format!("{place}: {kinds} of {group}"),
            None => format!("{place}: {kinds}"),
        };
        [wrap(&whole, INDENT), wrap(has, INDENT)].concat()
    }
}

fn table(rules: &[Row]) -> Table {
    let mut table = Table::new(["NAME", "CASES"]);
    for Row { name, cases, .. } in rules {
        table.push(vec![(*name).into(), cases.as_str().into()]);
    }
    table
}

fn wide(rules: &[Row]) -> Table {
    let mut table = Table::new(["NAME", "FILE", "GROUP", "CASES", "HAS", "KINDS"]);
    for Row { name, place, group, kinds, cases, has } in rules {
        table.push(vec![
            (*name).into(),
            place.as_str().into(),
            group.unwrap_or_default().into(),
            cases.as_str().into(),
            has.as_str().into(),
            kinds.as_str().into(),
        ]);
    }
    table
}

/// What a rule is for.
fn kinds(spec: &StatusRuleSpec) -> String {
    let combined = spec.combine.as_ref().map(|combine| format!("add-ons {}", combine.identifiers.join(", ")));
    let kinds = spec.matches.as_ref().map(|matches| {
        let kinds: Vec<&str> = matches.kind.iter().chain(&matches.kinds).map(String::as_str).collect();
        if kinds.is_empty() { "every kind".to_owned() } else { kinds.join(", ") }
    });
    combined.into_iter().chain(kinds).collect::<Vec<_>>().join("; ")
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
