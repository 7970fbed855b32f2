//! From text to a syntax tree, and where in the text a thing stands.
//!
//! The crate's documented way, `Program::compile`, gives neither the words of an expression, by which
//! its size is bounded before the recursive parser sees it and a fault gets its place, nor a tree that
//! may be rewritten. The lexer and the parser that do are public and left out of its documentation, so
//! a patch may change them: `Cargo.toml` names the one version, and no other place here uses them but
//! the test that compares them with the crate's other parser.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cel::{
    IdedExpr,
    parser::{
        ParseError, PrattParser,
        pratt_parser::{Lexer, Token, TokenKind},
    },
};

use super::CompileError;
use crate::model::text;

/// The most bytes of one expression.
const BYTES: usize = 1 << 10;

/// The most brackets of any kind around a part of an expression.
const BRACKETS: usize = 16;

/// An expression as it was written.
pub(super) struct Source<'s> {
    text: &'s str,
    tokens: Vec<Token>,
}

impl<'s> Source<'s> {
    /// Reads the words of an expression and checks its size, so that the parser, which is recursive,
    /// sees nothing that is too much for it.
    pub(super) fn scan(text: &'s str) -> Result<Self, CompileError> {
        let mut source = Self { text, tokens: Vec::new() };
        if text.len() > BYTES {
            return Err(source
                .error(0, format!("the expression is {} bytes long, at most {BYTES} can be", text.len())));
        }
        let mut brackets = 0_usize;
        let mut lexer = Lexer::new(text);
        loop {
            let token = lexer.lex();
            match token.kind {
                TokenKind::TokEnd => break,
                TokenKind::TokWhitespace | TokenKind::TokComment => continue,
                TokenKind::TokError => {
                    let message = lexer.get_error().map_or("unexpected character", |error| &error.message);
                    return Err(source.error(token.start, lexical(message, source.rest(token.start))));
                }
                TokenKind::TokLeftBracket | TokenKind::TokLeftBrace | TokenKind::TokLeftParen => {
                    brackets += 1;
                }
                TokenKind::TokRightBracket | TokenKind::TokRightBrace | TokenKind::TokRightParen => {
                    brackets = brackets.saturating_sub(1);
                }
                _ => {}
            }
            if brackets > BRACKETS {
                return Err(
                    source.error(token.start, format!("more than {BRACKETS} brackets around one part"))
                );
            }
            source.tokens.push(token);
        }
        if source.tokens.is_empty() {
            return Err(source.error(0, "the expression is empty"));
        }
        Ok(source)
    }

    /// The syntax tree.
    pub(super) fn parse(&self) -> Result<IdedExpr, CompileError> {
        let parser = PrattParser::new().enable_optional_syntax(true);
        // The text is a stranger's and the parser another project's: should it panic on some text,
        // that rule is refused and whoever loads rules lives on.
        let parsed = catch_unwind(AssertUnwindSafe(|| parser.parse(self.text)));
        match parsed {
            Ok(Ok(tree)) => Ok(tree),
            Ok(Err(errors)) => {
                Err(match errors.errors.iter().filter(|error| error.pos.0 > 0).min_by_key(|e| e.pos) {
                    Some(first) => self.plain(first),
                    None => self.error(0, "the expression is nested too deep"),
                })
            }
            Err(_) => Err(self.error(0, "the expression can't be read")),
        }
    }

    /// The place of the first token from number `from` on that reads `word`, and the number of the
    /// token after it.
    pub(super) fn find(&self, from: usize, word: &str) -> Option<(usize, usize)> {
        let (skipped, token) =
            self.tokens.iter().skip(from).enumerate().find(|(_, token)| self.word(**token) == word)?;
        Some((token.start, from + skipped + 1))
    }

    /// An error at the byte `offset`.
    pub(super) fn error(&self, offset: usize, message: impl AsRef<str>) -> CompileError {
        let before = self.text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        CompileError {
            message: text::message(message.as_ref()),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    fn word(&self, token: Token) -> &'s str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    fn rest(&self, offset: usize) -> &'s str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// What the parser says, in plain words.
    fn plain(&self, error: &ParseError) -> CompileError {
        let offset = self.offset(error.pos);
        let found = self.tokens.iter().find(|token| token.start >= offset).map(|token| self.word(*token));
        let message = &*error.msg;
        let missing =
            message.strip_prefix("expected '").and_then(|rest| rest.split_once('\'')).map(|(what, _)| what);
        let plain = match (message, missing, found) {
            (_, Some(missing), None) => format!("the expression ends where `{missing}` is missing"),
            (_, Some(missing), Some(found)) => format!("`{missing}` is missing before `{found}`"),
            ("invalid argument to has() macro", ..) => {
                "has() asks for a field, as in has(status.phase)".to_owned()
            }
            ("argument must be a simple name", ..) => {
                "the first argument is a name for each entry, as in list.all(entry, ...)".to_owned()
            }
            ("expected identifier after '.'", _, Some(found)) => {
                format!("a field's name is missing before `{found}`")
            }
            (_, _, None) => "the expression ends too early".to_owned(),
            (_, _, Some(found)) if message.starts_with("unable to unescape") => {
                format!("{found} holds a backslash that means nothing")
            }
            (_, _, Some(found)) if message.starts_with("reserved") => format!("`{found}` is a reserved word"),
            (_, _, Some(found)) if message.starts_with("invalid") => {
                format!("`{found}` is no number that can be held")
            }
            (_, _, Some(found)) => match operator(found) {
                Some(operator) => format!("`{found}` is no operator, write `{operator}`"),
                None => format!("unexpected `{found}`"),
            },
        };
        self.error(offset, plain)
    }

    /// The byte at the parser's line and column, which counts bytes.
    fn offset(&self, (line, column): (isize, isize)) -> usize {
        let line = usize::try_from(line).unwrap_or(1).saturating_sub(1);
        let lines_before: usize = self.text.split_inclusive('\n').take(line).map(str::len).sum();
        lines_before + usize::try_from(column).unwrap_or(1).saturating_sub(1)
    }
}

/// What the lexer says, in plain words; `rest` starts where it stumbled.
fn lexical(message: &str, rest: &str) -> String {
    match (message, rest.chars().next()) {
        ("unterminated string literal" | "unterminated bytes literal", Some(quote)) => {
            format!("the text that starts here has no closing {quote}")
        }
        ("unexpected character", Some(found)) => format!("unexpected character `{found}`"),
        _ => message.to_owned(),
    }
}

/// What other languages write for an operator of CEL.
fn operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "=" => "==",
        "and" | "AND" => "&&",
        "or" | "OR" => "||",
        "not" | "NOT" => "!",
        _ => return None,
    })
}
