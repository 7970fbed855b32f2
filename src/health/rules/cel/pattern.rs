//! The regular expressions of `matches`, made once.

use std::any::Any;

use cel::common::{
    types::Type,
    value::{StaticVal, Val},
};
use regex::{Regex, RegexBuilder};

/// The most memory of one compiled pattern. What a text of 4 KiB costs at worst grows with it.
const BYTES: usize = 64 << 10;

/// The type of a pattern. No expression can name it.
pub(super) static PATTERN_TYPE: Type = Type::new_unspecified_type("pattern");

/// A regular expression. Matching takes time in proportion to the text, whatever the pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Regex);

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(pattern).size_limit(BYTES).dfa_size_limit(4 * BYTES).build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
            // The last line says what is wrong, those above draw where.
            error => {
                let error = error.to_string();
                let what = error.lines().next_back().unwrap_or_default();
                format!("the pattern is wrong: {}", what.strip_prefix("error: ").unwrap_or(what))
            }
        })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl Val for Pattern {
    fn get_type(&self) -> &Type {
        &PATTERN_TYPE
    }

    fn cel_type() -> &'static Type {
        &PATTERN_TYPE
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Pattern {}
