//! The names that an expression knows, and what to say of one that it doesn't.

/// What an expression reads.
pub(super) const VARIABLES: [&str; 3] = ["metadata", "spec", "status"];

/// A function, as it is called.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// Whether it is called on a value: `text.contains(part)`.
    pub(super) method: bool,
    pub(super) arguments: usize,
    usage: &'static str,
}

const fn function(name: &'static str, method: bool, arguments: usize, usage: &'static str) -> Function {
    Function { name, method, arguments, usage }
}

/// The functions that an expression may call.
pub(super) const FUNCTIONS: [Function; 15] = [
    function("cond", false, 1, "cond(\"Ready\")"),
    function("phase", false, 0, "phase()"),
    function("gen", false, 0, "gen()"),
    function("size", false, 1, "size(list)"),
    function("size", true, 0, "list.size()"),
    function("string", false, 1, "string(value)"),
    function("int", false, 1, "int(value)"),
    function("double", false, 1, "double(value)"),
    function("contains", true, 1, "text.contains(part)"),
    function("startsWith", true, 1, "text.startsWith(part)"),
    function("endsWith", true, 1, "text.endsWith(part)"),
    function("matches", true, 1, "text.matches(\"pattern\")"),
    function("hasValue", true, 0, "status.?field.hasValue()"),
    function("or", true, 1, "status.?field.or(status.?other)"),
    function("orValue", true, 1, "status.?field.orValue(\"\")"),
];

/// The macros of CEL that the parser expands when they are called as they should be.
const MACROS: [(&str, &str); 5] = [
    ("has", "has(status.field)"),
    ("all", "list.all(entry, condition)"),
    ("exists", "list.exists(entry, condition)"),
    ("exists_one", "list.exists_one(entry, condition)"),
    ("filter", "list.filter(entry, condition)"),
];

/// What other rule languages know of time.
const TIME: [&str; 5] = ["now", "age", "timestamp", "duration", "time"];

// What an expression is rewritten to. No expression can spell a name with `@`.
pub(super) const CONDITIONS: &str = "@conditions";
pub(super) const PHASE: &str = "@phase";
pub(super) const CURRENT: &str = "@current";
pub(super) const PATTERN: &str = "@pattern";
pub(super) const STEP: &str = "@step";
pub(super) const ADD: &str = "@add";
pub(super) const EQUAL: &str = "@equal";
pub(super) const UNEQUAL: &str = "@unequal";

pub(super) fn unknown_name<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    if TIME.contains(&name) {
        return no_clock(name);
    }
    let functions = FUNCTIONS.iter().map(|function| function.name);
    let near = match nearest(name, known.clone()) {
        Some(near) => Some(near.to_owned()),
        None => nearest(name, functions).map(|near| format!("{near}()")),
    };
    match near {
        Some(near) => format!("unknown name `{name}`, did you mean `{near}`?"),
        None => format!("unknown name `{name}`: there are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn unknown_field(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown field `{name}`, did you mean `{near}`?"),
        None => format!("unknown field `{name}`: there are {}", known.join(", ")),
    }
}

/// What to say of a function that isn't known, or not in this form.
pub(super) fn unknown_function(name: &str) -> String {
    if TIME.contains(&name) {
        return no_clock(name);
    }
    let functions = FUNCTIONS.iter().map(|function| (function.name, function.usage));
    let usages: Vec<&str> =
        functions.clone().chain(MACROS).filter(|(known, _)| *known == name).map(|(_, usage)| usage).collect();
    if !usages.is_empty() {
        return format!("`{name}` is called like this: {}", usages.join(" or "));
    }
    match nearest(name, functions.chain(MACROS).map(|(known, _)| known)) {
        Some(near) => format!("unknown function `{name}`, did you mean `{near}`?"),
        None => format!("unknown function `{name}`"),
    }
}

fn no_clock(name: &str) -> String {
    format!(
        "there is no `{name}`: an expression sees the object and no clock; what takes too long is said with `deadline`"
    )
}

/// The known name that was probably meant.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = |known: &&str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let most = [0, 0, 0, 1, 1].get(name.len()).copied().unwrap_or(2);
    known.filter(|known| near(known) <= most).min_by_key(near)
}
