//! Where the cause lies for the kinds of other projects: what the `causes` of rules say.
//!
//! - `at` is a path to a reference, to a list of them, or to `name` or `namespace/name`. Lists on the
//!   way are gone through. Where the references say how their objects are (`health: {status: ...}`),
//!   those that are well are left out, and the word on the others counts where they can't be looked at.
//! - `owned` objects have this one among their owners; `labels` narrows them, or stands for it.
//! - `named` objects are those that the conditions' messages name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    State,
    lead::{Bond, DefaultReference, Lead, Listing, Named, Target, Told},
    mention,
    selector::Selector,
};
use crate::{
    api::CauseRule,
    health::CauseLead,
    model::{GroupKind, Health, Object, decode::text_at, text},
};

/// The most objects that one row leads to.
const MOST: usize = 10;

/// The objects in which the cause may lie that `object` is in this state.
pub(super) fn leads(object: &Object, state: State<'_>, cause: &CauseLead) -> Vec<Lead> {
    let rule = &cause.rule;
    let mut leads = references(object, cause);
    if let Some(kind) = &rule.kind
        && (rule.owned || !rule.labels.is_empty())
    {
        leads.push(listed(object, rule, kind));
    }
    if rule.named {
        let messages = messages(object).chain([state.verdict.message.as_str()]);
        let named = mention::named(messages, &object.reference.namespace).into_iter();
        leads
            .extend(named.map(|named| Lead::new("named in its message", Target::One(named), Bond::Mentions)));
    }
    leads
}

fn references(object: &Object, cause: &CauseLead) -> Vec<Lead> {
    let rule = &cause.rule;
    let mut values = cause.references(object);
    if values.iter().any(|value| hint(value).is_some()) {
        values.retain(|value| hint(value).is_some_and(|word| Health::parse(word) != Health::Healthy));
        values.sort_by_key(|value| hint(value).map(badness));
    }
    let default = DefaultReference {
        group: &rule.group,
        kind: rule.kind.as_deref(),
        namespace: &object.reference.namespace,
    };
    let via = || rule.at.clone().unwrap_or_default();
    let lead = |value: &Value| {
        let target = Target::One(Named::of_reference(value, &default)?);
        let told = told(value);
        // What is said to be ill explains its object whatever it says itself.
        let bond = if told.is_some() { Bond::Needs } else { Bond::Refers };
        Some(Lead { told, ..Lead::new(via(), target, bond) })
    };
    values.iter().filter_map(lead).take(MOST).collect()
}

/// How a reference says that its object is.
fn hint(reference: &Value) -> Option<&str> {
    let health = reference.get("health")?;
    health.as_str().or_else(|| text_at(health, "status"))
}

/// Those that are said to fail first, then those that are said not to be there.
fn badness(word: &str) -> (u8, bool) {
    let is_missing = word == "Missing";
    let health = if is_missing { Health::Degraded } else { Health::parse(word) };
    (health.rank(), is_missing)
}

/// What a reference says of its object that fails or isn't there.
fn told(reference: &Value) -> Option<Told> {
    let word = hint(reference).filter(|word| badness(word).0 == Health::Degraded.rank())?;
    let said = reference.get("health").and_then(|health| text_at(health, "message"));
    let message = said.or_else(|| text_at(reference, "message")).unwrap_or_default();
    Some(Told { word: text::word(word), message: text::message(message) })
}

fn listed(object: &Object, rule: &CauseRule, kind: &str) -> Lead {
    let reference = &object.reference;
    let own =
        |text: &String| text.replace("{name}", &reference.name).replace("{namespace}", &reference.namespace);
    let labels: BTreeMap<String, String> =
        rule.labels.iter().map(|(key, value)| (key.clone(), own(value))).collect();
    let listing = Listing {
        kind: GroupKind { group: rule.group.clone(), kind: kind.to_owned() },
        namespace: reference.namespace.to_string(),
        selector: Selector::of_pairs(&labels),
        owner: rule.owned.then(|| reference.clone()),
    };
    Lead::new(format!("its {kind}"), Target::Many(listing), Bond::Made)
}

/// What the conditions say, whole: a verdict's message is cut.
fn messages(object: &Object) -> impl Iterator<Item = &str> {
    let conditions = object.status.get("conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.filter_map(|condition| text_at(condition, "message"))
}
