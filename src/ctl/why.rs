//! `addonctl why`: from an add-on down to what makes it ill.

use std::sync::Arc;

use super::{
    Error, Exit, Io,
    args::{One, Source},
    computed, files,
    live::{self, FromCluster},
    output::sentence,
    server::Server,
    table::{health_style, paint},
    tree::Branch,
};
use crate::{
    api::{Addon, AddonStatus, ComponentStatus},
    explain::{self, Files, Gap, Limits, Named, Refusal, Says, Step},
    health::{Rule, Rules},
    model::{Health, Timestamp},
};

/// How many components are explained.
const EXPLAINED: usize = 10;

/// Where the objects below a component are looked for.
enum Below {
    Cluster(explain::Server),
    Files(Files, Timestamp),
}

/// What was found below a component.
enum Found {
    Step(Box<Step>),
    /// The component isn't there any more.
    Gone,
    Refused(Refusal),
}

/// `addonctl why`.
pub(super) async fn run(args: &One, colour: bool, io: &mut Io<'_>) -> Result<Exit, Error> {
    let (addon, below, rules, exit) = match &args.source {
        Source::Server(connection) => {
            let server = Server::new(connection).await?;
            let addon = server.addon(&args.object_names).await?.ok_or_else(|| args.not_found(true))?;
            let (users, _) = live::rules(&server).await?;
            (addon, Below::Cluster(server.below().await?), with(users), Exit::Success)
        }
        Source::Live { connection, prefix } => {
            let FromCluster { census, gaps, server, users } = live::read(connection, prefix).await?;
            gaps.say(io.stderr)?;
            let computed = computed::find(computed::addons(census, io.now), &args.object_names);
            let addon = computed.ok_or_else(|| args.not_found(gaps.are_none()))?.addon;
            (addon, Below::Cluster(server.below().await?), with(users), gaps.exit())
        }
        Source::Files { paths, prefix } => {
            let (found, objects) = files::read_all(paths, prefix, io.stdin, io.now);
            found.report.problems(io.stderr)?;
            let computed = computed::find(computed::addons(found.census, found.taken), &args.object_names);
            let addon = computed.ok_or_else(|| args.not_found(found.report.is_whole()))?.addon;
            (addon, Below::Files(objects, found.taken), Rules::builtin(), found.report.exit())
        }
    };
    let (tree, is_whole) = explained(&addon, &below, &rules, colour).await;
    io.stdout.write_all(tree.render().as_bytes())?;
    io.stdout.flush()?;
    Ok(if is_whole { exit } else { Exit::Failure })
}

/// The built-in rules with those of users before them.
fn with(users: Vec<Arc<Rule>>) -> Arc<Rules> {
    Arc::new(Rules::with(users))
}

/// The tree of an add-on, and whether everything could be looked at.
async fn explained(addon: &Addon, below: &Below, rules: &Rules, colour: bool) -> (Branch, bool) {
    let unwritten = AddonStatus { health: Health::Unknown.to_string(), ..AddonStatus::default() };
    let status = addon.status.as_ref().unwrap_or(&unwritten);
    let mut root = Branch { head: headline(addon, status, colour), ..Branch::default() };
    let is_ill = |component: &&ComponentStatus| Health::parse(&component.health).is_ill();
    let ill: Vec<&ComponentStatus> = status.components.iter().filter(is_ill).collect();
    if ill.is_empty() {
        root.notes.push(status.message.clone());
    }
    let mut is_whole = true;
    for component in ill.iter().take(EXPLAINED) {
        let found = below.explain(component, rules).await;
        is_whole &= found.is_whole();
        root.below.push(component_branch(component, found, colour));
    }
    match ill.len().saturating_sub(EXPLAINED) {
        0 => {}
        more => {
            root.below
                .push(Branch { head: format!("and {more} more that aren't well"), ..Branch::default() });
        }
    }
    (root, is_whole)
}

