//! The tests of rows. Each says one thing: of what says two, nobody can tell which was meant.

use serde_json::Value;

use super::{Outcome, contradiction, fault};
use crate::{
    api::{Items, OneOrMany, Test},
    health::rules::{
        matching::{Check, Is, Number},
        path::Path,
    },
};

/// How deep tests may stand in each other.
const MAX_DEPTH: usize = 4;
/// How many tests a rule may have.
const MAX_TESTS: usize = 512;

/// Counts the tests of one rule.
#[derive(Default)]
pub(super) struct Tests {
    count: usize,
}

impl Tests {
    /// The tests at a place, ready to be made.
    pub(super) fn checks(&mut self, tests: &[Test], at: &str) -> Outcome<Vec<Check>> {
        let checks = self.all(tests, at, false, 0)?;
        contradiction::check(tests, at)?;
        Ok(checks)
    }

    fn all(&mut self, tests: &[Test], at: &str, in_item: bool, depth: usize) -> Outcome<Vec<Check>> {
        if depth > MAX_DEPTH {
            return fault(at, format!("tests stand at most {MAX_DEPTH} deep in each other"));
        }
        let mut checks = Vec::new();
        for (n, test) in tests.iter().enumerate() {
            self.one(test, &format!("{at}[{n}]"), in_item, depth, &mut checks)?;
        }
        Ok(checks)
    }

    fn one(
        &mut self,
        test: &Test,
        at: &str,
        in_item: bool,
        depth: usize,
        checks: &mut Vec<Check>,
    ) -> Outcome<()> {
        self.count += 1;
        if self.count > MAX_TESTS {
            return fault(at, format!("a rule has at most {MAX_TESTS} tests"));
        }
        is_one_thing(test, at)?;
        checks.extend(condition(test, at)?);
        field(test, at, in_item, checks)?;
        if !test.any.is_empty() {
            checks.push(Check::Any(self.all(&test.any, &format!("{at}.any"), in_item, depth + 1)?));
        }
        if !test.none.is_empty() {
            checks.push(Check::None(self.all(&test.none, &format!("{at}.none"), in_item, depth + 1)?));
        }
        if let Some(items) = &test.some {
            let (path, inner) = self.items(items, &format!("{at}.some"), in_item, depth)?;
            checks.push(Check::Some { path, checks: inner });
        }
        if let Some(items) = &test.every {
            let (path, inner) = self.items(items, &format!("{at}.every"), in_item, depth)?;
            checks.push(Check::Every { path, checks: inner });
        }
        Ok(())
    }

    fn items(&mut self, items: &Items, at: &str, in_item: bool, depth: usize) -> Outcome<(Path, Vec<Check>)> {
        let path = scoped_path(&items.at, &format!("{at}.at"), in_item)?;
        if items.tests.is_empty() {
            return fault(at, "where says what an item must pass: it has no tests");
        }
        let checks = self.all(&items.tests, &format!("{at}.where"), true, depth + 1)?;
        contradiction::check(&items.tests, &format!("{at}.where"))?;
        Ok((path, checks))
    }
}

/// Refuses a test of nothing, and one of several things.
fn is_one_thing(test: &Test, at: &str) -> Outcome<()> {
    let of_condition =
        [&test.status, &test.reason, &test.reason_not, &test.message].iter().any(|words| !words.is_empty());
    if of_condition && test.condition.is_none() {
        return fault(at, "status, reason, reasonNot and message belong to a condition, which isn't named");
    }
    let of_field = [
        ("in", test.one_of.is_some()),
        ("contains", !test.contains.is_empty()),
        ("exists", test.exists.is_some()),
        ("atLeast", test.at_least.is_some()),
        ("below", test.below.is_some()),
    ];
    let of_field = given(&of_field);
    if !of_field.is_empty() && test.path.is_none() {
        return fault(at, "in, contains, exists, atLeast and below belong to a path, which isn't given");
    }
    let all = [
        ("condition", test.condition.is_some()),
        ("path", test.path.is_some()),
        ("any", !test.any.is_empty()),
        ("none", !test.none.is_empty()),
        ("some", test.some.is_some()),
        ("every", test.every.is_some()),
    ];
    match given(&all)[..] {
        [] => return fault(at, "tests nothing: give a condition, a path, any, none, some or every"),
        [_] => {}
        [..] => {
            let all = given(&all).join(" and ");
            return fault(at, format!("has {all}: one test is of one of them, write a test for each"));
        }
    }
    match of_field[..] {
        [] | [_] | ["atLeast", "below"] => Ok(()),
        [..] => {
            let all = of_field.join(" and ");
            fault(at, format!("has {all}: of one path one of them can be asked, write a test for each"))
        }
    }
}

