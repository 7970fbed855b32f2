//! What is asked of an API server, and what its answers mean.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Response};
use kube::{Client, client::Body};

use super::*;
use crate::{discover::Catalogue, model::ObjectRef};

const PATIENCE: Duration = Duration::from_secs(3);

/// A server that gives the same answer to everything, and the requests that it got.
fn server(status: u16, body: &'static str) -> (Server, Arc<Mutex<Vec<String>>>) {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        seen.lock().unwrap().push(request.uri().to_string());
        let answer = Response::builder().status(status).body(Body::from(body.as_bytes().to_vec()));
        async move { Ok::<_, Infallible>(answer.unwrap()) }
    });
    let server = Server::new(Client::new(service, "default"), Arc::new(Catalogue::default()), PATIENCE);
    (server, asked)
}

fn named(kind: &str, namespace: &str, names: &[&str]) -> Named {
    Named {
        group: None,
        kind: kind.into(),
        namespace: namespace.into(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn pods(owner: Option<ObjectRef>) -> Listing {
    Listing {
        kind: crate::model::GroupKind { group: String::new(), kind: "Pod".into() },
        namespace: "lab".into(),
        selector: Selector::of_labels(Some(&serde_json::json!({"app": "web"}))).unwrap(),
        owner,
    }
}

const NONE: &str = r#"{"kind": "PodList", "items": []}"#;
const TWO: &str = r#"{"kind": "PodList", "metadata": {"continue": "more"}, "items": [
    {"metadata": {"name": "a", "namespace": "lab", "uid": "1", "ownerReferences": [{"uid": "x"}]}},
    {"metadata": {"name": "b", "namespace": "lab", "uid": "2", "ownerReferences": [{"uid": "y"}]}},
    {"metadata": {}}, 3]}"#;

#[tokio::test]
async fn one_object_is_listed_by_its_name() {
    let (server, asked) = server(200, TWO);
    let found = server.get(&named("Pod", "lab", &["a"])).await.unwrap();
    assert!(matches!(found, Lookup::Found(object) if &*object.reference.name == "a"));
    assert_eq!(
        asked.lock().unwrap()[..],
        ["/api/v1/namespaces/lab/pods?limit=500&fieldSelector=metadata.name%3Da"]
    );
}

#[tokio::test]
async fn what_is_not_listed_is_not_there() {
    let (server, asked) = server(200, NONE);
    let Lookup::Absent(reference) = server.get(&named("Node", "lab", &["n", "m"])).await.unwrap() else {
        panic!("there is none");
    };
    assert_eq!(reference.to_string(), "Node n");
    assert_eq!(asked.lock().unwrap().len(), 2, "each of its names is looked for");
}

#[tokio::test]
async fn objects_are_selected_by_label_and_owner() {
    let (server, asked) = server(200, TWO);
    let all = server.list(&pods(None)).await.unwrap();
    assert_eq!((all.items.len(), all.more), (2, true));
    let owner = ObjectRef { uid: "y".into(), ..all.items[0].reference.clone() };
    let owned = server.list(&pods(Some(owner))).await.unwrap();
    assert_eq!(owned.items.iter().map(|pod| &*pod.reference.name).collect::<Vec<_>>(), ["b"]);
    assert_eq!(asked.lock().unwrap()[0], "/api/v1/namespaces/lab/pods?limit=500&labelSelector=app%3Dweb");
}

#[tokio::test]
async fn events_are_selected_by_what_they_are_about() {
    let event =
        r#"{"kind": "EventList", "items": [{"reason": "Failed", "involvedObject": {"uid": "1"}}, {}]}"#;
    let (server, asked) = server(200, event);
    let pod = testing::object(
        serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "lab", "uid": "1"}}),
    );
    assert_eq!(server.events(&pod.reference).await.unwrap().items.len(), 1);
    let node = ObjectRef { namespace: "".into(), ..pod.reference };
    server.events(&node).await.unwrap();
    let query = "events?limit=500&fieldSelector=involvedObject.uid%3D1";
    assert_eq!(
        asked.lock().unwrap()[..],
        [format!("/api/v1/namespaces/lab/{query}"), format!("/api/v1/namespaces/default/{query}")]
    );
}

#[tokio::test]
async fn each_refusal_says_what_it_is() {
    let said =
        |status, body| async move { server(status, body).0.list(&pods(None)).await.unwrap_err().to_string() };
    assert_eq!(said(403, "{}").await, "may not look at pods in lab");
    assert_eq!(said(404, "{}").await, "Pod is no kind that is served");
    assert_eq!(
        said(500, r#"{"message": "broken\u001b"}"#).await,
        "can't look at pods in lab: broken\u{fffd} (500)"
    );
    assert!(
        said(200, "<html>")
            .await
            .starts_with("can't look at pods in lab: the API server's answer can't be read")
    );
    let unknown = server(200, NONE).0.get(&named("Gear", "lab", &["g"])).await.unwrap_err();
    assert_eq!(unknown.to_string(), "Gear is no kind that is served");
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_costs_no_more_than_the_patience() {
    let service =
        tower::service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Body>, Infallible>>());
    let server = Server::new(Client::new(service, "default"), Arc::default(), PATIENCE);
    let start = tokio::time::Instant::now();
    for _ in 0..10 {
        let error = server.list(&pods(None)).await.unwrap_err();
        assert_eq!(error.to_string(), "can't look at pods in lab: it took too long");
    }
    assert_eq!(start.elapsed(), PATIENCE, "all requests share it");
}
