//! The aggregated discovery documents, whatever an extension API server has written into its part.
//!
//! Go writes a list without elements as `null` where its field has no `omitempty`: so come the verbs of the parent
//! that the aggregator makes up for a subresource which has none, as custom metrics are. What can't be read even so
//! makes its version stale: nothing else is hidden by it, and what was known of the group is kept.

use kube::client::{APIGroupDiscovery, APIResourceDiscovery, APIVersionDiscovery};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::model::text;

/// The groups of a document; none where it is of an older form.
///
/// # Errors
/// Where it isn't JSON, or no list of anything.
pub(super) fn groups(document: &str) -> serde_json::Result<Vec<APIGroupDiscovery>> {
    #[derive(Deserialize)]
    struct Document {
        items: Option<Vec<Value>>,
    }
    let Document { items } = serde_json::from_str(document)?;
    Ok(items.unwrap_or_default().into_iter().map(group).collect())
}

fn group(mut found: Value) -> APIGroupDiscovery {
    drop_nulls(&mut found);
    let name = found["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let mut versions = Vec::new();
    let mut is_odd = false;
    for version in taken(&mut found, "versions", &mut is_odd) {
        versions.push(self::version(&name, version));
    }
    if is_odd {
        versions.push(stale(&name, "its versions are no list", APIVersionDiscovery::default()));
    }
    let mut group = APIGroupDiscovery { versions, ..APIGroupDiscovery::default() };
    group.metadata.get_or_insert_default().name = Some(name);
    group
}

fn version(group: &str, mut found: Value) -> APIVersionDiscovery {
    let mut is_odd = false;
    let resources = taken(&mut found, "resources", &mut is_odd);
    let mut version = match read::<APIVersionDiscovery>(found) {
        Ok(version) => version,
        Err(why) => stale(group, &why, APIVersionDiscovery::default()),
    };
    if is_odd {
        version = stale(group, "its resources are no list", version);
    }
    for resource in resources {
        match read::<APIResourceDiscovery>(resource) {
            Ok(resource) => version.resources.push(resource),
            Err(why) => version = stale(group, &why, version),
        }
    }
    version
}

fn stale(group: &str, why: &str, version: APIVersionDiscovery) -> APIVersionDiscovery {
    let name = version.version.as_deref().unwrap_or_default();
    tracing::debug!(group, version = name, why, "what the discovery document says of it can't be read");
    APIVersionDiscovery { freshness: Some("Stale".to_owned()), ..version }
}

/// The elements of a list, which is left out of the object. `is_odd` where there is something else.
fn taken(object: &mut Value, field: &str, is_odd: &mut bool) -> Vec<Value> {
    match object.as_object_mut().map(|fields| fields.remove(field)) {
        Some(Some(Value::Array(elements))) => elements,
        Some(None) => Vec::new(),
        None | Some(Some(_)) => {
            *is_odd = true;
            Vec::new()
        }
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| text::message(&error.to_string()))
}

/// Fields that are null are as if they weren't there.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(elements) => {
            elements.retain(|element| !element.is_null());
            elements.iter_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::discover::{Catalogue, Selection};

    fn resource(plural: &str) -> Value {
        json!({"resource": plural, "verbs": ["list", "watch"], "responseKind": {"kind": plural}})
    }

    /// A document of a healthy group, and of `x.io`, which may be anything.
    fn document(other: &Value) -> String {
        let healthy = json!({"metadata": {"name": "a.io"}, "versions": [
            {"version": "v1", "freshness": "Current", "resources": [resource("wings")]}]});
        json!({"kind": "APIGroupDiscoveryList", "items": [other, healthy]}).to_string()
    }

    /// What is found, and which groups are stale.
    fn found(document: &str) -> (Vec<String>, Vec<String>) {
        let groups = groups(document).expect("a document");
        let found = Catalogue::resolve(groups, &Selection::default(), &Catalogue::default());
        let names = found.kinds.keys().map(|name| format!("{}.{}", name.plural, name.group));
        (names.collect(), found.stale.into_iter().collect())
    }

    #[test]
    fn null_is_as_nothing() {
        let x = json!({"metadata": {"name": "x.io", "creationTimestamp": null}, "versions": [
            {"version": "v1", "freshness": "Current", "resources": [
                {"resource": "metrics", "verbs": null, "responseKind": null, "shortNames": null, "subresources": [
                    {"subresource": "cpu", "verbs": null, "acceptedTypes": null}]},
                resource("legs"),
                null]},
            {"version": "v2", "freshness": "Current", "resources": null}]});
        assert_eq!(found(&document(&x)), (vec!["wings.a.io".into(), "legs.x.io".into()], vec![]));
    }

    #[test]
    fn what_cannot_be_read_is_stale_and_hides_no_other() {
        let cases = [
            json!({"metadata": {"name": "x.io"}, "versions": [{"version": "v1", "resources": [
                {"resource": "arms", "verbs": "list"}, resource("legs"), 7]}]}),
            json!({"metadata": {"name": "x.io"}, "versions": [
                {"version": "v1", "resources": {"arms": 1}}, {"version": "v2", "resources": [resource("legs")]}]}),
            json!({"metadata": {"name": "x.io"}, "versions": [
                {"version": ["v1"]}, 3, {"version": "v2", "resources": [resource("legs")]}]}),
        ];
        for x in cases {
            let (kinds, stale) = found(&document(&x));
            assert_eq!(kinds, ["wings.a.io", "legs.x.io"], "{x}");
            assert_eq!(stale, ["x.io"], "{x}");
        }
        let (kinds, stale) = found(&document(&json!({"metadata": {"name": "x.io"}, "versions": "v1"})));
        assert_eq!((kinds, stale), (vec!["wings.a.io".into()], vec!["x.io".into()]));
    }

    #[test]
    fn what_is_no_document_is_an_error_and_an_older_one_is_empty() {
        for odd in ["", "<html>", "[]", "{\"items\": 7}", "{\"items\": [{}", "null"] {
            assert!(groups(odd).is_err(), "{odd}");
        }
        for old in ["{\"kind\": \"APIGroupList\", \"groups\": []}", "{\"items\": null}"] {
            assert!(groups(old).expect("a document").is_empty(), "{old}");
        }
    }

    /// Any JSON, not too large.
    fn any_json() -> impl Strategy<Value = Value> {
        let names = "metadata|name|versions|version|resources|resource|verbs|responseKind|kind|freshness";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z.]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 40, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(names, inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_in_one_group_hides_another(x in any_json()) {
            let (kinds, _) = found(&document(&x));
            prop_assert!(kinds.contains(&"wings.a.io".to_owned()), "{kinds:?}");
        }
    }
}
