//! Paths to fields: `status.phase`, `metadata.annotations[example.org/x]`, `status.items[-1].name`.

use std::{borrow::Cow, fmt};

use serde_json::Value;

use crate::model::Object;

/// How many steps a path may have.
const MAX_STEPS: usize = 16;

/// Where a field stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::health) struct Path {
    root: Root,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Spec,
    Status,
    Metadata,
    Webhooks,
    /// The item of a list that is tested.
    Item,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    /// From the end where it is negative.
    Index(i64),
}

/// What a path is looked for in.
#[derive(Clone, Copy)]
pub(in crate::health) enum Scope<'a> {
    /// The whole object.
    Object(&'a Object),
    /// An item of one of its lists.
    Item(&'a Value),
}

impl Path {
    /// Reads a path into an object.
    pub(in crate::health) fn parse(text: &str) -> Result<Self, String> {
        let mut steps = steps(text)?;
        let root = match steps.first() {
            Some(Step::Key(root)) => match root.as_str() {
                "spec" => Root::Spec,
                "status" => Root::Status,
                "metadata" => Root::Metadata,
                "webhooks" => Root::Webhooks,
                other => {
                    return Err(format!(
                        "a path begins with spec, status, metadata or webhooks, not with {other}"
                    ));
                }
            },
            _ => return Err("a path begins with spec, status, metadata or webhooks".to_owned()),
        };
        steps.remove(0);
        if root == Root::Metadata && steps.is_empty() {
            return Err("metadata is followed by the name of a field".to_owned());
        }
        Ok(Self { root, steps })
    }

    /// Reads a path into an item of a list; `.` is the item itself.
    pub(in crate::health) fn parse_in_item(text: &str) -> Result<Self, String> {
        let steps = if text == "." { Vec::new() } else { steps(text)? };
        Ok(Self { root: Root::Item, steps })
    }

    /// What stands there; `None` where nothing or `null` does.
    pub(in crate::health) fn find<'a>(&self, scope: Scope<'a>) -> Option<Cow<'a, Value>> {
        let base = match (self.root, scope) {
            (Root::Item, Scope::Item(item)) => item,
            (Root::Spec, Scope::Object(object)) => &object.spec,
            (Root::Status, Scope::Object(object)) => &object.status,
            (Root::Webhooks, Scope::Object(object)) => &object.webhooks,
            (Root::Metadata, Scope::Object(object)) => return self.metadata(object).map(Cow::Owned),
            _ => return None,
        };
        let found = self.steps.iter().try_fold(base, |value, step| step.of(value))?;
        (!found.is_null()).then_some(Cow::Borrowed(found))
    }

    /// All that stands there where lists on the way are gone through, the last one too. At most so
    /// many; `null` is nothing.
    pub(in crate::health) fn all(&self, object: &Object, most: usize) -> Vec<Value> {
        let base = match self.root {
            Root::Metadata => return self.metadata(object).into_iter().collect(),
            Root::Spec => &object.spec,
            Root::Status => &object.status,
            Root::Webhooks => &object.webhooks,
            Root::Item => return Vec::new(),
        };
        let mut found = vec![base];
        for step in &self.steps {
            found = match step {
                Step::Key(_) => items(found).filter_map(|value| step.of(value)).collect(),
                Step::Index(_) => found.into_iter().filter_map(|value| step.of(value)).collect(),
            };
        }
        items(found).filter(|value| !value.is_null()).take(most).cloned().collect()
    }

    /// The text that stands there; numbers and truths as they are written.
    pub(in crate::health) fn text<'a>(&self, scope: Scope<'a>) -> Option<Cow<'a, str>> {
        match self.find(scope)? {
            Cow::Borrowed(value) => text(value),
            Cow::Owned(value) => text(&value).map(|text| Cow::Owned(text.into_owned())),
        }
    }

    fn metadata(&self, object: &Object) -> Option<Value> {
        let (Step::Key(field), rest) = self.steps.split_first()? else { return None };
        let pairs = match field.as_str() {
            "name" => return Some((*object.reference.name).into()),
            "namespace" => return Some((*object.reference.namespace).into()),
            "generation" => return object.generation.map(Value::from),
            "creationTimestamp" => return Some(object.created?.to_string().into()),
            "labels" => &object.labels,
            "annotations" => &object.annotations,
            _ => return None,
        };
        match rest {
            [Step::Key(wanted)] => {
                let (_, value) = pairs.iter().find(|(key, _)| key == wanted)?;
                Some(value.as_str().into())
            }
            [] => Some(Value::Object(pairs.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect())),
            _ => None,
        }
    }
}

impl Step {
    fn of<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(fields)) => fields.get(key),
            (Self::Index(index), Value::Array(items)) => {
                let index = match usize::try_from(*index) {
                    Ok(index) => index,
                    Err(_) => items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
                };
                items.get(index)
            }
            _ => None,
        }
    }
}