fn given<'a>(all: &[(&'a str, bool)]) -> Vec<&'a str> {
    all.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect()
}

fn condition(test: &Test, at: &str) -> Outcome<Option<Check>> {
    let Some(kind) = &test.condition else { return Ok(None) };
    if kind.is_empty() {
        return fault(format!("{at}.condition"), "is empty, which no condition's type is");
    }
    if !test.reason.is_empty() && !test.reason_not.is_empty() {
        return fault(at, "has reason and reasonNot: where some reasons are named, no other is let through");
    }
    let statuses = match words(&test.status, &format!("{at}.status"))? {
        [] => vec!["True".to_owned()],
        statuses => statuses.to_vec(),
    };
    Ok(Some(Check::Condition {
        kind: kind.clone(),
        statuses,
        reasons: test.reason.as_slice().to_vec(),
        reasons_not: test.reason_not.as_slice().to_vec(),
        messages: in_lower_case(words(&test.message, &format!("{at}.message"))?),
    }))
}

fn field(test: &Test, at: &str, in_item: bool, checks: &mut Vec<Check>) -> Outcome<()> {
    let Some(text) = &test.path else { return Ok(()) };
    let mut all = Vec::new();
    if let Some(values) = &test.one_of {
        if values.is_empty() {
            return fault(format!("{at}.in"), "has no values, and so never holds");
        }
        all.push(Is::OneOf(values.clone()));
    }
    all.extend(test.exists.map(Is::Present));
    if !test.contains.is_empty() {
        all.push(Is::Containing(in_lower_case(words(&test.contains, &format!("{at}.contains"))?)));
    }
    let least = test.at_least.as_ref().map(|least| number(least, &format!("{at}.atLeast"), in_item));
    let limit = test.below.as_ref().map(|limit| number(limit, &format!("{at}.below"), in_item));
    let (least, limit) = (least.transpose()?, limit.transpose()?);
    if let (Some(Number::Fixed(least)), Some(Number::Fixed(limit))) = (&least, &limit)
        && least >= limit
    {
        return fault(at, format!("no number is at least {least} and below {limit}"));
    }
    all.extend(least.map(Is::AtLeast));
    all.extend(limit.map(Is::Below));
    if all.is_empty() {
        all.push(Is::Set);
    }
    let path = scoped_path(text, &format!("{at}.path"), in_item)?;
    checks.extend(all.into_iter().map(|is| Check::Field { path: path.clone(), is }));
    Ok(())
}

/// Words none of which is empty: every text contains that, and no status is it.
fn words<'a>(words: &'a OneOrMany, at: &str) -> Outcome<&'a [String]> {
    let words = words.as_slice();
    if words.iter().any(String::is_empty) {
        return fault(at, "has an empty text");
    }
    Ok(words)
}

fn in_lower_case(words: &[String]) -> Vec<String> {
    words.iter().map(|word| word.to_lowercase()).collect()
}

fn number(value: &Value, at: &str, in_item: bool) -> Outcome<Number> {
    if let Some(number) = value.as_f64() {
        return Ok(Number::Fixed(number));
    }
    let (text, or) = match value {
        Value::String(text) => (Some(text.as_str()), None),
        Value::Object(fields) if fields.keys().all(|key| ["path", "or"].contains(&key.as_str())) => {
            let or = fields.get("or");
            let is_right = or.is_none_or(Value::is_number);
            let path = fields.get("path").and_then(Value::as_str).filter(|_| is_right);
            (path, or.and_then(Value::as_f64))
        }
        _ => (None, None),
    };
    match text {
        Some(text) => Ok(Number::At { path: scoped_path(text, at, in_item)?, or }),
        None => fault(at, "is a number, a path, or a path with the number that holds where it leads nowhere"),
    }
}

pub(super) fn scoped_path(text: &str, at: &str, in_item: bool) -> Outcome<Path> {
    let path = if in_item { Path::parse_in_item(text) } else { Path::parse(text) };
    path.or_else(|message| fault(at, message))
}
