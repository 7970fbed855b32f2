//! What an expression may say. What passes is rewritten so that its loops count their work and the
//! functions of ours read the object.

use cel::{
    IdedExpr,
    common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue, operators},
};

use super::{
    CompileError,
    names::{self, FUNCTIONS, VARIABLES},
    pattern::Pattern,
    rewrite::{count_turns, ident, is_optional, operation, present, weight},
    source::Source,
    view::{CONDITION, METADATA},
};

/// The most levels of a syntax tree.
const DEPTH: usize = 32;

/// The most loops in one another.
const LOOPS: usize = 2;

/// The most entries of a list that stands in an expression.
const LIST: usize = 64;

/// The operators of CEL.
const OPERATORS: [&str; 19] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::OPT_INDEX,
    operators::IN,
];

type Checked = Result<(), CompileError>;

/// Checks and rewrites `tree`; gives the patterns that it matches with, and whether it reads anything of
/// an object.
pub(super) fn check(tree: &mut IdedExpr, source: &Source) -> Result<(Vec<Pattern>, bool), CompileError> {
    let (names, patterns) = (Vec::new(), Vec::new());
    let mut check = Check { source, place: 0, next: 0, depth: 0, names, patterns, reads: false };
    check.visit(tree)?;
    Ok((check.patterns, check.reads))
}

/// Walks the tree in the order in which it was written, so that the place of a name is the next one
/// that reads like it.
struct Check<'s> {
    source: &'s Source<'s>,
    /// Where the walk is: a byte, and the number of the token after it.
    place: usize,
    next: usize,
    depth: usize,
    /// The names that the loops around give to entries.
    names: Vec<String>,
    patterns: Vec<Pattern>,
    /// Whether anything of an object was met.
    reads: bool,
}

impl Check<'_> {
    fn visit(&mut self, node: &mut IdedExpr) -> Checked {
        if self.depth == DEPTH {
            return self.refuse(format!("the expression is nested more than {DEPTH} levels deep"));
        }
        self.depth += 1;
        match &mut node.expr {
            Expr::Literal(LiteralValue::Null) => {
                self.seek("null");
                return self.refuse("nothing is null here: has(status.field) tells whether a field is there");
            }
            Expr::Literal(LiteralValue::Bytes(_)) => {
                return self.refuse("bytes aren't supported, write a text");
            }
            Expr::Literal(_) => {}
            Expr::Ident(name) => {
                self.seek(name);
                self.reads |= !self.names.contains(name);
                if !VARIABLES.contains(&name.as_str()) && !self.names.contains(name) {
                    let known = VARIABLES.iter().copied().chain(self.names.iter().map(String::as_str));
                    return self.refuse(names::unknown_name(name, known));
                }
            }
            Expr::Select(_) => self.select(node)?,
            Expr::Call(_) => self.call(node)?,
            Expr::List(list) => {
                self.seek("[");
                if list.elements.len() > LIST {
                    return self.refuse(format!("a list of more than {LIST} entries"));
                }
                if !list.optional_indices.is_empty() {
                    return self.refuse("a list can't hold optional entries");
                }
                for element in &mut list.elements {
                    self.element(element)?;
                }
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Map(_) => {
                self.seek("{");
                return self.refuse("maps can't be written in an expression");
            }
            Expr::Struct(_) => {
                self.seek("{");
                return self.refuse("unexpected `{`");
            }
            Expr::Unspecified => return self.refuse("the expression can't be read"),
        }
        self.depth -= 1;
        Ok(())
    }

    /// An entry of a list. In a loop only constants: a list that is made anew each time could grow
    /// with each. Elsewhere no lists that the interpreter makes: going through those isn't counted.
    fn element(&mut self, element: &mut IdedExpr) -> Checked {
        if !self.names.is_empty() && !matches!(element.expr, Expr::Literal(_)) {
            return self.refuse("in a loop, a list holds constants only");
        }
        if makes_list(element) {
            return self.refuse("a list can't hold other lists or loops");
        }
        self.visit(element)
    }

    fn select(&mut self, node: &mut IdedExpr) -> Checked {
        let Expr::Select(select) = &mut node.expr else { return Ok(()) };
        let fields: Option<&[&str]> = match &select.operand.expr {
            Expr::Ident(name) if name == "metadata" && !self.names.contains(name) => Some(&METADATA),
            Expr::Call(call) if call.func_name == "cond" => Some(&CONDITION),
            _ => None,
        };
        self.visit(&mut select.operand)?;
        self.seek(&select.field);
        if let Some(fields) = fields.filter(|fields| !fields.contains(&select.field.as_str())) {
            return self.refuse(names::unknown_field(&select.field, fields));
        }
        if select.test && !is_optional(&select.operand) {
            node.expr = present(&select.operand, &select.field).expr;
        }
        Ok(())
    }

    fn call(&mut self, node: &mut IdedExpr) -> Checked {
        let Expr::Call(call) = &mut node.expr else { return Ok(()) };
        let operator = call.target.is_none()
            && (OPERATORS.contains(&call.func_name.as_str()) || call.func_name == operators::OPT_SELECT);
        if !operator {
            return self.function(node);
        }
        if call.func_name == operators::OPT_SELECT {
            let [operand, field] = call.args.as_mut_slice() else { return Ok(()) };
            self.visit(operand)?;
            if let Expr::Literal(LiteralValue::String(field)) = &field.expr {
                self.seek(field.inner());
            }
            return Ok(());
        }
        for argument in &mut call.args {
            self.visit(argument)?;
        }
        // Their own meaning of lists, texts and bounds stands in `context`.
        let scalar = |argument: &IdedExpr| matches!(argument.expr, Expr::Literal(_));
        match call.func_name.as_str() {
            operators::ADD => names::ADD.clone_into(&mut call.func_name),
            operators::EQUALS if !call.args.iter().any(scalar) => {
                names::EQUAL.clone_into(&mut call.func_name);
            }
            operators::NOT_EQUALS if !call.args.iter().any(scalar) => {
                names::UNEQUAL.clone_into(&mut call.func_name);
            }
            _ => {}
        }
        Ok(())
    }

    fn function(&mut self, node: &mut IdedExpr) -> Checked {
        let Expr::Call(call) = &mut node.expr else { return Ok(()) };
        if let Some(target) = &mut call.target {
            self.visit(target)?;
        }
        self.seek(&call.func_name);
        let known = FUNCTIONS.iter().any(|function| {
            function.name == call.func_name
                && function.method == call.target.is_some()
                && function.arguments == call.args.len()
        });
        if !known {
            return self.refuse(names::unknown_function(&call.func_name));
        }
        self.reads |= ["cond", "phase", "gen"].contains(&call.func_name.as_str());
        match (call.func_name.as_str(), call.args.as_mut_slice()) {
            ("matches", [argument]) => {
                let Expr::Literal(LiteralValue::String(pattern)) = &argument.expr else {
                    return self.refuse("the pattern of `matches` is a text in quotes");
                };
                let pattern = Pattern::new(pattern.inner()).or_else(|error| self.refuse(error))?;
                argument.expr = Expr::Ident(format!("{}{}", names::PATTERN, self.patterns.len()));
                self.patterns.push(pattern);
            }
            ("cond", [argument]) => {
                if matches!(&argument.expr, Expr::Literal(literal) if !matches!(literal, LiteralValue::String(_)))
                {
                    return self.refuse("cond() takes the type of a condition in quotes");
                }
                self.visit(argument)?;
                let argument = std::mem::take(argument);
                node.expr = operation(operators::INDEX, vec![ident(names::CONDITIONS), argument]).expr;
            }
            ("phase", _) => node.expr = ident(names::PHASE).expr,
            ("gen", _) => node.expr = ident(names::CURRENT).expr,
            (_, arguments) => {
                for argument in arguments {
                    self.visit(argument)?;
                }
            }
        }
        Ok(())
    }

    fn comprehension(&mut self, comprehension: &mut ComprehensionExpr) -> Checked {
        self.visit(&mut comprehension.iter_range)?;
        let name = comprehension.iter_var.clone();
        let Some((body, guard)) = body(comprehension) else {
            self.seek("map");
            return self.refuse("map() isn't supported: use all(), exists() or filter()");
        };
        self.seek(&name);
        if self.names.len() == LOOPS {
            return self.refuse(format!("more than {LOOPS} loops in one another"));
        }
        if name.starts_with('.') {
            return self.refuse(format!("`{name}` is no name"));
        }
        self.names.push(name);
        self.visit(body)?;
        self.names.pop();
        let weight = weight(body);
        count_turns(
            match guard {
                Guard::Body => body,
                Guard::Condition => &mut comprehension.loop_cond,
            },
            weight,
        );
        Ok(())
    }

    /// Goes on to the next token that reads `word`.
    fn seek(&mut self, word: &str) {
        if let Some((place, next)) = self.source.find(self.next, word) {
            (self.place, self.next) = (place, next);
        }
    }

    fn refuse<T>(&self, message: impl AsRef<str>) -> Result<T, CompileError> {
        Err(self.source.error(self.place, message))
    }
}

