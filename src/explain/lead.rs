//! Where a cause may lie: which objects to look at next.

use std::{borrow::Cow, fmt, sync::Arc};

use serde_json::Value;

use super::selector::Selector;
use crate::model::{GroupKind, Kind, ObjectRef, StatusReporting, decode::text_at, group_version};

/// Objects in which the cause may lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lead {
    /// What they are to the object that they were found from, such as `spec.sourceRef`.
    pub(super) via: Cow<'static, str>,
    pub(super) target: Target,
    pub(super) bond: Bond,
    pub(super) pick: Pick,
    /// What it means that there are none, where that explains something.
    pub(super) lacking: Option<&'static str>,
    /// What the object that they were found from says of them, where it says that they aren't well.
    pub(super) told: Option<Told>,
}

/// How one object says that another is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// In one word, cleaned.
    pub(super) word: String,
    /// For people, cleaned and cut. May be empty.
    pub(super) message: String,
}

/// Which objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    One(Named),
    Many(Listing),
}

/// One object by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// API group, empty for the core group; `None` where nobody says.
    pub group: Option<String>,
    /// Its kind.
    pub kind: String,
    /// Where it lives, if its kind lives in namespaces.
    pub namespace: String,
    /// The names that it may have; the first that there is counts.
    pub names: Vec<String>,
}

/// Objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Their kind.
    pub kind: GroupKind,
    /// Where they live, if their kind lives in namespaces.
    pub namespace: String,
    /// The labels that they have.
    pub selector: Selector,
    /// The object that owns them, where that is asked for.
    pub owner: Option<ObjectRef>,
}

/// What objects are to the one that they were found from, and so when they explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bond {
    /// It made them: they explain it whenever they aren't well.
    Made,
    /// It can't be well without them: the same, and their absence explains it too.
    Needs,
    /// It refers to them: they explain it, but one that only moves doesn't explain one that fails.
    Refers,
    /// It mentions them: they explain it whenever they aren't well, and that there are none means nothing.
    Mentions,
    /// It stands for what lies behind them, however they are themselves.
    Through,
}

impl Bond {
    /// Whether it means something that there is no such object.
    pub(super) fn tells_by_absence(self) -> bool {
        matches!(self, Self::Needs | Self::Refers | Self::Through)
    }
}

/// Which of several objects are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// Those that aren't well, the worst first. What ended or was replaced says nothing.
    Worst,
    /// The same, but what ended counts, and of equals the newest goes first.
    Ended,
}

impl Lead {
    pub(super) fn new(via: impl Into<Cow<'static, str>>, target: Target, bond: Bond) -> Self {
        Self { via: via.into(), target, bond, pick: Pick::Worst, lacking: None, told: None }
    }

    /// One object that is needed.
    pub(super) fn needs(via: &'static str, named: Named) -> Self {
        Self::new(via, Target::One(named), Bond::Needs)
    }

    /// Objects of a kind that `owner` made, with the labels that it asks for.
    pub(super) fn made(via: &'static str, group: &str, kind: &str, owner: &ObjectRef, by: Selector) -> Self {
        let listing = Listing {
            kind: GroupKind { group: group.to_owned(), kind: kind.to_owned() },
            namespace: owner.namespace.to_string(),
            selector: by,
            owner: Some(owner.clone()),
        };
        Self::new(via, Target::Many(listing), Bond::Made)
    }
}

impl fmt::Display for Named {
    /// `Deployment lab/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.names.join(" or "))
    }
}

impl fmt::Display for Listing {
    /// `Pod objects in lab`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} objects", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, " in {}", self.namespace)?;
        }
        Ok(())
    }
}

impl Named {
    /// The object of this group and kind with this name.
    pub fn new(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            group: Some(group.to_owned()),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            names: vec![name.to_owned()],
        }
    }

    /// The object with the first of its names, as far as nobody has seen it.
    pub(super) fn reference(&self) -> ObjectRef {
        let kind = Kind {
            group: self.group.clone().unwrap_or_default(),
            version: String::new(),
            kind: self.kind.clone(),
            plural: String::new(),
            namespaced: !self.namespace.is_empty(),
            status: StatusReporting::Unsaid,
        };
        ObjectRef {
            kind: Arc::new(kind),
            namespace: self.namespace.as_str().into(),
            name: self.names.first().map(String::as_str).unwrap_or_default().into(),
            uid: "".into(),
        }
    }

    /// Reads a reference as objects spell them: with a `name`, and maybe `kind`, `apiVersion` or `group`,
    /// and `namespace`. What it leaves out is as `default` says.
    pub(super) fn of_reference(reference: &Value, default: &DefaultReference<'_>) -> Option<Self> {
        let (namespace, name) = match reference {
            Value::String(text) => match text.split_once('/') {
                Some((namespace, name)) => (Some(namespace), name),
                None => (None, text.as_str()),
            },
            _ => (text_at(reference, "namespace"), text_at(reference, "name")?),
        };
        let version = text_at(reference, "apiVersion");
        let of_version = version.map(|version| group_version(version).0);
        let group =
            of_version.or_else(|| text_at(reference, "apiGroup").or_else(|| text_at(reference, "group")));
        let kind = text_at(reference, "kind").or(default.kind)?;
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).unwrap_or(default.namespace);
        let group = group.unwrap_or(default.group);
        let is_kind = kind.len() <= 253 && kind.bytes().all(|b| b.is_ascii_alphanumeric());
        let fits = |text: &str| text.is_empty() || is_name(text);
        (is_name(name) && is_kind && fits(namespace) && fits(group))
            .then(|| Self::new(group, kind, namespace, name))
    }
}

/// Whether it may be the name of an object, and so may stand in a query.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':');
    (1..=253).contains(&text.len()) && text.bytes().all(fits)
}

/// What a reference means that doesn't say all.
pub(super) struct DefaultReference<'a> {
    pub(super) group: &'a str,
    pub(super) kind: Option<&'a str>,
    pub(super) namespace: &'a str,
}
