use std::{
    collections::{BTreeMap, HashMap},
    io::{self, BufWriter, Write},
};

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{
    Error, Exit, Io,
    age::age,
    args::{HealthArgs, Verdicts},
    files::{self, Report},
    output::Reference,
    rules,
    table::{Cell, NONE, Table},
    wrap::wrap,
};
use crate::{
    dump::Reader,
    health::{Judgement, Rules, judge},
    model::{Fact, Health, Object, ObjectRef, Timeline, Timestamp, Verdict},
};

/// Columns of what stands below an object.
const INDENT: usize = 4;

/// An object that was judged.
struct Judged {
    reference: ObjectRef,
    timeline: Timeline,
    facts: Vec<Fact>,
}

/// An object of the input.
enum Seen {
    Judged(Box<Judged>),
    /// A definition further on may still tell that its kind reports a status.
    Open(Box<Object>),
}

/// `addonctl health`.
pub(super) fn run(args: &HealthArgs, colour: bool, io: &mut Io<'_>) -> Result<Exit, Error> {
    let own = rules::read(&args.rules);
    let rules = own.in_force();
    let mut seen = Vec::new();
    let reader = Reader::each(|object| seen.push(Seen::new(object, &rules)));
    let mut dump = files::finish(reader, &args.files, io.stdin);
    let closed = |seen| match seen {
        Seen::Judged(judged) => *judged,
        Seen::Open(mut object) => {
            dump.definitions.tell(&mut object);
            Judged::new(*object, &rules)
        }
    };
    let judged: Vec<Judged> = seen.into_iter().map(closed).collect();
    let now = args.now.map_or_else(|| files::taken(&dump, io.now), |moment| moment.at(io.now));
    let report = Report::of(&mut dump);
    let mut rows: Vec<Row> = judged.iter().map(|judged| judged.row(now)).collect();
    let mut stdout = BufWriter::new(&mut *io.stdout);
    match args.output {
        Verdicts::Json => rows.iter().try_for_each(|row| row.json(&mut stdout))?,
        _ if rows.is_empty() => {}
        Verdicts::Wide => {
            sort(&mut rows);
            stdout.write_all(wide(&rows, now).render(!args.no_headers, colour).as_bytes())?;
        }
        Verdicts::Table => {
            sort(&mut rows);
            table(&rows, args, now, Look { colour, columns: io.columns }, &mut stdout)?;
        }
    }
    stdout.flush()?;
    drop(stdout);
    if rows.is_empty() && args.output != Verdicts::Json {
        writeln!(io.stderr, "No objects found.")?;
        report.extent(io.stderr)?;
    }
    report.problems(io.stderr)?;
    own.say(true, io.stderr)?;
    Ok(if own.is_right() { report.exit() } else { Exit::Failure })
}

impl Seen {
    fn new(object: Object, rules: &Rules) -> Self {
        let has_status = object.status.as_object().is_some_and(|status| !status.is_empty());
        if has_status { Self::Judged(Judged::new(object, rules).into()) } else { Self::Open(object.into()) }
    }
}

impl Judged {
    fn new(object: Object, rules: &Rules) -> Self {
        let Judgement { timeline, facts, .. } = judge(&object, rules);
        Self { reference: object.reference, timeline, facts }
    }

    fn row(&self, now: Timestamp) -> Row<'_> {
        let Self { reference, timeline, facts } = self;
        Row { reference, verdict: timeline.at(now), facts }
    }
}

/// An object with the verdict that holds.
#[derive(Clone, Copy)]
struct Row<'a> {
    reference: &'a ObjectRef,
    verdict: &'a Verdict,
    facts: &'a [Fact],
}

