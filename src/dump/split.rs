//! From the bytes of a file to its documents, by the rule of YAML: a line that starts with `---` or
//! `...` and goes on with a blank or ends there is a border, wherever it stands. JSON never has such
//! a line, so one rule serves both.

/// One document that isn't empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// Its bytes, with the `---` at its start where it has one.
    pub bytes: &'a [u8],
    /// The line of its first byte, from 1.
    pub line: usize,
}

/// The lines of `input` that aren't blank, as a document each.
pub(super) fn single_lines(input: &[u8]) -> Vec<Document<'_>> {
    let input = input.strip_prefix(BYTE_ORDER_MARK).unwrap_or(input);
    lines(input)
        .filter(|(.., content)| !content.trim_ascii().is_empty())
        .map(|(line, _, bytes)| Document { bytes, line })
        .collect()
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The documents of `input` in order. Those of only blanks, comments and directives are left out.
pub(super) fn documents(input: &[u8]) -> Vec<Document<'_>> {
    let mut documents = Vec::new();
    let mut start = if input.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut line = 1;
    let mut empty = true;
    for (number, offset, content) in lines(input) {
        let content_offset =
            offset + if content.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let content = &content[content_offset - offset..];
        let Some(border) = border(content) else {
            empty = empty && (is_blank(content) || content.starts_with(b"%"));
            continue;
        };
        if !empty {
            documents.push(Document { bytes: &input[start..offset], line });
        }
        start = match border {
            Border::Start => content_offset,
            Border::End => content_offset + 3,
        };
        line = number;
        empty = is_blank(&content[3..]);
    }
    if !empty {
        documents.push(Document { bytes: &input[start..], line });
    }
    documents
}

/// How many line breaks there are in `bytes`.
pub(super) fn breaks(bytes: &[u8]) -> usize {
    lines(bytes).count().saturating_sub(1)
}

enum Border {
    Start,
    End,
}

fn border(line: &[u8]) -> Option<Border> {
    let border = match line.get(..3)? {
        b"---" => Border::Start,
        b"..." => Border::End,
        _ => return None,
    };
    matches!(line.get(3), None | Some(b' ' | b'\t')).then_some(border)
}

fn is_blank(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    text.is_empty() || text.starts_with(b"#")
}

/// Number (from 1), offset and content of each line; what follows the last break is a line too.
fn lines(input: &[u8]) -> impl Iterator<Item = (usize, usize, &[u8])> {
    let mut next = Some(0);
    let mut number = 0;
    std::iter::from_fn(move || {
        let offset = next?;
        let rest = &input[offset..];
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        next = end.map(|end| offset + end + if rest[end..].starts_with(b"\r\n") { 2 } else { 1 });
        number += 1;
        Some((number, offset, &rest[..end.unwrap_or(rest.len())]))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use proptest::prelude::*;

    use super::*;

    fn split(input: &str) -> Vec<(usize, &str)> {
        let text =
            |document: Document<'static>| (document.line, std::str::from_utf8(document.bytes).expect("text"));
        documents(input.to_owned().leak().as_bytes()).into_iter().map(text).collect()
    }

    #[test]
    fn borders_are_found_where_yaml_has_them() {
        for (input, expected) in [
            ("", vec![]),
            ("\n\n# note\n", vec![]),
            ("a: 1", vec![(1, "a: 1")]),
            ("a: 1\n---\nb: 2\n", vec![(1, "a: 1\n"), (2, "---\nb: 2\n")]),
            ("---\na: 1\n...\n---\nb: 2", vec![(1, "---\na: 1\n"), (4, "---\nb: 2")]),
            ("a: 1\n...\nb: 2\n", vec![(1, "a: 1\n"), (2, "\nb: 2\n")]),
            ("--- # note\na: 1\n", vec![(1, "--- # note\na: 1\n")]),
            ("--- {a: 1}\n--- [2]", vec![(1, "--- {a: 1}\n"), (2, "--- [2]")]),
            ("---\n---\n# note\n---\n", vec![]),
            ("%YAML 1.2\n---\na: 1\n", vec![(2, "---\na: 1\n")]),
            ("a: |\n  ---\n  b\n", vec![(1, "a: |\n  ---\n  b\n")]),
            ("a: x---\n---b: 1\n....\n", vec![(1, "a: x---\n---b: 1\n....\n")]),
            ("a: 1\r\n---\r\nb: 2\r\n", vec![(1, "a: 1\r\n"), (2, "---\r\nb: 2\r\n")]),
            ("a: 1\r---\rb: 2", vec![(1, "a: 1\r"), (2, "---\rb: 2")]),
            ("\u{feff}---\na: 1\n\u{feff}--- b", vec![(1, "---\na: 1\n"), (3, "--- b")]),
            ("a\n---\t\nb\n---", vec![(1, "a\n"), (2, "---\t\nb\n")]),
        ] {
            assert_eq!(split(input), expected, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn joined_documents_come_back(
            documents in prop::collection::vec("[a-z]: [a-z .#-]{0,9}(\r?\n[ ][-. a-z]{0,9}){0,3}", 0..9),
            borders in prop::collection::vec(prop::sample::select(vec![
                "\n---\n", "\r\n---\r\n", "\n...\n---\n", "\n--- # note\n", "\n---\n# note\n---\n", "\n...\n",
            ]), 9),
        ) {
            let mut joined = String::new();
            for (document, border) in documents.iter().zip(borders) {
                joined.push_str(document);
                joined.push_str(border);
            }
            let bare: Vec<String> = split(&joined)
                .into_iter()
                .map(|(_, text)| {
                    let text = text.strip_prefix("---").unwrap_or(text);
                    text.strip_prefix(" # note").unwrap_or(text).trim_matches(['\r', '\n']).to_owned()
                })
                .collect();
            prop_assert_eq!(bare, documents);
        }

        #[test]
        fn any_bytes_are_split_in_order(input in prop::collection::vec(prop::sample::select(b"-.\n\r #a{".to_vec()), 0..60)) {
            let mut last = 0;
            for document in documents(&input) {
                prop_assert!(document.line > last || last == 0 && document.line >= 1);
                last = document.line;
            }
        }
    }
}
