//! What the API server gives, and what its errors mean.

use std::{sync::Arc, time::Duration};

use http::{Request, header::ACCEPT};
use kube::Client;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Error, args::Connection, columns, table};
use crate::{
    api::{Addon, GROUP, LabelPrefix, VERSION},
    connect,
    discover::{Catalogue, DiscoverError, Selection, discover_within},
    explain,
    health::{Register, Registered, Rule, Rules, SharedRules},
    model::text,
    summary::{Census, Combination},
    watch::snapshot,
};

/// What the API server prints tables as; a server that can't gives the objects.
const AS_TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// How long looking below components may take in all.
const LOOK: Duration = Duration::from_secs(30);

/// An API server, ready to be asked.
pub(super) struct Server {
    client: Client,
    address: String,
    patience: Duration,
}

impl Server {
    /// Reads the configuration. Nothing is asked yet.
    pub async fn new(connection: &Connection) -> Result<Self, Error> {
        let kubeconfig = connection.kubeconfig.as_deref();
        let mut config = connect::config(kubeconfig, connection.context.as_deref()).await?;
        config.connect_timeout = Some(connection.timeout);
        config.read_timeout = Some(connection.timeout);
        config.write_timeout = Some(connection.timeout);
        let address = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        Ok(Self { client: connect::client_of(config)?, address, patience: connection.timeout })
    }

    /// The client, the API server's address, and how long it may be silent.
    pub fn parts(&self) -> (&Client, &str, Duration) {
        (&self.client, &self.address, self.patience)
    }

    /// Every labelled object of the cluster, judged by `users` rules before the built-in ones, and the
    /// kinds that could not be read.
    pub async fn snapshot(&self, prefix: &LabelPrefix, users: &[Arc<Rule>]) -> Result<Census, Error> {
        let rules = SharedRules::new(Arc::new(Rules::with(users.iter().cloned())).into());
        let census = snapshot(&self.client, &Selection::default(), prefix, &rules, self.patience).await;
        let mut census = census.map_err(|error| undiscovered(error, self.address.clone()))?;
        census.combinations = Combination::of(users.iter().filter_map(|rule| rule.combine()));
        Ok(census)
    }

