//! What isn't accepted, and what its author reads.

use crate::health::rules::cel::Program;

fn refusal(expression: &str) -> String {
    match Program::compile(expression) {
        Ok(_) => panic!("accepted: {expression}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_author_reads_what_is_wrong_and_where() {
    for (expression, expected) in [
        // Syntax.
        ("", "line 1, column 1: the expression is empty"),
        ("  // nothing", "line 1, column 1: the expression is empty"),
        ("status.phase ==", "line 1, column 16: the expression ends too early"),
        ("status.phase = 'A'", "line 1, column 14: `=` is no operator, write `==`"),
        ("status.a and status.b", "line 1, column 10: `and` is no operator, write `&&`"),
        ("status.a & status.b", "line 1, column 10: unexpected single '&', expected '&&'"),
        ("status.phase in ['A', 'B'", "line 1, column 26: the expression ends where `]` is missing"),
        ("(status.a", "line 1, column 10: the expression ends where `)` is missing"),
        ("cond('Ready'", "line 1, column 13: the expression ends too early"),
        ("status.phase == 'A", "line 1, column 17: the text that starts here has no closing '"),
        ("status.", "line 1, column 8: the expression ends too early"),
        ("status.[0]", "line 1, column 8: a field's name is missing before `[`"),
        ("status.a ? 1", "line 1, column 13: the expression ends where `:` is missing"),
        ("status.a == 'x\\q'", "line 1, column 13: 'x\\q' holds a backslash that means nothing"),
        (
            "status.a == 99999999999999999999",
            "line 1, column 13: `99999999999999999999` is no number that can be held",
        ),
        ("status.a == 1 1", "line 1, column 15: unexpected `1`"),
        ("if", "line 1, column 1: `if` is a reserved word"),
        ("status.größe", "line 1, column 10: unexpected character `ö`"),
        ("status.a;", "line 1, column 9: unexpected character `;`"),
        // Lines and columns are counted in characters.
        (
            "'größe' == status.a &&\n  stats.b",
            "line 2, column 3: unknown name `stats`, did you mean `status`?",
        ),
        ("'größe' == stats.a", "line 1, column 12: unknown name `stats`, did you mean `status`?"),
        // Names.
        ("foo == 1", "line 1, column 1: unknown name `foo`: there are metadata, spec, status"),
        ("status.foo == foo", "line 1, column 15: unknown name `foo`: there are metadata, spec, status"),
        ("'foo' == foo", "line 1, column 10: unknown name `foo`"),
        ("phase == 'A'", "line 1, column 1: unknown name `phase`, did you mean `phase()`?"),
        (".status.a", "line 1, column 1: unknown name `.status`, did you mean `status`?"),
        ("status.a.all(x, y)", "line 1, column 17: unknown name `y`: there are metadata, spec, status, x"),
        ("status.a.all(x, x) && x", "line 1, column 23: unknown name `x`"),
        ("metadata.nmae == 'a'", "line 1, column 10: unknown field `nmae`, did you mean `name`?"),
        ("metadata.uid == 'a'", "line 1, column 10: unknown field `uid`: there are annotations, "),
        ("cond('Ready').state == 'a'", "line 1, column 15: unknown field `state`, did you mean `status`?"),
        ("conds('Ready').status == ''", "line 1, column 1: unknown function `conds`, did you mean `cond`?"),
        (
            "status.a.startswith('x')",
            "line 1, column 10: unknown function `startswith`, did you mean `startsWith`?",
        ),
        ("status.a.lowerAscii()", "line 1, column 10: unknown function `lowerAscii`"),
        ("cond() == 1", "line 1, column 1: `cond` is called like this: cond(\"Ready\")"),
        ("contains(status.a, 'x')", "line 1, column 1: `contains` is called like this: text.contains(part)"),
        ("status.a.size(1) == 1", "line 1, column 10: `size` is called like this: size(list) or list.size()"),
        ("status.a.all(x)", "line 1, column 10: `all` is called like this: list.all(entry, condition)"),
        ("status.a.all(1, true)", "line 1, column 14: the first argument is a name for each entry"),
        ("has(status)", "line 1, column 5: has() asks for a field, as in has(status.phase)"),
        ("cond(1).status == ''", "line 1, column 1: cond() takes the type of a condition in quotes"),
        // Time.
        ("now - status.since > 5", "line 1, column 1: there is no `now`: "),
        ("age(status.since) > 5", "line 1, column 1: there is no `age`: "),
        ("status.a && now() > 5", "what takes too long is said with `deadline`"),
        // What isn't supported.
        ("status.a == null", "line 1, column 13: nothing is null here: has(status.field) tells"),
        (
            "status.a.map(x, x.b) == []",
            "line 1, column 10: map() isn't supported: use all(), exists() or filter()",
        ),
        ("status.a.map(x, x.c, x.b) == []", "line 1, column 10: map() isn't supported"),
        ("{'a': 1}[status.a] == 1", "line 1, column 1: maps can't be written in an expression"),
        ("status{a: 1}", "line 1, column 7: unexpected `{`"),
        ("status.a == b'x'", "bytes aren't supported, write a text"),
        ("[?status.a] == []", "a list can't hold optional entries"),
        ("[[1]] == status.a", "line 1, column 1: a list can't hold other lists or loops"),
        ("[true ? status.a.filter(x, x) : []] == []", "a list can't hold other lists or loops"),
        ("status.a.all(x, [x] == [1])", "line 1, column 17: in a loop, a list holds constants only"),
        ("status.a.matches(status.b)", "line 1, column 10: the pattern of `matches` is a text in quotes"),
        ("status.a.matches('(')", "line 1, column 10: the pattern is wrong: unclosed group"),
        ("status.a.matches('a{1000}{1000}')", "line 1, column 10: the pattern is too large"),
    ] {
        let actual = refusal(expression);
        assert!(actual.contains(expected), "{expression}\n  expected {expected}\n  actual   {actual}");
        assert!(!actual.contains('\n'), "{actual}");
    }
}

#[test]
fn what_is_too_large_is_refused() {
    for (expression, expected) in [
        (
            format!("status.a == '{}'", "x".repeat(1024)),
            "the expression is 1038 bytes long, at most 1024 can be",
        ),
        (
            format!("{}true{}", "(".repeat(17), ")".repeat(17)),
            "line 1, column 17: more than 16 brackets around one part",
        ),
        (format!("status{}", ".a".repeat(40)), "nested more than 32 levels deep"),
        (format!("1{} == 1", " + 1".repeat(40)), "nested more than 32 levels deep"),
        (format!("{}true", "true ? 1 : ".repeat(40)), "nested more than 32 levels deep"),
        (
            format!("status.a in [{}]", vec!["1"; 65].join(",")),
            "line 1, column 13: a list of more than 64 entries",
        ),
        (
            "status.a.all(x, x.b.all(y, y.c.all(z, z)))".to_owned(),
            "line 1, column 36: more than 2 loops in one another",
        ),
    ] {
        let actual = refusal(&expression);
        assert!(actual.contains(expected), "{expression}\n  expected {expected}\n  actual   {actual}");
    }
}

#[test]
fn what_just_fits_is_accepted() {
    for expression in [
        format!("status.a == '{}'", "x".repeat(1010)),
        format!("{}true{}", "(".repeat(16), ")".repeat(16)),
        format!("status.a in [{}]", vec!["1"; 64].join(",")),
        format!("true{}", " && status.a".repeat(80)),
        "status.a.all(x, x.b.all(y, y)) && status.a.filter(x, x.b).exists(y, y.c)".to_owned(),
    ] {
        assert!(Program::compile(&expression).is_ok(), "{expression}");
    }
}
