//! What the interpreter says of a failure, in plain words.

use cel::{
    ExecutionError, OverloadError,
    common::{ast::operators, value::Val},
};

use super::names;
use crate::model::text;

/// Whether something was asked for that isn't there.
pub(super) fn is_absence(error: &ExecutionError) -> bool {
    match error {
        ExecutionError::NoSuchKey(_) | ExecutionError::IndexOutOfBounds(_) => true,
        ExecutionError::NoSuchOverload(call) => {
            reads(call.function())
                && call.argument_types().first().is_some_and(|operand| operand == "null_type")
        }
        _ => false,
    }
}

/// What sort of thing a value is.
pub(super) fn kind(value: &dyn Val) -> &str {
    noun(value.get_type().name())
}

/// A failure in one line.
pub(super) fn plain(error: &ExecutionError) -> String {
    let message = match error {
        ExecutionError::NoSuchOverload(call) => overload(call),
        ExecutionError::UnexpectedType { got, want } if want == "iterable" => {
            format!("a {} has no entries to go through", noun(got))
        }
        ExecutionError::UnexpectedType { got, want } => {
            format!("a {} stands where a {} must", noun(got), noun(want))
        }
        ExecutionError::UnsupportedBinaryOperator(operator, left, right) => {
            let (left, right) = (left.type_of().to_string(), right.type_of().to_string());
            format!("can't {operator} a {} and a {}", noun(&left), noun(&right))
        }
        ExecutionError::Overflow(..) => "a number becomes too large".to_owned(),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "division by zero".to_owned()
        }
        ExecutionError::FunctionError { function, message } => format!("`{function}`: {message}"),
        other => other.to_string(),
    };
    text::message(&message)
}

fn overload(call: &OverloadError) -> String {
    let types: Vec<&str> = call.argument_types().iter().map(|name| noun(name)).collect();
    match (call.function(), types.as_slice()) {
        (function, [operand, key]) if reads(function) => format!("a {operand} can't be asked for a {key}"),
        (operators::IN, [needle, holder]) => format!("a {needle} can't be looked for in a {holder}"),
        (operators::LOGICAL_NOT, [operand]) => format!("`!` can't be used on a {operand}"),
        (operators::NEGATE, [operand]) => format!("`-` can't be used on a {operand}"),
        (names::ADD, [left, right]) => format!("`+` can't be used on a {left} and a {right}"),
        (function, [left, right]) if function.starts_with('_') => {
            format!("`{}` can't be used on a {left} and a {right}", function.trim_matches('_'))
        }
        (function, types) => format!("`{function}` can't be used on a {}", types.join(" and a ")),
    }
}

fn reads(function: &str) -> bool {
    ["_._", operators::INDEX].contains(&function)
}

/// The name of a type, for people.
fn noun(name: &str) -> &str {
    match name {
        "string" => "text",
        "int" | "uint" => "whole number",
        "double" | "float" => "number",
        "bool" => "truth value",
        "null_type" => "null",
        "optional_type" => "optional value",
        other => other,
    }
}
