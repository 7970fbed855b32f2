use std::fmt::Write as _;

use kube::ResourceExt;
use unicode_width::UnicodeWidthStr;

use super::{
    Error, Exit, Io,
    age::age,
    args::{One, Source},
    computed, files,
    live::{self, FromCluster},
    looks::{Below, Bounds},
    output::sentence,
    server::Server,
    table::{Cell, NONE, Table, health_style, paint},
    wrap::wrap,
};
use crate::{
    api::{Addon, AddonStatus, ComponentStatus, condition},
    health::Rules,
    model::{Health, Timestamp},
};

/// Columns of what stands below a component.
const INDENT: usize = 4;

/// Columns of a field's name.
const FIELD: usize = 13;

/// How a description looks.
#[derive(Clone, Copy)]
struct Look {
    colour: bool,
    /// How wide the terminal is; `None` where there is none.
    columns: Option<usize>,
}

/// `addonctl describe`.
pub(super) async fn run(args: &One, colour: bool, io: &mut Io<'_>) -> Result<Exit, Error> {
    let look = Look { colour, columns: io.columns };
    let (text, exit) = match &args.source {
        Source::Server(connection) => {
            let addon = Server::new(connection).await?.addon(&args.object_names).await?;
            let addon = addon.ok_or_else(|| args.not_found(true))?;
            let since = ready_since(&addon);
            (describe(&addon, since, io.now, look), Exit::Success)
        }
        Source::Live { connection, prefix } => {
            let FromCluster { census, gaps, server, users } = live::read(connection, prefix, &[]).await?;
            gaps.say(io.stderr)?;
            let (below, rules) = (Below::Cluster(server.below().await?), Rules::with(users));
            let names = Some(&*args.object_names);
            let (addons, looks) =
                computed::explained(census, io.now, (&below, &rules), Bounds::CLUSTER, names).await;
            looks.say(io.stderr)?;
            let computed = computed::find(addons, &args.object_names);
            let computed = computed.ok_or_else(|| args.not_found(gaps.are_none()))?;
            (describe(&computed.addon, computed.since, io.now, look), gaps.exit())
        }
        Source::Files { paths, prefix } => {
            let rules = Rules::builtin();
            let (found, objects) = files::read(paths, prefix, &rules, io.stdin, io.now);
            found.report.problems(io.stderr)?;
            let below = (&Below::Files(objects, found.taken), &*rules);
            let names = Some(&*args.object_names);
            let (addons, _) =
                computed::explained(found.census, found.taken, below, Bounds::FILES, names).await;
            let computed = computed::find(addons, &args.object_names);
            let computed = computed.ok_or_else(|| args.not_found(found.report.is_whole()))?;
            (describe(&computed.addon, computed.since, found.taken, look), found.report.exit())
        }
    };
    io.stdout.write_all(text.as_bytes())?;
    io.stdout.flush()?;
    Ok(exit)
}

fn ready_since(addon: &Addon) -> Option<Timestamp> {
    let conditions = &addon.status.as_ref()?.conditions;
    Some(conditions.iter().find(|condition| condition.kind == condition::READY)?.last_transition_time.0)
}

/// An add-on for people: itself, then its components, those first that need eyes.
fn describe(addon: &Addon, since: Option<Timestamp>, now: Timestamp, look: Look) -> String {
    let unwritten = AddonStatus { health: Health::Unknown.to_string(), ..AddonStatus::default() };
    let status = addon.status.as_ref().unwrap_or(&unwritten);
    let mut text = String::new();
    header(&mut text, addon, status, since, now, look.colour);
    if status.components.is_empty() {
        field(&mut text, "Components", NONE);
    } else {
        text.push_str("\nComponents:\n");
        components(&mut text, &status.components, now, look);
    }
    if status.omitted > 0 {
        let name = &addon.spec.identifier;
        let note = format!(
            "{} more components are counted and not listed here, none worse than these. The controller serves \
             all of them at /api/v1alpha1/addons/{name}.",
            status.omitted
        );
        text.push('\n');
        lines(&mut text, &note, 0);
    }
    text
}

