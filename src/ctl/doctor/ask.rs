//! Requests that each end in time, whatever is at the other end.

use std::{fmt, time::Duration};

use http::{Request, header};
use http_body_util::{BodyExt, Limited};
use kube::{Client, client::Body};
use serde_json::Value;

use crate::{
    connect,
    ctl::server::{Server, clean},
    model::text,
};

/// The largest answer that is read: a page of the largest add-ons.
const MAX_ANSWER: usize = 64 << 20;

/// Objects of a page.
const PAGE: usize = 100;

/// The most pages of a list that are read.
const MAX_PAGES: usize = 200;

/// Somebody who answers HTTP, and how long that may take.
#[derive(Clone)]
pub(super) struct Asker {
    client: Client,
    address: String,
    patience: Duration,
}

/// Why there is no answer, or not the one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The HTTP status, where there was one.
    pub code: Option<u16>,
    /// What was said, cleaned.
    pub message: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{} ({code})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Trouble {
    pub fn is(&self, code: u16) -> bool {
        self.code == Some(code)
    }

    fn unreached(message: &str) -> Self {
        Self { code: None, message: text::message(message) }
    }
}

impl Asker {
    pub fn of(server: &Server) -> Self {
        let (client, address, patience) = server.parts();
        Self::new(client.clone(), text::message(address), patience)
    }

    pub fn new(client: Client, address: String, patience: Duration) -> Self {
        Self { client, address, patience }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// The JSON at a path, cleaned.
    pub async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.json(Request::get(path).body(Body::empty())).await
    }

    /// The answer to JSON, cleaned; `impersonated` is a user to ask as.
    pub async fn post(&self, path: &str, body: &Value, impersonated: Option<&str>) -> Result<Value, Trouble> {
        let mut request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        if let Some(user) = impersonated {
            request = request.header("Impersonate-User", user);
        }
        self.json(request.body(Body::from(body.to_string().into_bytes()))).await
    }

    /// What `read` makes of each object of a list, however many pages it has; a list that is longer than
    /// any that we know is cut.
    pub async fn list<T>(&self, path: &str, read: impl Fn(&Value) -> T) -> Result<Vec<T>, Trouble> {
        let mut all = Vec::new();
        let mut token = String::new();
        for _ in 0..MAX_PAGES {
            // What the API server gives here is base64.
            let page = self.get(&format!("{path}?limit={PAGE}&continue={token}")).await?;
            all.extend(page["items"].as_array().into_iter().flatten().map(&read));
            match page["metadata"]["continue"].as_str() {
                Some(next) if !next.is_empty() => next.clone_into(&mut token),
                _ => break,
            }
        }
        Ok(all)
    }

    /// Status and body at a path.
    pub async fn fetch(&self, path: &str) -> Result<(u16, Vec<u8>), Trouble> {
        self.send(Request::get(path).body(Body::empty())).await
    }

    async fn json(&self, request: http::Result<Request<Body>>) -> Result<Value, Trouble> {
        let (code, body) = self.send(request).await?;
        let parsed = serde_json::from_slice::<Value>(&body);
        if !(200..300).contains(&code) {
            let said = parsed.ok().and_then(|status| Some(status["message"].as_str()?.to_owned()));
            let said = said.unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned());
            return Err(Trouble { code: Some(code), message: text::message(&said) });
        }
        let mut value = parsed.map_err(|error| Trouble::unreached(&format!("no JSON came: {error}")))?;
        clean(&mut value);
        Ok(value)
    }

    async fn send(&self, request: http::Result<Request<Body>>) -> Result<(u16, Vec<u8>), Trouble> {
        let request = request.map_err(|error| Trouble::unreached(&error.to_string()))?;
        let answer = async {
            let response = self.client.send(request).await;
            let response = response.map_err(|error| Trouble::unreached(&connect::cause(&error)))?;
            let code = response.status().as_u16();
            let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
            let body = body.map_err(|error| Trouble::unreached(&error.to_string()))?;
            Ok((code, body.to_bytes().to_vec()))
        };
        match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(Trouble::unreached(&format!("no answer within {} s", self.patience.as_secs()))),
        }
    }
}
