//! The functions and the names that the interpreter finds.

use std::sync::LazyLock;

use cel::{
    Context, DeclarationError, Env, ExecutionError,
    common::{
        types::{CelBool, CelString, DYN_TYPE, STRING_TYPE},
        value::CowVal,
    },
    context::VariableResolver,
};

use super::{
    meter::{Meter, TEXT_BYTES},
    names,
    pattern::{PATTERN_TYPE, Pattern},
    view::{View, What, value},
};
use crate::health::{dialect::ObservedGeneration, subject::Subject};

type Answer<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

/// Making it takes longer than most evaluations: it is made once, each evaluation is a scope in it.
pub(super) static ROOT: LazyLock<Result<Context<'static, 'static>, DeclarationError>> = LazyLock::new(|| {
    let mut env = Env::default().with_stdlib();
    env.add_overload(names::ADD, names::ADD, vec![DYN_TYPE, DYN_TYPE], |args| add(&args))?;
    env.add_overload(names::EQUAL, names::EQUAL, vec![DYN_TYPE, DYN_TYPE], |args| equal(&args, true))?;
    env.add_overload(names::UNEQUAL, names::UNEQUAL, vec![DYN_TYPE, DYN_TYPE], |args| equal(&args, false))?;
    env.add_member_overload("matches", "matches", STRING_TYPE, vec![PATTERN_TYPE.to_owned()], |args| {
        matches(&args)
    })?;
    Ok(Context::with_env(env.into()))
});

/// What one evaluation reads.
pub(super) struct Scope<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) patterns: &'a [Pattern],
    pub(super) meter: Meter,
}

impl VariableResolver for Scope<'_> {
    /// A name that is refused because the work is used up isn't there, which ends the evaluation.
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        if let Some(units) = name.strip_prefix(names::STEP) {
            self.meter.spend(units.parse().ok()?).ok()?;
            return Some(CowVal::owned(CelBool::from(true)));
        }
        if let Some(number) = name.strip_prefix(names::PATTERN) {
            return Some(CowVal::Borrowed(self.patterns.get(number.parse::<usize>().ok()?)?));
        }
        let object = self.subject.object;
        let view = |what| Some(CowVal::Owned(View::boxed(what, &self.meter)));
        match name {
            "status" => view(What::Map(object.status.as_object())),
            "spec" => view(What::Map(object.spec.as_object())),
            "metadata" => view(What::Metadata(object)),
            names::CONDITIONS => view(What::Conditions(self.subject.conditions)),
            names::CURRENT => Some(CowVal::owned(CelBool::from(is_current(self.subject)))),
            names::PHASE => match self.subject.status("phase") {
                phase if phase.is_string() => value(phase, &self.meter).ok().map(CowVal::Owned),
                _ => Some(CowVal::owned(CelString::from(""))),
            },
            _ => None,
        }
    }
}

/// Whether what the status says is of the generation that the object has. Where conditions name the
/// generation that they are of, those count, not the one of the whole status.
fn is_current(subject: Subject) -> bool {
    if matches!(subject.dialect.generation, ObservedGeneration::Nowhere) {
        return true;
    }
    let mut seen = subject.conditions.iter().filter_map(|reading| reading.observed_generation).peekable();
    let current = |seen: i64| subject.lag_behind(seen).is_none();
    match seen.peek() {
        Some(_) => seen.all(current),
        None => subject.observed_generation().is_none_or(current),
    }
}

/// `+`, for numbers and for texts. Lists would let an expression grow without end.
fn add<'b, 'v>(args: &[CowVal<'b, 'v>]) -> Answer<'b, 'v> {
    let [left, right] = args else { return Err(ExecutionError::missing_argument_or_target()) };
    let length = |value: &CowVal| value.downcast_ref::<CelString>().map_or(0, |text| text.inner().len());
    if length(left) + length(right) > TEXT_BYTES {
        return Err(ExecutionError::function_error("+", "the text becomes too long"));
    }
    let list = left.as_iterable().is_some();
    match left.as_adder() {
        Some(adder) if !list => Ok(CowVal::Owned(adder.add(&**right)?.into_owned())),
        _ => Err(overload(names::ADD, args)),
    }
}

/// `==`, asked of both sides: the interpreter's own lists don't know ours.
fn equal<'b, 'v>(args: &[CowVal<'b, 'v>], answer: bool) -> Answer<'b, 'v> {
    let [left, right] = args else { return Err(ExecutionError::missing_argument_or_target()) };
    let equal = left.equals(&**right) || right.equals(&**left);
    Ok(CowVal::owned(CelBool::from(equal == answer)))
}

fn matches<'b, 'v>(args: &[CowVal<'b, 'v>]) -> Answer<'b, 'v> {
    let [text, pattern] = args else { return Err(ExecutionError::missing_argument_or_target()) };
    match (text.downcast_ref::<CelString>(), pattern.downcast_ref::<Pattern>()) {
        (Some(text), Some(pattern)) => Ok(CowVal::owned(CelBool::from(pattern.matches(text.inner())))),
        _ => Err(overload("matches", args)),
    }
}

fn overload(function: &str, args: &[CowVal]) -> ExecutionError {
    let types = args.iter().map(|arg| arg.get_type().name().to_owned()).collect();
    ExecutionError::no_such_overload(function, types)
}
