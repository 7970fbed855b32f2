//! Objects that messages name, such as `Deployment/lab/web status: 'InProgress'`.

use super::lead::{Named, is_name};

/// The most that is read off one object's messages.
const MOST: usize = 8;

/// The objects that `messages` name, each once and in order. One without a namespace is looked for in
/// `namespace`.
pub(super) fn named<'a>(messages: impl Iterator<Item = &'a str>, namespace: &str) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for message in messages {
        let mut kind = None;
        for word in message.split(|c: char| c.is_whitespace() || "[](){}<>,;'\"`=".contains(c)) {
            let word = word.trim_end_matches(['.', ':']);
            let found = of_path(word, namespace).or_else(|| of_pair(kind, word, namespace));
            if let Some(found) = found.filter(|found| !all.contains(found)) {
                all.push(found);
            }
            if all.len() == MOST {
                return all;
            }
            kind = Some(word);
        }
    }
    all
}

/// `Kind/namespace/name`, `Kind/name`, either also with a group: `Kind.group/...` or `group/Kind/...`.
fn of_path(word: &str, namespace: &str) -> Option<Named> {
    let mut parts: Vec<&str> = word.split('/').collect();
    let mut group = None;
    if parts.len() == 4 {
        group = Some(parts.remove(0));
    }
    let (kind, namespace, name) = match *parts {
        [kind, name] => (kind, namespace, name),
        [kind, namespace, name] => (kind, namespace, name),
        _ => return None,
    };
    let (kind, of_kind) = kind_and_group(kind)?;
    named_in(group.or(of_kind), kind, namespace, name)
}

/// `Kind namespace/name`.
fn of_pair(kind: Option<&str>, word: &str, namespace: &str) -> Option<Named> {
    let (kind, group) = kind_and_group(kind?)?;
    let (namespace, name) = word.split_once('/').unwrap_or((namespace, ""));
    named_in(group, kind, namespace, name)
}

fn kind_and_group(word: &str) -> Option<(&str, Option<&str>)> {
    let (kind, group) = match word.split_once('.') {
        Some((kind, group)) => (kind, Some(group)),
        None => (word, None),
    };
    let is_kind = kind.len() > 1
        && kind.starts_with(|c: char| c.is_ascii_uppercase())
        && kind.bytes().all(|b| b.is_ascii_alphanumeric())
        && kind.bytes().any(|b| b.is_ascii_lowercase());
    is_kind.then_some((kind, group))
}

fn named_in(group: Option<&str>, kind: &str, namespace: &str, name: &str) -> Option<Named> {
    let lower = |text: &str| is_name(text) && !text.bytes().any(|b| b.is_ascii_uppercase());
    let lettered = name.bytes().any(|b| b.is_ascii_lowercase());
    (lower(name) && lettered && (namespace.is_empty() || lower(namespace))).then(|| Named {
        group: group.map(str::to_owned),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        names: vec![name.to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str) -> Vec<String> {
        named([message].into_iter(), "own")
            .into_iter()
            .map(|n| {
                let group = n.group.map(|group| format!(".{group}")).unwrap_or_default();
                format!("{}{group} {}/{}", n.kind, n.namespace, n.names.join("|"))
            })
            .collect()
    }

    #[test]
    fn what_messages_name_is_found() {
        for (message, expected) in [
            (
                "health check failed after 1m0s: timeout waiting for: [Deployment/lab/web status: 'InProgress', Job/lab/init status: 'Failed']",
                &["Deployment lab/web", "Job lab/init"][..],
            ),
            (
                "Helm install failed: resource Deployment/lab/web not ready. status: InProgress, message: Available: 0/1",
                &["Deployment lab/web"],
            ),
            (
                "HelmRelease.helm.toolkit.fluxcd.io/flux-system/redis: failed",
                &["HelmRelease.helm.toolkit.fluxcd.io flux-system/redis"],
            ),
            ("apps/Deployment/lab/web is unavailable", &["Deployment.apps lab/web"]),
            (
                "1 of 3 not healthy: Deployment lab/web: Pod lab/web-1: crash",
                &["Deployment lab/web", "Pod lab/web-1"],
            ),
            ("Secret/token is missing; Secret/token again", &["Secret own/token"]),
            ("nothing here: https://example.com/a/b, 0/3 nodes, I/O error, and N/A", &[]),
            ("", &[]),
        ] {
            assert_eq!(said(message), expected, "{message}");
        }
    }

    #[test]
    fn a_flood_of_names_is_cut() {
        let flood: String = (0..1000).map(|n| format!("Pod/lab/p{n} ")).collect();
        assert_eq!(said(&flood).len(), MOST);
    }
}
