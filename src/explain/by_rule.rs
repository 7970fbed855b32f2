//! Where the cause lies for the kinds of other projects: what the `causes` of rules say.
//!
//! - `at` is a path to a reference, to a list of them, or to `name` or `namespace/name`. Lists on the
//!   way are gone through. Where the references say how their objects are (`health: {status: ...}`),
//!   those that are well are left out.
//! - `owned` objects have this one among their owners; `labels` narrows them, or stands for it.
//! - `named` objects are those that the conditions' messages name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    State,
    lead::{Bond, DefaultReference, Lead, Listing, Named, Target},
    mention,
    selector::Selector,
};
use crate::{
    api::CauseRule,
    health::CauseLead,
    model::{GroupKind, Health, Object, decode::text_at},
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
        values.retain(|value| hint(value).is_some_and(|health| health != Health::Healthy));
        values.sort_by_key(|value| hint(value).map(Health::rank));
    }
    let default = DefaultReference {
        group: &rule.group,
        kind: rule.kind.as_deref(),
        namespace: &object.reference.namespace,
    };
    let named = values.iter().filter_map(|value| Named::of_reference(value, &default));
    let via = || rule.at.clone().unwrap_or_default();
    named.take(MOST).map(|named| Lead::new(via(), Target::One(named), Bond::Refers)).collect()
}

/// How a reference says that its object is.
fn hint(reference: &Value) -> Option<Health> {
    let health = reference.get("health")?;
    let word = health.as_str().or_else(|| text_at(health, "status"))?;
    Some(Health::parse(word))
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