impl Row<'_> {
    fn json(&self, to: &mut impl Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Line<'a> {
            reference: Reference<'a>,
            health: &'a str,
            reason: &'a str,
            message: &'a str,
            since: Option<Timestamp>,
            rule: &'a str,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            facts: BTreeMap<&'a str, &'a str>,
        }
        let Self { reference, verdict, facts } = self;
        let reference = Reference::of(reference);
        let Verdict { health, reason, message, since, rule } = verdict;
        let facts = facts.iter().map(|fact| (&*fact.name, &*fact.value)).collect();
        let line = Line { reference, health: health.as_str(), reason, message, since: *since, rule, facts };
        serde_json::to_writer(&mut *to, &line)?;
        writeln!(to)
    }

    /// `namespace/name`, as far as there are any.
    fn name(&self) -> String {
        let ObjectRef { namespace, name, .. } = self.reference;
        let name = if name.is_empty() { NONE } else { name };
        if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
    }

    /// The reason, and the message where there is one.
    fn why(&self) -> String {
        let Verdict { reason, message, .. } = self.verdict;
        if message.is_empty() { reason.to_string() } else { format!("{reason}: {message}") }
    }

    fn age(&self, now: Timestamp) -> String {
        self.verdict.since.map(|since| age(since, now)).unwrap_or_default()
    }
}

/// Puts the worst first, and otherwise what is alike beside each other.
fn sort(rows: &mut [Row]) {
    let key = |row: &Row| {
        let ObjectRef { kind, namespace, name, .. } = row.reference;
        (row.verdict.health.rank(), kind.group.clone(), kind.kind.clone(), namespace.clone(), name.clone())
    };
    rows.sort_by_cached_key(key);
}

/// The names of kinds, with the group where two groups have one of the same name.
struct KindNames<'a>(HashMap<&'a str, Option<&'a str>>);

impl<'a> KindNames<'a> {
    fn of(rows: &[Row<'a>]) -> Self {
        let mut groups = HashMap::new();
        for kind in rows.iter().map(|row| &row.reference.kind) {
            let group = groups.entry(&*kind.kind).or_insert(Some(&*kind.group));
            *group = group.filter(|group| *group == kind.group);
        }
        Self(groups)
    }

    fn name(&self, row: &Row) -> String {
        let kind = &row.reference.kind;
        let is_unique = self.0.get(&*kind.kind).is_some_and(Option::is_some);
        if is_unique { kind.kind.clone() } else { kind.group_kind().to_string() }
    }
}

/// A line an object.
fn wide(rows: &[Row], now: Timestamp) -> Table {
    let kinds = KindNames::of(rows);
    let mut table = Table::new(["KIND", "NAMESPACE/NAME", "HEALTH", "REASON", "SINCE", "MESSAGE"]);
    for row in rows {
        table.push(vec![
            kinds.name(row).into(),
            row.name().into(),
            Cell::health(row.verdict.health.as_str()),
            (&*row.verdict.reason).into(),
            row.age(now).into(),
            row.verdict.message.as_str().into(),
        ]);
    }
    table
}

/// How a table looks.
#[derive(Clone, Copy)]
struct Look {
    colour: bool,
    /// How wide the terminal is; `None` where there is none.
    columns: Option<usize>,
}

/// A line an object, and what is wrong with it below.
fn table(rows: &[Row], args: &HealthArgs, now: Timestamp, look: Look, to: &mut impl Write) -> io::Result<()> {
    let kinds = KindNames::of(rows);
    let mut table = Table::new(["HEALTH", "SINCE", "OBJECT"]);
    for row in rows {
        table.push(vec![
            Cell::health(row.verdict.health.as_str()),
            row.age(now).into(),
            kinds.name(row).into(),
        ]);
    }
    let widths: Vec<usize> = table.lines(true, false).into_iter().map(|line| line.width()).collect();
    let mut lines = table.lines(true, look.colour).into_iter().zip(widths);
    if let Some((titles, _)) = lines.next().filter(|_| !args.no_headers) {
        writeln!(to, "{titles}")?;
    }
    for ((line, width), row) in lines.zip(rows) {
        let name = row.name();
        // Cut, a name could be mistaken for another and not be copied.
        if look.columns.is_none_or(|columns| width + 1 + name.width() <= columns) {
            writeln!(to, "{line} {name}")?;
        } else {
            writeln!(to, "{line}\n{:INDENT$}{name}", "")?;
        }
        if row.verdict.health != Health::Healthy {
            for line in wrap(&row.why(), INDENT) {
                writeln!(to, "{:INDENT$}{line}", "")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