fn headline(addon: &Addon, status: &AddonStatus, colour: bool) -> String {
    let state = state(&status.health, &status.reason, colour);
    let ready = if status.ready.is_empty() { String::new() } else { format!(", {} healthy", status.ready) };
    format!("{}: {state}{ready}", addon.spec.identifier)
}

impl Below {
    async fn explain(&self, component: &ComponentStatus, rules: &Rules) -> Found {
        let reference = component.reference();
        match self {
            Self::Cluster(server) => {
                match explain::explain_by_name(server, &reference, rules, Limits::WIDE).await {
                    Ok(Some(step)) => Found::Step(Box::new(step)),
                    Ok(None) => Found::Gone,
                    Err(refusal) => Found::Refused(refusal),
                }
            }
            Self::Files(files, now) => {
                let kind = &reference.kind;
                let named = Named::new(&kind.group, &kind.kind, &reference.namespace, &reference.name);
                match files.find(&named) {
                    Some(object) => {
                        let step = explain::explain(files, object, rules, Limits::WIDE, *now).await;
                        Found::Step(Box::new(step))
                    }
                    None => Found::Gone,
                }
            }
        }
    }
}

impl Found {
    fn is_whole(&self) -> bool {
        match self {
            Self::Step(step) => is_whole(step),
            Self::Gone => true,
            Self::Refused(_) => false,
        }
    }
}

/// Whether nothing below was refused that might have been shown.
fn is_whole(step: &Step) -> bool {
    let refused = |gap: &Gap| matches!(gap, Gap::Refused(Refusal::Forbidden(_) | Refusal::Failed { .. }));
    !step.gaps.iter().any(refused) && step.below.iter().all(is_whole)
}

/// A component as the add-on counts it, with what lies below.
fn component_branch(component: &ComponentStatus, found: Found, colour: bool) -> Branch {
    let object = component.reference();
    // Computed from files or live, a component doesn't know yet what its own pods know.
    let blamed = match &found {
        Found::Step(step) if Health::parse(&component.health) == Health::Progressing => {
            step.explanation().evidence
        }
        _ => None,
    };
    let state = match &blamed {
        Some(verdict) => state(verdict.health.as_str(), &verdict.reason, colour),
        None => state(&component.health, &component.reason, colour),
    };
    let mut branch = Branch {
        head: format!("{object}: {state} [{}]", component.rule),
        notes: note(&component.message),
        below: Vec::new(),
    };
    match found {
        Found::Gone => branch.notes.push("it isn't there any more".to_owned()),
        Found::Refused(refusal) => branch.notes.push(refusal.to_string()),
        Found::Step(step) => {
            branch.notes.extend(step.gaps.iter().map(ToString::to_string));
            branch.below = step.below.iter().map(|step| step_branch(step, colour)).collect();
        }
    }
    branch
}

fn step_branch(step: &Step, colour: bool) -> Branch {
    let via = if step.via.is_empty() { String::new() } else { format!("{}: ", step.via) };
    let (state, rule) = match &step.says {
        Says::Verdict(verdict) => {
            (state(verdict.health.as_str(), &verdict.reason, colour), format!(" [{}]", verdict.rule))
        }
        Says::Event(_) => (sentence("event", step.says.reason(), ""), String::new()),
        Says::Lacks { reason, .. } => {
            (paint(reason, health_style(Health::Degraded.as_str()), colour), String::new())
        }
    };
    let mut notes = note(step.says.message());
    notes.extend(step.gaps.iter().map(ToString::to_string));
    Branch {
        head: format!("{via}{}: {state}{rule}", step.object),
        notes,
        below: step.below.iter().map(|step| step_branch(step, colour)).collect(),
    }
}

fn state(health: &str, reason: &str, colour: bool) -> String {
    sentence(&paint(health, health_style(health), colour), reason, "")
}

fn note(message: &str) -> Vec<String> {
    if message.is_empty() { Vec::new() } else { vec![message.to_owned()] }
}
