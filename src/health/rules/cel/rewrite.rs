//! What parts of an expression are made into before it runs.

use cel::{
    IdedExpr,
    common::ast::{CallExpr, Expr, LiteralValue, operators},
};

use super::names;

/// What more than a node some operations weigh: those that go through texts, and those for which the
/// interpreter allocates.
const HEAVY: [(&str, usize); 10] = [
    ("matches", 30),
    ("contains", 20),
    (names::ADD, 6),
    (names::EQUAL, 6),
    (names::UNEQUAL, 6),
    (operators::LOGICAL_NOT, 3),
    (operators::LESS, 3),
    (operators::LESS_EQUALS, 3),
    (operators::GREATER, 3),
    (operators::GREATER_EQUALS, 3),
];

/// What a turn of a loop weighs besides what it checks.
const TURN: usize = 8;

/// Makes `node`, which a loop asks for in each turn, end the loop when its work is used up. `weight` is
/// that of what the loop checks.
pub(super) fn count_turns(node: &mut IdedExpr, weight: usize) {
    let step = ident(&format!("{}{}", names::STEP, TURN + weight));
    let inner = std::mem::take(node);
    let no = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Boolean(false.into())) };
    *node = operation(operators::CONDITIONAL, vec![step, inner, no]);
}

/// `has(a.b.c)`: whether there is an `a.b` at all, and `c` in it. The standard has() fails where `b`
/// isn't there, which would make `!has(a.b.c)` not hold either.
pub(super) fn present(operand: &IdedExpr, field: &str) -> IdedExpr {
    let last = operation(operators::IN, vec![text(field), operand.clone()]);
    let mut optional = operand.clone();
    if !make_optional(&mut optional) {
        return last;
    }
    let there =
        CallExpr { func_name: "hasValue".to_owned(), target: Some(Box::new(optional)), args: Vec::new() };
    operation(operators::LOGICAL_AND, vec![IdedExpr { id: 0, expr: Expr::Call(there) }, last])
}

/// Makes `a.b[0]` into `a.?b[?0]`; whether there was anything to be made optional.
fn make_optional(node: &mut IdedExpr) -> bool {
    match &mut node.expr {
        Expr::Select(select) if !select.test => {
            make_optional(&mut select.operand);
            let operand = std::mem::take(&mut *select.operand);
            *node = operation(operators::OPT_SELECT, vec![operand, text(&select.field)]);
            true
        }
        Expr::Call(call) if call.func_name == operators::INDEX => {
            operators::OPT_INDEX.clone_into(&mut call.func_name);
            call.args.first_mut().map(make_optional);
            true
        }
        _ => false,
    }
}

/// Whether the value is asked for with `.?` or `[?`.
pub(super) fn is_optional(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::Select(select) => is_optional(&select.operand),
        Expr::Call(call) => [operators::OPT_SELECT, operators::OPT_INDEX].contains(&call.func_name.as_str()),
        _ => false,
    }
}

/// How much work evaluating `node` once is, in nodes.
pub(super) fn weight(node: &IdedExpr) -> usize {
    1 + match &node.expr {
        Expr::Select(select) => weight(&select.operand),
        Expr::Call(call) => {
            let heavy = HEAVY.iter().find(|(function, _)| *function == call.func_name);
            heavy.map_or(0, |(_, weight)| *weight)
                + call.target.iter().map(|target| weight(target)).sum::<usize>()
                + call.args.iter().map(weight).sum::<usize>()
        }
        Expr::List(list) => list.elements.iter().map(weight).sum(),
        // Its turns count for themselves.
        Expr::Comprehension(comprehension) => TURN + weight(&comprehension.iter_range),
        _ => 0,
    }
}

pub(super) fn ident(name: &str) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Ident(name.to_owned()) }
}

fn text(text: &str) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::String(text.to_owned().into())) }
}

pub(super) fn operation(operator: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr { id: 0, expr: Expr::Call(CallExpr { func_name: operator.to_owned(), target: None, args }) }
}