/// The items of lists, and what is no list itself.
fn items(values: Vec<&Value>) -> impl Iterator<Item = &Value> {
    values.into_iter().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    })
}

/// A plain value as text.
pub(in crate::health) fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Number(number) => Some(number.to_string().into()),
        Value::Bool(truth) => Some(truth.to_string().into()),
        _ => None,
    }
}

fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        if key.is_empty() {
            return Err(format!("{text:?} is no path: a name is missing"));
        }
        steps.push(Step::Key(key.to_owned()));
        rest = after;
        while let Some(inner) = rest.strip_prefix('[') {
            let Some((key, after)) = inner.split_once(']') else {
                return Err(format!("{text:?} is no path: a [ isn't closed"));
            };
            if key.is_empty() {
                return Err(format!("{text:?} is no path: there is nothing between [ and ]"));
            }
            steps.push(key.parse().map_or_else(|_| Step::Key(key.to_owned()), Step::Index));
            rest = after;
        }
        if steps.len() > MAX_STEPS {
            return Err(format!("a path has at most {MAX_STEPS} steps"));
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(steps),
            None => return Err(format!("{text:?} is no path: a . is missing after ]")),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = match self.root {
            Root::Spec => "spec",
            Root::Status => "status",
            Root::Metadata => "metadata",
            Root::Webhooks => "webhooks",
            Root::Item => "",
        };
        f.write_str(root)?;
        for (place, step) in self.steps.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if key.contains(['.', '/']) => write!(f, "[{key}]")?,
                Step::Key(key) if root.is_empty() && place == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
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
    use crate::health::testing::object_of;

    fn found(path: &str) -> Option<Value> {
        let object = object_of(
            &json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n", "generation": 3, "annotations": {"a.b/c": "d"}},
                "spec": {"x": [{"y": 1}, {"y": 2}]}, "status": {"phase": null, "a/b": true}}),
            crate::model::StatusReporting::Unsaid,
        );
        Path::parse(path).expect("a path").find(Scope::Object(&object)).map(Cow::into_owned)
    }

    #[test]
    fn fields_are_found() {
        assert_eq!(found("spec.x[0].y"), Some(json!(1)));
        assert_eq!(found("spec.x[-1].y"), Some(json!(2)));
        assert_eq!(found("status[a/b]"), Some(json!(true)));
        assert_eq!(found("metadata.annotations[a.b/c]"), Some(json!("d")));
        assert_eq!(found("metadata.generation"), Some(json!(3)));
        for nothing in
            ["status.phase", "spec.x[2].y", "spec.x[-3]", "spec.x.y", "metadata.uid", "status.a.b.c"]
        {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn lists_are_gone_through() {
        let object = object_of(
            &json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n", "annotations": {"a.b/c": "d"}},
            "spec": {"a": [{"b": [{"name": "x"}, {"name": "y"}]}, {"b": {"name": "z"}}, 3]}, "status": {"ref": {"name": "r"}, "none": null}}),
            crate::model::StatusReporting::Unsaid,
        );
        let all = |path: &str| Path::parse(path).expect("a path").all(&object, 10);
        assert_eq!(all("spec.a.b.name"), [json!("x"), json!("y"), json!("z")]);
        assert_eq!(all("spec.a[1].b.name"), [json!("z")]);
        assert_eq!(all("spec.a[-3].b[0].name"), [json!("x")]);
        assert_eq!(all("spec.a.b").len(), 3);
        assert_eq!(all("status.ref"), [json!({"name": "r"})]);
        assert_eq!(all("metadata.annotations[a.b/c]"), [json!("d")]);
        assert_eq!(all("metadata.name"), [json!("n")]);
        for nothing in ["status.none", "status.ref.name.x", "spec.a[7]", "metadata.labels.x"] {
            assert!(all(nothing).is_empty(), "{nothing}");
        }
        assert_eq!(Path::parse("spec.a.b").expect("a path").all(&object, 2).len(), 2);
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (path, why) in [
            ("", "a name is missing"),
            ("phase", "begins with spec"),
            ("status..x", "a name is missing"),
            ("status.x[", "isn't closed"),
            ("status.x[]", "nothing between"),
            ("status.x[0]y", "a . is missing"),
            ("metadata", "followed by"),
        ] {
            let error = Path::parse(path).expect_err(path);
            assert!(error.contains(why), "{path}: {error}");
        }
        assert!(Path::parse(&format!("status{}", ".x".repeat(100))).is_err());
    }

    #[test]
    fn paths_are_shown_as_they_were_written() {
        for path in ["spec.x[0].y", "metadata.annotations[a.b/c]", "status"] {
            assert_eq!(Path::parse(path).expect("a path").to_string(), path);
        }
    }
}
