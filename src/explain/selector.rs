use std::{collections::BTreeMap, fmt};

use serde_json::Value;

/// Which labels objects must have, as a `LabelSelector` or a plain map of labels says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Is(String, String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

impl Selector {
    /// Reads a `LabelSelector`; `None` where there is none, or one that can't be understood.
    pub(super) fn of(selector: Option<&Value>) -> Option<Self> {
        let selector = selector?.as_object()?;
        let mut requirements = match selector.get("matchLabels") {
            Some(labels) => Self::of_labels(Some(labels))?.0,
            None => Vec::new(),
        };
        for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
            requirements.push(Requirement::of(expression)?);
        }
        Some(Self(requirements))
    }

    /// Reads a plain map of labels; `None` where it is none.
    pub(super) fn of_labels(labels: Option<&Value>) -> Option<Self> {
        let labels = labels?.as_object()?.iter();
        labels.map(|(key, value)| Some(Requirement::Is(key.clone(), value.as_str()?.to_owned()))).collect()
    }

    /// One that asks for these labels.
    pub(super) fn of_pairs(labels: &BTreeMap<String, String>) -> Self {
        labels.iter().map(|(key, value)| Requirement::Is(key.clone(), value.clone())).collect()
    }

    /// Whether it takes everything.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it takes an object with these labels.
    pub(super) fn takes(&self, labels: &[(String, String)]) -> bool {
        let value = |key: &str| labels.iter().find(|(k, _)| k == key).map(|(_, value)| value);
        self.0.iter().all(|requirement| match requirement {
            Requirement::Is(key, wanted) => value(key) == Some(wanted),
            Requirement::In(key, wanted) => value(key).is_some_and(|value| wanted.contains(value)),
            Requirement::NotIn(key, unwanted) => value(key).is_none_or(|value| !unwanted.contains(value)),
            Requirement::Exists(key) => value(key).is_some(),
            Requirement::Missing(key) => value(key).is_none(),
        })
    }
}

impl FromIterator<Requirement> for Selector {
    fn from_iter<T: IntoIterator<Item = Requirement>>(requirements: T) -> Self {
        Self(requirements.into_iter().collect())
    }
}

impl Requirement {
    fn of(expression: &Value) -> Option<Self> {
        let key = expression.get("key")?.as_str()?.to_owned();
        let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
        let values: Vec<String> = values.filter_map(Value::as_str).map(str::to_owned).collect();
        Some(match expression.get("operator")?.as_str()? {
            "In" => Self::In(key, values),
            "NotIn" => Self::NotIn(key, values),
            "Exists" => Self::Exists(key),
            "DoesNotExist" => Self::Missing(key),
            _ => return None,
        })
    }
}

impl fmt::Display for Selector {
    /// As it stands in the query of a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, requirement) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str(",")?;
            }
            match requirement {
                Requirement::Is(key, value) => write!(f, "{key}={value}")?,
                Requirement::In(key, values) => write!(f, "{key} in ({})", values.join(","))?,
                Requirement::NotIn(key, values) => write!(f, "{key} notin ({})", values.join(","))?,
                Requirement::Exists(key) => f.write_str(key)?,
                Requirement::Missing(key) => write!(f, "!{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_selector_is_a_query_and_a_test() {
        let selector = json!({"matchLabels": {"app": "web", "tier": "front"}, "matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["a", "b"]},
            {"key": "canary", "operator": "DoesNotExist"},
            {"key": "track", "operator": "NotIn", "values": ["beta"]},
            {"key": "pod-template-hash", "operator": "Exists"}]});
        let selector = Selector::of(Some(&selector)).expect("a selector");
        assert_eq!(
            selector.to_string(),
            "app=web,tier=front,zone in (a,b),!canary,track notin (beta),pod-template-hash"
        );
        let labels = |more: &[(&str, &str)]| -> Vec<(String, String)> {
            let all = [("app", "web"), ("tier", "front"), ("zone", "b"), ("pod-template-hash", "1")];
            all.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        assert!(selector.takes(&labels(&[])));
        assert!(selector.takes(&labels(&[("track", "stable")])));
        assert!(!selector.takes(&labels(&[("canary", "")])));
        assert!(!selector.takes(&labels(&[("track", "beta")])));
        assert!(!selector.takes(&labels(&[])[..2]));
    }

    #[test]
    fn what_is_no_selector_selects_nothing() {
        for odd in [
            json!(null),
            json!("app=web"),
            json!({"matchLabels": {"a": 1}}),
            json!({"matchExpressions": [{"key": "a"}]}),
            json!({"matchExpressions": [{"key": "a", "operator": "Near"}]}),
        ] {
            assert_eq!(Selector::of(Some(&odd)), None, "{odd}");
        }
        assert_eq!(Selector::of(None), None);
        assert!(Selector::of(Some(&json!({}))).expect("one that takes everything").is_empty());
    }
}