fn header(
    text: &mut String,
    addon: &Addon,
    status: &AddonStatus,
    since: Option<Timestamp>,
    now: Timestamp,
    colour: bool,
) {
    field(text, "Name", &addon.name_any());
    field(text, "Identifier", &addon.spec.identifier);
    let health = paint(&status.health, health_style(&status.health), colour);
    field(
        text,
        "Health",
        &if status.reason.is_empty() { health } else { format!("{health} ({})", status.reason) },
    );
    field(text, "Message", &status.message);
    field(text, "Ready", &status.ready);
    field(text, "Since", &since.map(|since| format!("{} ({since})", age(since, now))).unwrap_or_default());
    field(text, "Version", status.version.as_deref().unwrap_or_default());
    if let Some(observed) = status.conditions.iter().find(|condition| condition.kind == condition::OBSERVED) {
        field(text, "Observed", &sentence(&observed.status, &observed.reason, &observed.message));
    }
    if !status.facts.is_empty() {
        text.push_str("\nFacts:\n");
        for fact in &status.facts {
            lines(text, &format!("{}: {}", fact.name, fact.value), INDENT);
        }
    }
    if !status.installs.is_empty() {
        let mut table = Table::new(["INSTALL", "HEALTH", "READY"]);
        for install in &status.installs {
            table.push(vec![
                install.name.as_str().into(),
                Cell::health(&install.health),
                install.ready.as_str().into(),
            ]);
        }
        text.push_str("\nInstalls:\n");
        text.push_str(&table.render(true, colour));
    }
}

fn components(text: &mut String, components: &[ComponentStatus], now: Timestamp, look: Look) {
    let mut table = Table::new(["HEALTH", "REASON", "COMPONENT"]);
    for component in components {
        table.push(vec![
            Cell::health(&component.health),
            component.reason.as_str().into(),
            kind(component, components).into(),
        ]);
    }
    let widths = table.lines(true, false).into_iter().map(|row| row.width());
    let mut rows = table.lines(true, look.colour).into_iter().zip(widths);
    if let Some((titles, _)) = rows.next() {
        let _ = writeln!(text, "{titles}");
    }
    for ((row, width), component) in rows.zip(components) {
        let name = name(component);
        // Cut, a name could be mistaken for another and not be copied.
        let fits = look.columns.is_none_or(|columns| width + 1 + name.width() <= columns);
        let _ =
            if fits { writeln!(text, "{row} {name}") } else { writeln!(text, "{row}\n{:INDENT$}{name}", "") };
        details(text, component, now);
    }
}

/// The kind of a component, with the group where another component's kind has the same name.
fn kind(component: &ComponentStatus, all: &[ComponentStatus]) -> String {
    let ComponentStatus { group, kind, .. } = component;
    if !group.is_empty() && all.iter().any(|other| other.kind == *kind && other.group != *group) {
        return format!("{kind}.{group}");
    }
    kind.clone()
}

/// The name of a component, and what else tells it apart.
fn name(component: &ComponentStatus) -> String {
    let ComponentStatus { namespace, name, install, .. } = component;
    let mut title = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
    if !install.is_empty() {
        title = format!("{title} [{install}]");
    }
    if let Some(importance) = component.importance.as_deref().filter(|importance| *importance != "normal") {
        title = format!("{title} ({importance})");
    }
    title
}

/// Why a component isn't well: its message, its cause and what its own conditions say besides; and
/// that it flaps, however it is.
fn details(text: &mut String, component: &ComponentStatus, now: Timestamp) {
    if let Some(flapping) = &component.flapping {
        let (length, last) = (age(flapping.first.0, flapping.last.0), age(flapping.last.0, now));
        let line = format!("flapping: {} changes in {length}, the last {last} ago", flapping.changes);
        lines(text, &line, INDENT);
    }
    if Health::parse(&component.health) == Health::Healthy {
        return;
    }
    let since = component.since.as_ref().map(|since| format!("for {}", age(since.0, now)));
    let message = [since.as_deref(), Some(component.message.as_str()).filter(|message| !message.is_empty())];
    lines(text, &message.into_iter().flatten().collect::<Vec<_>>().join(": "), INDENT);
    if let Some(cause) = &component.cause {
        let place = if cause.namespace.is_empty() { String::new() } else { format!("{}/", cause.namespace) };
        let message = if component.message.contains(&cause.message) { "" } else { &cause.message };
        let object = format!("cause: {} {place}{}", cause.kind, cause.name);
        lines(text, &sentence(&object, &cause.reason, message), INDENT);
    }
    for condition in &component.conditions {
        let message = if component.message.contains(&condition.message) { "" } else { &condition.message };
        let state = format!("{}={}", condition.kind, condition.status);
        lines(text, &sentence(&state, &condition.reason, message), INDENT);
    }
}

fn field(text: &mut String, name: &str, value: &str) {
    let value = if value.is_empty() { NONE } else { value };
    let mut name = format!("{name}:");
    for line in wrap(value, FIELD) {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{name:width$} {line}", width = FIELD - 1);
        name.clear();
    }
}

fn lines(text: &mut String, content: &str, indent: usize) {
    for line in wrap(content, indent) {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
}

#[cfg(test)]
mod tests;
