//! Expressions and objects that are out to do harm.

use std::time::{Duration, Instant};

use cel::{
    IdedExpr,
    common::ast::{EntryExpr, Expr},
    parser::{Parser, PrattParser},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{program, with};
use crate::health::rules::cel::Program;

/// Far more than compiling or evaluating takes in a debug build on a busy machine, far less than a
/// blow-up would.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn known_attacks_on_parsers_are_refused_soon() {
    let many = 1024;
    let nested = |open: &str, close: &str| {
        let times = many / (open.len() + close.len());
        format!("{}{}", open.repeat(times), close.repeat(times))
    };
    let attacks = [
        "[".repeat(many),
        "(".repeat(many),
        "{".repeat(many),
        nested("(", ")"),
        nested("[", "]"),
        nested("f(", ")"),
        nested("[1].all(x,", ")"),
        "{a:".repeat(340),
        "[{[{[{".repeat(21),
        "a.".repeat(511),
        "a.b(c[{d:".repeat(113),
        "?:".repeat(512),
        "a?b:".repeat(250),
        "a?".repeat(500),
        "!".repeat(many),
        "-".repeat(many),
        "- ! ".repeat(250),
        "1+".repeat(511),
        "a<".repeat(511),
        ",".repeat(many),
        "@#$".repeat(340),
        "'".repeat(many),
        "\"\"\"".repeat(341),
        "\\".repeat(many),
        "`".repeat(many),
        "/".repeat(many),
        "0x".repeat(512),
        "1e".repeat(512),
        "\u{202e}".repeat(300),
        "\0".repeat(many),
        "é".repeat(500),
        "'\u{1}\u{1b}[2J' == x".to_owned(),
        "9".repeat(many),
        "1e999".to_owned(),
        "status.a.b()".repeat(80),
        "x".repeat(10 << 20),
    ];
    for attack in attacks {
        let start = Instant::now();
        let error = Program::compile(&attack).expect_err(&attack).to_string();
        assert!(start.elapsed() < SOON, "{} took {:?}", &attack[..20], start.elapsed());
        assert!(error.len() < 1000 && !error.chars().any(char::is_control), "{error}");
    }
}

#[test]
fn numbers_at_their_bounds_are_no_panic() {
    let numbers = [
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615u",
        "0",
        "-1",
        "0u",
        "1.7e308",
        "0.0",
    ];
    for left in numbers {
        for right in numbers {
            for operator in ["+", "-", "*", "/", "%", "<", "==", "&&"] {
                let expression = format!("({left}) {operator} ({right}) == 0");
                let Ok(program) = Program::compile(&expression) else { continue };
                with(json!({}), |subject| program.holds(subject)).ok();
            }
        }
        let program = program(&format!(
            "int({left}) == 0 || double({left}) == 0.0 || string({left}) == '' || -({left}) == 0"
        ));
        with(json!({}), |subject| program.holds(subject)).ok();
    }
}

#[test]
fn a_pattern_cannot_blow_up() {
    let text = "a".repeat(4096);
    for pattern in ["(a+)+$b", "(a|aa)+$b", "(.*a){12}b", "(a?){60}a{60}b", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
        let Ok(program) = Program::compile(&format!("status.a.matches('{pattern}')")) else { continue };
        let start = Instant::now();
        with(json!({"status": {"a": text}}), |subject| program.holds(subject)).expect("an answer");
        assert!(start.elapsed() < SOON, "{pattern} took {:?}", start.elapsed());
    }
}

/// JSON of any shape, with the words that expressions ask for.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "a",
        "b",
        "phase",
        "conditions",
        "type",
        "status",
        "x",
        "Ready",
        "True",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..5)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// Expressions that are mostly well-formed.
fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "status",
        "spec",
        "metadata",
        "status.a",
        "status.b",
        "status.a.b",
        "status.phase",
        "status.?a",
        "status.a[?0]",
        "metadata.labels",
        "metadata.name",
        "cond('Ready')",
        "cond('Ready').status",
        "phase()",
        "gen()",
        "1",
        "-1",
        "2u",
        "0.5",
        "true",
        "false",
        "'a'",
        "'Ready'",
        "[]",
        "[1, 'a']",
        "x",
        "y",
        "status.a[0]",
        "9223372036854775807",
        "foo",
        "null",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 3, |inner| {
        let binary =
            prop::sample::select(vec!["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in"]);
        let method = prop::sample::select(vec!["contains", "startsWith", "endsWith", "orValue", "or"]);
        let looping = prop::sample::select(vec!["all", "exists", "exists_one", "filter"]);
        prop_oneof![
            (inner.clone(), binary, inner.clone())
                .prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), method, inner.clone()).prop_map(|(a, method, b)| format!("({a}).{method}({b})")),
            (inner.clone(), looping, "[xy]", inner.clone())
                .prop_map(|(a, all, x, b)| format!("({a}).{all}({x}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (inner.clone(), "[ab]").prop_map(|(a, field)| format!("has({a}.{field})")),
            (inner.clone(), "[ab]").prop_map(|(a, field)| format!("{a}.{field}")),
            (inner.clone(), "[ab]").prop_map(|(a, field)| format!("{a}.?{field}")),
            (prop::sample::select(vec!["size", "string", "int", "double", "cond", "!", "-"]), inner.clone())
                .prop_map(|(function, a)| format!("{function}({a})")),
            inner.prop_map(|a| format!("({a}).matches('^a+$')")),
        ]
    })
}

/// The tree without the numbers of its nodes.
fn bare(mut node: IdedExpr) -> IdedExpr {
    fn strip(node: &mut IdedExpr) {
        node.id = 0;
        match &mut node.expr {
            Expr::Call(call) => call.target.iter_mut().for_each(|target| strip(target)),
            Expr::Select(select) => strip(&mut select.operand),
            Expr::List(list) => list.elements.iter_mut().for_each(strip),
            Expr::Comprehension(comprehension) => {
                strip(&mut comprehension.iter_range);
                strip(&mut comprehension.accu_init);
                strip(&mut comprehension.loop_cond);
                strip(&mut comprehension.loop_step);
                strip(&mut comprehension.result);
            }
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    entry.id = 0;
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        strip(&mut entry.key);
                        strip(&mut entry.value);
                    }
                }
            }
            _ => {}
        }
        if let Expr::Call(call) = &mut node.expr {
            call.args.iter_mut().for_each(strip);
        }
    }
    strip(&mut node);
    node
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_compiles_or_is_refused_in_one_line(text in "(?s).{0,60}") {
        if let Err(error) = Program::compile(&text) {
            let error = error.to_string();
            prop_assert!(!error.chars().any(char::is_control), "{}", error);
        }
    }

    #[test]
    fn any_words_compile_or_are_refused(words in prop::collection::vec(prop::sample::select(vec![
        "status", ".", "a", "(", ")", "[", "]", "{", "}", "==", "&&", "||", "!", "-", "?", ":", ",", "'x'", "1", "1.5", "2u",
        "in", "has(", ".all(x,", ".map(x,", ".filter(x,", "x", "cond(", "null", "true", "\n", " ", "//", "`a`", "b'x'", ".?", "[?",
    ]), 0..40)) {
        let text = words.concat();
        if let Ok(program) = Program::compile(&text) {
            with(json!({"status": {"a": [1, {"a": "x"}]}}), |subject| program.holds(subject)).ok();
        }
    }

    #[test]
    fn any_expression_answers_on_any_object(text in any_expression(), status in any_json(), spec in any_json()) {
        let Ok(program) = Program::compile(&text) else { return Ok(()) };
        let object = json!({"metadata": {"labels": {"a": "b"}}, "status": status, "spec": spec});
        let (first, again) = with(object, |subject| (program.holds(subject), program.holds(subject)));
        prop_assert_eq!(&first, &again);
        let broke = |error: &crate::health::rules::cel::EvalError| error.to_string().contains("broke down");
        prop_assert!(!first.as_ref().is_err_and(broke), "{}: {:?}", text, first);
    }

    /// The parser that is used is the crate's faster one. Its other one is far too hungry for a
    /// controller, and older: whatever both accept they read alike.
    #[test]
    fn both_parsers_of_the_crate_read_alike(text in any_expression()) {
        let used = PrattParser::new().enable_optional_syntax(true).parse(&text);
        let text_again = text.clone();
        // The other one needs more stack than the thread of a test has.
        let other = std::thread::Builder::new()
            .stack_size(64 << 20)
            .spawn(move || Parser::new().enable_optional_syntax(true).parse(&text_again))
            .expect("a thread")
            .join()
            .expect("no panic");
        prop_assert_eq!(used.is_ok(), other.is_ok(), "{}", text);
        if let (Ok(used), Ok(other)) = (used, other) {
            prop_assert_eq!(bare(used), bare(other), "{}", text);
        }
    }
}
