//! Discovery a group and version at a time, for servers without the aggregated documents (Kubernetes
//! before 1.27 by default) and for gateways that don't pass on what is asked for.
//!
//! What it gives has the form of the aggregated documents. A version that can't be read is stale
//! there, as in those: it hides no other, and what was known of it is kept.

use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResource, APIResourceList, ObjectMeta};
use kube::{
    Client,
    client::{APIGroupDiscovery, APIResourceDiscovery, APISubresourceDiscovery, APIVersionDiscovery},
};

use super::{DiscoverError, read};

/// How many documents are read at the same time.
const CONCURRENT: usize = 8;

/// Reads which groups there are and what each version of them serves.
///
/// # Errors
/// Where it can't be told which groups there are.
pub(super) async fn groups(
    client: &Client,
    patience: Duration,
) -> Result<Vec<APIGroupDiscovery>, DiscoverError> {
    let core = read("/api", patience, client.list_core_api_versions()).await?;
    let named = read("/apis", patience, client.list_api_groups()).await?;
    if core.versions.is_empty() || named.groups.is_empty() {
        return Err(DiscoverError::Nothing);
    }
    let core = (String::new(), core.versions);
    let wanted = std::iter::once(core).chain(named.groups.into_iter().map(by_preference));
    let reads = wanted.map(|(group, versions)| async move {
        let mut read = Vec::with_capacity(versions.len());
        for version in versions {
            read.push(resources(client, patience, &group, version).await);
        }
        APIGroupDiscovery {
            metadata: Some(ObjectMeta { name: Some(group), ..ObjectMeta::default() }),
            versions: read,
        }
    });
    Ok(stream::iter(reads).buffered(CONCURRENT).collect().await)
}

/// The name of a group and its versions, the preferred one first.
fn by_preference(group: APIGroup) -> (String, Vec<String>) {
    let preferred = group.preferred_version.map(|version| version.version);
    let mut versions: Vec<String> = group.versions.into_iter().map(|version| version.version).collect();
    versions.sort_by_key(|version| Some(version) != preferred.as_ref());
    (group.name, versions)
}

async fn resources(client: &Client, patience: Duration, group: &str, version: String) -> APIVersionDiscovery {
    let listed = if group.is_empty() {
        read("/api", patience, client.list_core_api_resources(&version)).await
    } else {
        read("/apis", patience, client.list_api_group_resources(&format!("{group}/{version}"))).await
    };
    let (freshness, resources) = match listed {
        Ok(listed) => ("Current", merged(listed)),
        Err(error) => {
            tracing::debug!(group, version, %error, "what the version serves can't be read");
            ("Stale", Vec::new())
        }
    };
    APIVersionDiscovery { version: Some(version), resources, freshness: Some(freshness.to_owned()) }
}

/// The resources of a version, with those that are named `RESOURCE/SUBRESOURCE` in their places.
fn merged(listed: APIResourceList) -> Vec<APIResourceDiscovery> {
    let (subresources, resources): (Vec<_>, Vec<_>) =
        listed.resources.into_iter().partition(|resource| resource.name.contains('/'));
    let below = |plural: &str| {
        let named = |sub: &APIResource| {
            let (of, name) = sub.name.split_once('/')?;
            (of == plural).then(|| APISubresourceDiscovery {
                subresource: Some(name.to_owned()),
                ..APISubresourceDiscovery::default()
            })
        };
        subresources.iter().filter_map(named).collect()
    };
    let in_new_form = |resource: APIResource| {
        let mut found = APIResourceDiscovery {
            subresources: below(&resource.name),
            scope: Some(if resource.namespaced { "Namespaced" } else { "Cluster" }.to_owned()),
            verbs: resource.verbs,
            resource: Some(resource.name),
            singular_resource: Some(resource.singular_name),
            short_names: resource.short_names.unwrap_or_default(),
            ..APIResourceDiscovery::default()
        };
        found.response_kind.get_or_insert_default().kind = Some(resource.kind);
        found
    };
    resources.into_iter().map(in_new_form).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use std::convert::Infallible;

    use http::{Request, Response, StatusCode};
    use kube::client::Body;
    use serde_json::{Value, json};

    use super::*;
    use crate::discover::{Catalogue, Selection, discover};

    /// A server that answers as Kubernetes did before aggregated discovery; `b.io` is broken.
    fn answer(path: &str) -> (StatusCode, Value) {
        let group = |name: &str, versions: &[&str], preferred: &str| {
            let version = |v: &&str| json!({"groupVersion": format!("{name}/{v}"), "version": v});
            json!({"name": name, "versions": versions.iter().map(version).collect::<Vec<_>>(),
                "preferredVersion": {"groupVersion": format!("{name}/{preferred}"), "version": preferred}})
        };
        let resource = |name: &str, kind: &str| json!({"name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["get", "list", "watch"]});
        let list = |resources: &[Value]| json!({"kind": "APIResourceList", "groupVersion": "", "resources": resources});
        let found = match path {
            "/api" => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
            "/api/v1" => list(&[resource("pods", "Pod"), resource("pods/status", "Pod")]),
            "/apis" => json!({"kind": "APIGroupList", "groups": [
                group("a.io", &["v1", "v2"], "v2"), group("b.io", &["v1"], "v1")]}),
            "/apis/a.io/v1" => list(&[resource("wings", "Wing"), resource("legs", "Leg")]),
            "/apis/a.io/v2" => list(&[resource("wings", "Wing"), resource("wings/status", "Wing")]),
            _ => return (StatusCode::SERVICE_UNAVAILABLE, json!({"kind": "Status", "code": 503})),
        };
        (StatusCode::OK, found)
    }

    fn client(answer: impl Fn(&str) -> (StatusCode, Value) + Clone + Send + 'static) -> Client {
        let service = tower::service_fn(move |request: Request<Body>| {
            let (status, body) = answer(request.uri().path());
            let response = Response::builder().status(status).body(Body::from(body.to_string().into_bytes()));
            std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
        });
        Client::new(service, "default")
    }

    #[tokio::test]
    async fn a_server_of_before_aggregated_discovery_is_read_group_by_group() {
        let known = Catalogue::default();
        let found = discover(&client(answer), &Selection::default(), &known).await.expect("a catalogue");
        let names: Vec<String> = found
            .kinds
            .values()
            .map(|kind| format!("{} {} {:?}", kind.api_version(), kind.plural, kind.status))
            .collect();
        assert_eq!(names, ["v1 pods Yes", "a.io/v1 legs Unsaid", "a.io/v2 wings Yes"]);
        assert_eq!(found.stale, ["b.io".to_owned()].into(), "and the broken group hides no other");
    }

    #[tokio::test]
    async fn a_server_that_says_nothing_serves_not_nothing() {
        let nothing = client(|_| (StatusCode::OK, json!({"items": [], "groups": [], "versions": []})));
        let found = discover(&nothing, &Selection::default(), &Catalogue::default()).await;
        assert!(matches!(found, Err(DiscoverError::Nothing)), "{found:?}");
    }
}