    /// The `StatusRule` objects that are in force. A cluster without that resource has none.
    pub async fn rules(&self) -> Result<Vec<Arc<Rule>>, Error> {
        // Expressions are read as they were written; what is printed of them is cleaned elsewhere.
        match self.read(&format!("/apis/{GROUP}/{VERSION}/statusrules"), "application/json").await {
            Ok(list) => {
                let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
                let registered: Vec<Registered> = items.iter().filter_map(Registered::read).collect();
                Ok(Register::default().decide(&registered).in_force)
            }
            Err(Error::NotInstalled { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Where the objects below components are looked up.
    pub async fn below(&self) -> Result<explain::Server, Error> {
        let catalogue =
            discover_within(self.patience, &self.client, &Selection::default(), &Catalogue::default()).await;
        let catalogue = catalogue.map_err(|error| undiscovered(error, self.address.clone()))?;
        Ok(explain::Server::new(self.client.clone(), Arc::new(catalogue), LOOK))
    }

    /// All Addons as the API server prints them, the worst first, in one request.
    pub async fn table(&self) -> Result<ServerTable, Error> {
        let path = format!("/apis/{GROUP}/{VERSION}/addons?includeObject=None");
        let mut table: ServerTable = self.get(&path, AS_TABLE).await?;
        table.sort();
        Ok(table)
    }

    /// All Addons as an `AddonList`, in order of name, in one request.
    pub async fn list(&self) -> Result<Value, Error> {
        let mut list: Value =
            self.get(&format!("/apis/{GROUP}/{VERSION}/addons"), "application/json").await?;
        if let Some(items) = list["items"].as_array_mut() {
            items.sort_by(|a, b| a["metadata"]["name"].as_str().cmp(&b["metadata"]["name"].as_str()));
            for metadata in items.iter_mut().filter_map(|item| item["metadata"].as_object_mut()) {
                metadata.remove("managedFields");
            }
        }
        Ok(list)
    }

    /// The first Addon that has one of `names`; `None` where there is none.
    pub async fn addon(&self, names: &[String]) -> Result<Option<Addon>, Error> {
        for name in names {
            match self.get(&format!("/apis/{GROUP}/{VERSION}/addons/{name}"), "application/json").await {
                Ok(addon) => return Ok(Some(addon)),
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, accept: &str) -> Result<T, Error> {
        let mut value = self.read(path, accept).await?;
        clean(&mut value);
        serde_json::from_value(value).map_err(|error| self.answer(&error))
    }

    async fn read(&self, path: &str, accept: &str) -> Result<Value, Error> {
        let request = Request::get(path).header(ACCEPT, accept).body(Vec::new());
        let request = request.map_err(|error| self.answer(&error))?;
        self.client.request(request).await.map_err(|error| meaning(&error, self.address.clone()))
    }

    fn answer(&self, cause: &impl std::error::Error) -> Error {
        Error::Answer { server: self.address.clone(), cause: text::message(&cause.to_string()) }
    }
}

/// What an error of the client means to who asked for Addons.
fn meaning(error: &kube::Error, server: String) -> Error {
    match error {
        // Of a resource that it doesn't serve, the API server knows no details.
        kube::Error::Api(status) if status.code == 404 => match &status.details {
            Some(details) if !details.name.is_empty() => Error::NotFound { name: text::name(&details.name) },
            _ => Error::NotInstalled { server },
        },
        _ => failure(error, server, "'get' and 'list' on addons.addons.x-k8s.io"),
    }
}

/// What it means that the API server doesn't tell which kinds there are.
fn undiscovered(error: DiscoverError, server: String) -> Error {
    match error {
        DiscoverError::Request { error, .. } => failure(&error, server, "'get' on /api and /apis"),
        DiscoverError::Timeout { patience, .. } => {
            Error::Unreachable { server, cause: format!("no answer within {} s", patience.as_secs()) }
        }
        DiscoverError::Nothing => Error::Discover(error),
    }
}

/// What an error of the client means, whatever was asked for with the rights `needed`.
fn failure(error: &kube::Error, server: String, needed: &'static str) -> Error {
    let message = connect::cause(error);
    match error {
        kube::Error::Api(status) => match status.code {
            401 => Error::Unauthorized { server, message },
            403 => Error::Forbidden { message, needed },
            code => Error::Server { server, code, message },
        },
        kube::Error::SerdeError(_) => Error::Answer { server, cause: message },
        kube::Error::Auth(_) => Error::Unauthorized { server, message },
        _ => Error::Unreachable { server, cause: message },
    }
}

/// Cleans every text in an answer: who may write an Addon may put terminal sequences into it.
pub(super) fn clean(value: &mut Value) {
    match value {
        Value::String(raw) => *raw = text::whole(raw),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A table as the API server prints it (`meta.k8s.io/v1`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerTable {
    column_definitions: Vec<Column>,
    #[serde(default)]
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Column {
    name: String,
    /// 0 in every table, above that only in wide ones.
    #[serde(default)]
    priority: i32,
}

#[derive(Debug, Deserialize)]
struct Row {
    cells: Vec<Value>,
}

impl ServerTable {
    /// The names of the objects.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter_map(|row| row.cells.first()?.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The same for our printer.
    pub fn table(&self, wide: bool) -> table::Table {
        let shown: Vec<(usize, &Column)> = self
            .column_definitions
            .iter()
            .enumerate()
            .filter(|(_, column)| wide || column.priority == 0)
            .collect();
        let mut table = table::Table::new(shown.iter().map(|(_, column)| column.name.to_uppercase()));
        for row in &self.rows {
            let cell = |(index, column): &(usize, &Column)| {
                let text = shown_text(row.cells.get(*index));
                if column.is_health() { table::Cell::health(&text) } else { text.into() }
            };
            table.push(shown.iter().map(cell).collect());
        }
        table
    }

    fn sort(&mut self) {
        let Some(health) = self.column_definitions.iter().position(Column::is_health) else { return };
        self.rows.sort_by_cached_key(|row| {
            (columns::rank(&shown_text(row.cells.get(health))), shown_text(row.cells.first()))
        });
    }
}

impl Column {
    fn is_health(&self) -> bool {
        self.name.eq_ignore_ascii_case(columns::HEALTH)
    }
}

fn shown_text(cell: Option<&Value>) -> String {
    match cell {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
