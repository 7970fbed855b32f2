//! Commands to copy: nothing in them comes from the cluster but names that a shell takes as they are.

use unicode_width::UnicodeWidthStr;

use crate::ctl::{args::Connection, wrap::COLUMNS};

/// `text`, where it is a name that means nothing to a shell nor to kubectl's parsing of arguments.
pub(super) fn safe(text: &str) -> Option<&str> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    (text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.bytes().all(fits)).then_some(text)
}

/// `text` as one argument of a shell.
pub(super) fn quoted(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':' | b'/' | b'@');
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A command of kubectl for the cluster that `connection` names, instead of the one that it would ask.
pub(super) fn at(command: &str, connection: &Connection) -> String {
    let Some(rest) = command.strip_prefix("kubectl ") else { return command.to_owned() };
    let kubeconfig = connection.kubeconfig.as_ref().map(|file| file.display().to_string());
    let mut flags = String::new();
    for (flag, value) in [("kubeconfig", kubeconfig.as_ref()), ("context", connection.context.as_ref())] {
        flags.extend(value.map(|value| format!("--{flag} {} ", quoted(value))));
    }
    format!("kubectl {flags}{rest}")
}

/// Breaks a command at blanks outside of quotes, so that it can be copied whole and its lines stay
/// within the columns when each is indented. An argument that is longer gets a line of its own.
pub(super) fn fold(command: &str, indent: usize) -> Vec<String> {
    let width = COLUMNS.saturating_sub(indent + 2);
    let mut lines: Vec<String> = Vec::new();
    for word in words(command) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("  {word}"));
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn words(command: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let at_blank = move |c: char| {
        is_quoted ^= c == '\'';
        c == ' ' && !is_quoted
    };
    command.split(at_blank).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn commands_are_for_the_cluster_that_was_asked() {
        let mut connection = Connection { kubeconfig: None, context: None, timeout: Duration::from_secs(1) };
        assert_eq!(at("kubectl get crd", &connection), "kubectl get crd");
        connection.kubeconfig = Some("a b.yaml".into());
        connection.context = Some("prod".into());
        let wanted = "kubectl --kubeconfig 'a b.yaml' --context prod get crd";
        assert_eq!(at("kubectl get crd", &connection), wanted);
        assert_eq!(at("addonctl doctor", &connection), "addonctl doctor");
    }

    #[test]
    fn what_a_shell_would_act_on_is_no_name() {
        assert_eq!(safe("gears.gears.example"), Some("gears.gears.example"));
        for bad in ["", "a;b", "$(a)", "`a`", "a b", "-a", "--all", "a\n", "é", "a'b", "*"] {
            assert_eq!(safe(bad), None, "{bad}");
        }
    }

    #[test]
    fn arguments_are_quoted_where_they_must_be() {
        assert_eq!(quoted("system:serviceaccount:a:b"), "system:serviceaccount:a:b");
        assert_eq!(quoted("O'Neil $x"), r"'O'\''Neil $x'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn long_commands_are_folded_outside_of_quotes() {
        let command =
            format!("kubectl create x --resource='{}' --verb=list {}", "a b ".repeat(20), "word ".repeat(30));
        let lines = fold(&command, 6);
        let (quoted, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.contains("--resource"));
        assert_eq!(quoted.len(), 1, "{lines:?}");
        assert!(others.iter().all(|line| line.len() <= 74), "{lines:?}");
        let joined = lines.join("\n").replace(" \\\n ", "");
        assert_eq!(joined, command.trim_end());
    }
}
