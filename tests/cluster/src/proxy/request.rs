//! What a request asks for, and which requests a fault is for.

use http::{Method, Uri};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// Which kinds there are.
    Discovery,
    /// The objects of a kind, or a page of them.
    List,
    /// The changes of a kind.
    Watch,
    /// One object, or those that a selector takes.
    Get,
    /// A change.
    Write,
    /// Something else.
    Other,
}

/// What is known of a request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) ask: Ask,
    pub(super) path: String,
    /// Whether it asks for a page after the first.
    pub(super) continued: bool,
}

impl Asked {
    pub(super) fn of(method: &Method, uri: &Uri) -> Self {
        let query: Vec<(&str, &str)> =
            uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')).collect();
        let is = |name| query.iter().any(|(key, value)| *key == name && matches!(*value, "true" | "1"));
        let has = |name| query.iter().any(|(key, value)| *key == name && !value.is_empty());
        let ask = match shape(uri.path()) {
            _ if *method != Method::GET => Ask::Write,
            Shape::Other => Ask::Other,
            Shape::Discovery => Ask::Discovery,
            Shape::Objects if is("watch") => Ask::Watch,
            Shape::Objects if has("labelSelector") || has("fieldSelector") => Ask::Get,
            Shape::Objects => Ask::List,
            Shape::Object => Ask::Get,
        };
        Self { ask, path: uri.path().to_owned(), continued: has("continue") }
    }
}

enum Shape {
    Discovery,
    Objects,
    Object,
    Other,
}

fn shape(path: &str) -> Shape {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let below = match &*segments {
        ["api" | "apis"] | ["api" | "apis", _] | ["apis", _, _] => return Shape::Discovery,
        ["api", _, below @ ..] | ["apis", _, _, below @ ..] => below,
        _ => return Shape::Other,
    };
    match below {
        ["namespaces", _, _] | [_] => Shape::Objects,
        _ => Shape::Object,
    }
}

/// Which requests are meant; all where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct When {
    path: String,
    asks: Vec<Ask>,
    continued: bool,
}

impl When {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests whose path begins so: `/apis/apps/` or `/api/v1/configmaps`.
    pub fn under(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Only those among them that ask for one of these.
    #[must_use]
    pub fn asks(self, asks: &[Ask]) -> Self {
        Self { asks: asks.to_vec(), ..self }
    }

    /// Only lists.
    #[must_use]
    pub fn lists(self) -> Self {
        self.asks(&[Ask::List])
    }

    /// Only watches.
    #[must_use]
    pub fn watches(self) -> Self {
        self.asks(&[Ask::Watch])
    }

    /// Only pages after the first of a list.
    #[must_use]
    pub fn continued(self) -> Self {
        Self { continued: true, ..self.lists() }
    }

    pub(super) fn matches(&self, asked: &Asked) -> bool {
        self.counts(&asked.path, asked.ask) && (asked.continued || !self.continued)
    }

    pub(super) fn counts(&self, path: &str, ask: Ask) -> bool {
        path.starts_with(&self.path) && (self.asks.is_empty() || self.asks.contains(&ask))
    }
}
