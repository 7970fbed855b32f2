//! How an add-on is as a whole, in a word and in a sentence.

use std::borrow::Borrow;

use super::{Component, combination::Tally};
use crate::model::{Health, text};

/// How many different causes a message names, and how many objects for each.
const NAMED: usize = 3;

/// The reason of an add-on with too few healthy components.
const TOO_FEW: &str = "NotEnoughHealthy";

/// How an add-on is, and why.
pub(super) struct Headline {
    pub(super) health: Health,
    pub(super) reason: String,
    pub(super) message: String,
    /// What it fails of though no component does.
    pub(super) lack: Option<Lack>,
}

/// That there are too few of what a quorum counts.
pub(super) struct Lack {
    pub(super) health: Health,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Headline {
    /// From components in order and how the quorums came out.
    pub(super) fn of(components: &[Component], tallies: &[Tally]) -> Self {
        let usual = overall(components, Component::colours);
        let lack = lack(tallies).filter(|_| usual != Health::Suspended && !components.is_empty());
        let health = lack.as_ref().map_or(usual, |lack| usual.worst(lack.health));
        let (reason, message) = words(components, tallies, health, lack.as_ref());
        Self { health, reason, message: text::message(&message), lack }
    }
}

/// The worst of the components that `count`: suspended ones don't.
pub(super) fn overall<C: Borrow<Component>>(components: &[C], count: impl Fn(&Component) -> bool) -> Health {
    let counting = components.iter().map(C::borrow).filter(|component| count(component));
    let mut suspended = false;
    let mut worst = None;
    for health in counting.map(Component::health) {
        if health == Health::Suspended {
            suspended = true;
        } else {
            worst = Some(worst.map_or(health, |worst: Health| worst.worst(health)));
        }
    }
    match worst {
        Some(worst) => worst,
        None if suspended => Health::Suspended,
        None if components.is_empty() => Health::Unknown,
        None => Health::Healthy,
    }
}

fn lack(tallies: &[Tally]) -> Option<Lack> {
    let health = tallies.iter().filter_map(|tally| tally.lack).reduce(Health::worst)?;
    let lacking: Vec<String> = tallies.iter().filter(|t| t.lack.is_some()).map(Tally::to_string).collect();
    Some(Lack { health, reason: TOO_FEW, message: text::message(&lacking.join("; ")) })
}

fn words(
    components: &[Component],
    tallies: &[Tally],
    health: Health,
    lack: Option<&Lack>,
) -> (String, String) {
    let total = components.len();
    if total == 0 {
        return ("NoComponents".to_owned(), "no object carries the label".to_owned());
    }
    let mut said: Vec<String> =
        tallies.iter().filter(|tally| tally.is_news()).map(Tally::to_string).collect();
    let bad: Vec<&Component> = components.iter().filter(|c| c.colours() && c.health().is_ill()).collect();
    let spare: Vec<&Component> = components.iter().filter(|c| c.spare).collect();
    if !bad.is_empty() {
        said.push(format!("{} of {total} not healthy: {}", bad.len(), causes(&bad)));
    } else if !spare.is_empty() {
        said.push(format!("spare: {}", causes(&spare)));
    } else if lack.is_none() {
        said.push(all_well(components, health));
    }
    let worst = bad.first().filter(|worst| worst.health() == health);
    let reason = match (worst, lack) {
        (Some(worst), _) => worst.reason(),
        (None, Some(lack)) => lack.reason,
        _ if health == Health::Suspended => "AllSuspended",
        _ if spare.is_empty() => "AllHealthy",
        _ => "EnoughHealthy",
    };
    (reason.to_owned(), said.join("; "))
}

fn all_well(components: &[Component], health: Health) -> String {
    let colouring = components.iter().filter(|c| c.colours()).count();
    let suspended = components.iter().filter(|c| c.colours() && c.health() == Health::Suspended).count();
    let mut message = match health {
        Health::Suspended => format!("{suspended} of {colouring} suspended"),
        _ if suspended > 0 => format!("{} healthy, {suspended} suspended", colouring - suspended),
        _ => format!("all {colouring} healthy"),
    };
    if colouring < components.len() {
        message.push_str(&format!(", {} informational", components.len() - colouring));
    }
    message
}

/// At most [`NAMED`] causes, worst first, each with the objects that share it.
fn causes(bad: &[&Component]) -> String {
    let mut groups: Vec<(Health, &str, Vec<&Component>)> = Vec::new();
    let mut rest = 0_usize;
    for component in bad {
        let (health, said) = (component.health(), component.said());
        match groups.iter().position(|group| (group.0, group.1) == (health, said)) {
            Some(place) => groups[place].2.push(component),
            None if groups.len() < NAMED => groups.push((health, said, vec![component])),
            None => rest += 1,
        }
    }
    let mut text: Vec<String> = groups
        .iter()
        .map(|(_, said, objects)| {
            let mut names: Vec<String> = objects.iter().take(NAMED).map(|c| name(c)).collect();
            if objects.len() > NAMED {
                names.push(format!("{} more", objects.len() - NAMED));
            }
            format!("{}: {said}", names.join(", "))
        })
        .collect();
    if rest > 0 {
        text.push(format!("and {rest} more"));
    }
    text.join("; ")
}

fn name(component: &Component) -> String {
    let mark = if component.flapping().is_some() { " (flapping)" } else { "" };
    format!("{component}{mark}")
}
