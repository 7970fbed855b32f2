//! Prints a tree of text in 80 columns.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::wrap::wrap;

/// Something with more below it.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// What it is. May be painted.
    pub head: String,
    /// What is said about it.
    pub notes: Vec<String>,
    pub below: Vec<Branch>,
}

impl Branch {
    /// The tree as text, this branch being its root.
    pub fn render(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, "", "");
        text
    }

    /// `first` stands before the first line, `rest` before every other.
    fn write(&self, text: &mut String, first: &str, rest: &str) {
        let notes = if self.below.is_empty() { format!("{rest}  ") } else { format!("{rest}│ ") };
        paragraph(text, &self.head, first, &notes);
        self.notes.iter().for_each(|note| paragraph(text, note, &notes, &notes));
        for (place, branch) in self.below.iter().enumerate() {
            let (corner, line) =
                if place + 1 < self.below.len() { ("├─", "│ ") } else { ("└─", "  ") };
            branch.write(text, &format!("{rest}{corner} "), &format!("{rest}{line} "));
        }
    }
}

fn paragraph(text: &mut String, content: &str, first: &str, rest: &str) {
    let mut prefix = first;
    for line in wrap(content, first.width().max(rest.width())) {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{prefix}{line}");
        prefix = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_hang_below_each_other() {
        let leaf = |head: &str, notes: &[&str]| Branch {
            head: head.to_owned(),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            below: Vec::new(),
        };
        let tree = Branch {
            below: vec![
                Branch { below: vec![leaf("c", &["why"])], ..leaf("b", &["one", "two"]) },
                leaf(&"d ".repeat(50), &[]),
            ],
            ..leaf("a", &[])
        };
        let long = format!("└─ {}\n     {}\n", ["d"; 38].join(" "), ["d"; 12].join(" "));
        assert_eq!(tree.render(), format!("a\n├─ b\n│  │ one\n│  │ two\n│  └─ c\n│       why\n{long}"));
    }
}
