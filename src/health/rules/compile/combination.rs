//! How the components of add-ons combine.

use super::{Outcome, fault, is_kind};
use crate::api::{Combine, CountBy, Identifier, Quorum, Select};

/// The same, where everything in it can be.
pub(super) fn combine(combine: &Combine) -> Outcome<Combine> {
    if combine.identifiers.is_empty() {
        return fault("combine.identifiers", "names no add-on");
    }
    for (n, identifier) in combine.identifiers.iter().enumerate() {
        if Identifier::new(identifier).is_none() {
            return fault("combine.identifiers", format!("{identifier:?} can't be the name part of a label"));
        }
        if combine.identifiers[..n].contains(identifier) {
            return fault("combine.identifiers", format!("{identifier:?} stands there twice"));
        }
    }
    if combine.quorums.is_empty() && combine.informational.is_empty() {
        return fault("combine", "has either quorums or informational components");
    }
    for (n, select) in combine.informational.iter().enumerate() {
        let at = format!("combine.informational[{n}]");
        if *select == Select::default() {
            return fault(at, "names nothing: no component would colour the add-on");
        }
        self::select(select, &at)?;
    }
    for (n, quorum) in combine.quorums.iter().enumerate() {
        self::quorum(quorum, &combine.informational, &format!("combine.quorums[{n}]"))?;
    }
    Ok(combine.clone())
}

fn quorum(quorum: &Quorum, informational: &[Select], at: &str) -> Outcome<()> {
    if quorum.at_least == 0 {
        return fault(format!("{at}.atLeast"), "is at least 1");
    }
    select(&quorum.select, &format!("{at}.select"))?;
    if let Some(most) = most(quorum)
        && usize::try_from(quorum.at_least).map_or(true, |least| least > most)
    {
        let (least, what) = match quorum.by {
            CountBy::Component => (quorum.at_least, "components"),
            CountBy::Install => (quorum.at_least, "installs"),
        };
        return fault(format!("{at}.atLeast"), format!("is {least}, and {most} {what} at most are selected"));
    }
    match informational.iter().position(|shown| includes(shown, &quorum.select)) {
        Some(n) => fault(
            format!("{at}.select"),
            format!("selects only what combine.informational[{n}] leaves out of account"),
        ),
        None => Ok(()),
    }
}

/// How many at most are counted, where that can be told.
fn most(quorum: &Quorum) -> Option<usize> {
    let Select { group, kind, names, namespaces, installs } = &quorum.select;
    let given = |list: &[String]| Some(list.len()).filter(|count| *count > 0);
    match quorum.by {
        CountBy::Install => given(installs),
        CountBy::Component => {
            let names = given(names).filter(|_| !names.iter().any(|name| name.contains('*')))?;
            let is_one_kind = group.is_some() && kind.is_some();
            is_one_kind.then_some(names * given(namespaces)?)
        }
    }
}

/// Whether `wide` selects all that `narrow` does.
fn includes(wide: &Select, narrow: &Select) -> bool {
    let of_word = |wide: &Option<String>, narrow: &Option<String>| wide.is_none() || wide == narrow;
    let of_list = |wide: &[String], narrow: &[String]| {
        wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|word| wide.contains(word)))
    };
    of_word(&wide.group, &narrow.group)
        && of_word(&wide.kind, &narrow.kind)
        && of_list(&wide.names, &narrow.names)
        && of_list(&wide.namespaces, &narrow.namespaces)
        && of_list(&wide.installs, &narrow.installs)
}

/// Refuses what no component has, and what is said twice.
fn select(select: &Select, at: &str) -> Outcome<()> {
    if let Some(kind) = select.kind.as_ref().filter(|kind| !is_kind(kind)) {
        return fault(format!("{at}.kind"), format!("{kind:?} is no kind: kinds are letters and digits"));
    }
    let lists = [
        ("names", &select.names, false),
        ("namespaces", &select.namespaces, true),
        ("installs", &select.installs, true),
    ];
    for (field, list, may_be_empty) in lists {
        for (n, word) in list.iter().enumerate() {
            if word.is_empty() && !may_be_empty {
                return fault(format!("{at}.{field}"), "has an empty text");
            }
            if list[..n].contains(word) {
                return fault(format!("{at}.{field}"), format!("{word:?} stands there twice"));
            }
        }
    }
    Ok(())
}
