use unicode_width::UnicodeWidthStr;

/// How many columns running text takes at most.
pub(super) const COLUMNS: usize = 80;

/// Breaks `text` at blanks into lines of at most [`COLUMNS`] when each is indented by `indent`. A
/// word that is longer gets a line of its own and isn't broken: it may be something to copy.
pub(super) fn wrap(text: &str, indent: usize) -> Vec<String> {
    let width = COLUMNS.saturating_sub(indent);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_blanks() {
        let long = "x".repeat(90);
        let lines = wrap(&format!("{}{long} 容量不足", "one two ".repeat(12)), 10);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[..2].iter().all(|line| line.width() <= 70), "{lines:?}");
        assert_eq!(lines[2..], [long, "容量不足".to_owned()]);
        assert!(wrap("", 0).is_empty());
    }
}
