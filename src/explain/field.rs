//! What stands at a path of an object, where lists on the way are gone through.

use serde_json::Value;

use crate::model::Object;

/// The most values that one path gives.
const MOST: usize = 256;

/// The values at `path`, such as `status.nodeRef`, `spec.dependsOn` or
/// `metadata.annotations[example.org/of]`. A list stands for its items, at the end and on the way.
pub(super) fn values(object: &Object, path: &str) -> Vec<Value> {
    let mut steps = steps(path);
    let base = match steps.next() {
        Some("spec") => &object.spec,
        Some("status") => &object.status,
        Some("metadata") => return metadata(object, steps.next(), steps.next()).into_iter().collect(),
        _ => return Vec::new(),
    };
    let mut found = vec![base];
    for step in steps {
        found = items(found).filter_map(|value| value.get(step)).collect();
    }
    items(found).filter(|value| !value.is_null()).take(MOST).cloned().collect()
}

fn items(values: Vec<&Value>) -> impl Iterator<Item = &Value> {
    values.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    })
}

fn metadata(object: &Object, field: Option<&str>, key: Option<&str>) -> Option<Value> {
    let pairs = match field? {
        "name" => return Some((*object.reference.name).into()),
        "namespace" => return Some((*object.reference.namespace).into()),
        "labels" => &object.labels,
        "annotations" => &object.annotations,
        _ => return None,
    };
    let (_, value) = pairs.iter().find(|(own, _)| Some(own.as_str()) == key)?;
    Some(value.as_str().into())
}

/// The names in a path: set apart by dots, or in brackets where they have dots themselves.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']')?,
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        rest = after;
        (!step.is_empty()).then_some(step)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::explain::testing::object;

    #[test]
    fn lists_are_gone_through() {
        let object = object(
            json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n", "annotations": {"a.b/c": "d"}},
            "spec": {"a": [{"b": [{"name": "x"}, {"name": "y"}]}, {"b": {"name": "z"}}, 3]}, "status": {"ref": {"name": "r"}, "none": null}}),
        );
        let names = |path: &str| values(&object, path);
        assert_eq!(names("spec.a.b.name"), [json!("x"), json!("y"), json!("z")]);
        assert_eq!(names("spec.a.b").len(), 3);
        assert_eq!(names("status.ref"), [json!({"name": "r"})]);
        assert_eq!(names("metadata.annotations[a.b/c]"), [json!("d")]);
        assert_eq!(names("metadata.name"), [json!("n")]);
        for nothing in ["status.none", "status.ref.name.x", "data", "", "metadata.labels.x"] {
            assert!(names(nothing).is_empty(), "{nothing}");
        }
    }
}
