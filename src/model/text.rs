//! Text that comes from the cluster or a file, made safe to show: cleaned once, where it enters.
//!
//! Whoever may write a status may put terminal sequences into a message (CVE-2021-25743). What is
//! cleaned here may go to a terminal, a log, a page and the API as it is.

use std::borrow::Cow;

/// The most bytes of one message.
pub const MESSAGE_BYTES: usize = 512;

/// The most bytes of one word: a reason, a condition type, a version.
pub const WORD_BYTES: usize = 128;

/// What stands at the end of a text that was cut.
const CUT_MARK: &str = "...";

/// What stands for a character that must not be shown.
const REPLACEMENT: char = '\u{fffd}';

/// A message: line breaks and tabs become one space, control, escape and bidirectional characters
/// become U+FFFD, and what is longer than [`MESSAGE_BYTES`] is cut at a character with a mark.
pub fn message(raw: &str) -> String {
    message_of(raw).into_owned()
}

/// The same, without a copy where there is nothing to clean.
pub fn message_of<'a>(raw: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    clean(raw.into(), MESSAGE_BYTES)
}

/// A word, like [`message`] but at most [`WORD_BYTES`] long.
pub fn word(raw: &str) -> String {
    word_of(raw).into_owned()
}

/// The same, without a copy where there is nothing to clean.
pub fn word_of<'a>(raw: impl Into<Cow<'a, str>>) -> Cow<'a, str> {
    clean(raw.into(), WORD_BYTES)
}

/// A name: of an object, a namespace, a finalizer. Like [`message`] but at most 253 bytes long, the
/// most that Kubernetes takes.
pub fn name(raw: &str) -> String {
    clean(raw.into(), 253).into_owned()
}

/// A text of any length, cleaned and not cut.
pub fn whole(raw: &str) -> String {
    clean(raw.into(), raw.len().saturating_mul(REPLACEMENT.len_utf8())).into_owned()
}

/// Cuts `text` to at most `bytes` bytes, at a character and with a mark. `bytes` is at least the
/// length of the mark.
pub fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes.saturating_sub(CUT_MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT_MARK}", &text[..end])
}

fn clean(whole: Cow<'_, str>, bytes: usize) -> Cow<'_, str> {
    // Most texts are plain: printable ASCII without blanks around. Without an early end the loop
    // looks at many bytes at once.
    let plain = |text: &[u8]| {
        text.iter().fold(true, |plain, byte| plain & (b' '..=b'~').contains(byte))
            && !text.starts_with(b" ")
            && !text.ends_with(b" ")
    };
    if whole.len() <= bytes && plain(whole.as_bytes()) {
        return whole;
    }
    let raw = whole.trim();
    if raw.len() <= bytes && !raw.chars().any(|c| is_blank(c) || is_unsafe(c)) {
        return match whole {
            Cow::Borrowed(whole) => whole.trim().into(),
            Cow::Owned(ref whole) => whole.trim().to_owned().into(),
        };
    }
    let mut text = String::with_capacity(raw.len().min(bytes.saturating_add(4)));
    for c in raw.chars() {
        if text.len() > bytes {
            break;
        }
        if is_blank(c) {
            if !text.ends_with(' ') {
                text.push(' ');
            }
        } else if is_unsafe(c) {
            text.push(REPLACEMENT);
        } else {
            text.push(c);
        }
    }
    cut(&text, bytes).into()
}

fn is_blank(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}')
}

/// Control characters (C0, DEL, C1) and the bidirectional controls of Unicode's UAX #9.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_unicode_is_left_alone() {
        let text = "Größe überschritten – 容量不足 🐙 e\u{301}";
        assert_eq!(message(text), text);
    }

    #[test]
    fn terminal_sequences_are_defused() {
        assert_eq!(
            message("bad\x1b[2J\rOK\u{9b}31m\u{7} \u{202e}gnp.exe\0"),
            "bad\u{fffd}[2J OK\u{fffd}31m\u{fffd} \u{fffd}gnp.exe\u{fffd}"
        );
        assert_eq!(message("one\n\ttwo\n"), "one two");
    }

    #[test]
    fn a_mebibyte_is_cut_at_a_character() {
        let cut = message(&"容".repeat(400_000));
        assert!(cut.len() <= MESSAGE_BYTES, "{} bytes", cut.len());
        assert!(cut.ends_with("容..."), "{cut}");
    }

    #[test]
    fn a_whole_text_is_not_cut() {
        let text = format!("{}\u{1b}", "x".repeat(10_000));
        assert_eq!(whole(&text), text.replace('\u{1b}', "\u{fffd}"));
        assert_eq!(whole("\u{1}\u{2}"), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn what_just_fits_is_not_marked() {
        let text = "x".repeat(MESSAGE_BYTES);
        assert_eq!(message(&text), text);
    }
}