/// What is asked before each turn of a loop, so that it ends when its work is used up: an error
/// there ends a loop, while all() and exists() go on after one in what they check.
enum Guard {
    Condition,
    Body,
}

/// What a loop checks of each entry; `None` for a loop that makes a list of something else.
fn body(comprehension: &mut ComprehensionExpr) -> Option<(&mut IdedExpr, Guard)> {
    let Expr::Call(step) = &mut comprehension.loop_step.expr else { return None };
    let logical = [operators::LOGICAL_AND, operators::LOGICAL_OR].contains(&step.func_name.as_str());
    if logical {
        return Some((step.args.get_mut(1)?, Guard::Condition));
    }
    let kept = keeps_entries(step.args.get(1)?, &comprehension.iter_var);
    if kept { Some((step.args.get_mut(0)?, Guard::Body)) } else { None }
}

/// Whether `@result + kept` counts entries or collects them as they are.
fn keeps_entries(step: &IdedExpr, name: &str) -> bool {
    let Expr::Call(CallExpr { args, .. }) = &step.expr else { return false };
    match args.last().map(|kept| &kept.expr) {
        Some(Expr::Literal(_)) => true,
        Some(Expr::List(list)) => {
            matches!(&list.elements[..], [IdedExpr { expr: Expr::Ident(kept), .. }] if kept == name)
        }
        _ => false,
    }
}

/// Whether there is a list or a loop anywhere in `node`.
fn makes_list(node: &IdedExpr) -> bool {
    match &node.expr {
        Expr::List(_) | Expr::Comprehension(_) => true,
        Expr::Select(select) => makes_list(&select.operand),
        Expr::Call(call) => {
            call.target.iter().any(|target| makes_list(target)) || call.args.iter().any(makes_list)
        }
        _ => false,
    }
}
