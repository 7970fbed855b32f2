//! What an expression costs at most, whatever the object holds.

use serde_json::{Value, json};

use super::{EvalError, program, with};

fn outcome(status: &Value, expression: &str) -> String {
    match with(json!({"status": status}), |subject| program(expression).holds(subject)) {
        Ok(holds) => holds.to_string(),
        Err(EvalError::TooLarge(what)) => what,
        Err(other) => panic!("{expression}: {other:?}"),
    }
}

const TOO_MUCH: &str = "it goes through too much";

#[test]
fn lists_are_gone_through_up_to_a_bound() {
    let numbers = |many: usize| json!({"list": (0..many).collect::<Vec<_>>()});
    for (many, expression, expected) in [
        (1000, "status.list.all(x, x >= 0)", "true"),
        (1000, "status.list.exists(x, x == 999)", "true"),
        (1000, "999 in status.list", "true"),
        (1001, "status.list.all(x, x >= 0)", "it goes through a list of more than 1000 entries"),
        (1001, "1 in status.list", "it goes through a list of more than 1000 entries"),
        // Its size and single entries cost nothing, however long it is.
        (100_000, "status.list.size() == 100000 && status.list[99999] == 99999 && has(status.list)", "true"),
        // Loops in one another: what they do together counts.
        (60, "status.list.all(x, status.list.exists(y, x == y))", "true"),
        (1000, "status.list.all(x, status.list.exists(y, x == y))", TOO_MUCH),
        (1000, "status.list.filter(x, status.list.filter(y, x == y).size() == 1).size() == 1000", TOO_MUCH),
        (1000, "status.list.exists_one(x, status.list.exists_one(y, x + y == 1))", TOO_MUCH),
        (1000, "[status.list].exists(l, l.all(x, x in l))", TOO_MUCH),
        (
            1000,
            "[status.list].exists(l, l.exists(x, l != l || l != l || l != l || l != l || l != l))",
            TOO_MUCH,
        ),
        (1000, "status.list.all(x, status.list == status.list)", TOO_MUCH),
        // After that, nothing more is done: not even what could still make it hold.
        (1000, "status.list.all(x, status.list.exists(y, x == y)) || true", TOO_MUCH),
    ] {
        assert_eq!(outcome(&numbers(many), expression), expected, "{many} entries, {expression}");
    }
}

#[test]
fn texts_are_read_up_to_a_bound() {
    let texts = |bytes: usize| json!({"a": "x".repeat(bytes), "list": vec!["x".repeat(bytes); 300]});
    for (bytes, expression, expected) in [
        (4096, "status.a.contains('x') && status.a == status.a", "true"),
        (4097, "status.a.contains('y')", "it reads a text of more than 4096 bytes"),
        (4097, "has(status.a)", "true"),
        (4096, "status.list.exists(x, x.contains('y'))", TOO_MUCH),
        (300, "status.list.exists(x, x.contains('y'))", "false"),
        (4096, "status.list.exists(x, x.matches('^(x+x+)+y$'))", TOO_MUCH),
    ] {
        assert_eq!(outcome(&texts(bytes), expression), expected, "{bytes} bytes, {expression}");
    }
}

#[test]
fn texts_grow_up_to_a_bound() {
    let status = json!({"a": "x".repeat(1000)});
    let ask = |expression: &str| {
        with(json!({"status": status}), |subject| {
            program(expression).holds(subject).map_err(|e| e.to_string())
        })
    };
    assert_eq!(ask("(status.a + status.a + status.a + status.a).size() == 4000"), Ok(true));
    assert_eq!(
        ask("(status.a + status.a + status.a + status.a + status.a).size() == 5000"),
        Err("`+`: the text becomes too long".to_owned())
    );
}

#[test]
fn deep_json_is_compared() {
    let mut deep = json!({"x": 1});
    for _ in 0..30 {
        deep = json!({"a": deep, "b": [1]});
    }
    assert_eq!(outcome(&json!({"l": deep, "r": deep}), "status.l == status.r"), "true");
}
