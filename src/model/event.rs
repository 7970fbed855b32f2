use serde_json::Value;

use super::{
    ObjectRef, Timestamp,
    decode::{self, text_at},
    text,
};

/// Something that a controller reported about an object: an Event of the core group or of
/// `events.k8s.io`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The object that it is about, as far as the event names it.
    pub about: About,
    /// It is of type `Warning`.
    pub is_warning: bool,
    /// CamelCase.
    pub reason: String,
    /// For people. Cleaned and cut.
    pub message: String,
    /// When it was seen last.
    pub last: Option<Timestamp>,
}

/// The object that an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its `uid`, empty where the event names none.
    pub uid: Box<str>,
    /// Its kind.
    pub kind: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Event {
    /// Reads an Event; `None` where it says nothing.
    pub fn read(event: &Value) -> Option<Self> {
        let about = event.get("involvedObject").or_else(|| event.get("regarding"))?;
        let message = text_at(event, "message").or_else(|| text_at(event, "note")).unwrap_or_default();
        let reason = text_at(event, "reason").unwrap_or_default();
        if reason.is_empty() && message.is_empty() {
            return None;
        }
        Some(Self {
            about: About {
                uid: text::name(text_at(about, "uid").unwrap_or_default()).into(),
                kind: text::name(text_at(about, "kind").unwrap_or_default()),
                namespace: text::name(text_at(about, "namespace").unwrap_or_default()),
                name: text::name(text_at(about, "name").unwrap_or_default()),
            },
            is_warning: text_at(event, "type") == Some("Warning"),
            reason: text::word(reason),
            message: text::message(message),
            last: last(event),
        })
    }

    /// Whether it is about `object`.
    pub fn is_about(&self, object: &ObjectRef) -> bool {
        let About { uid, kind, namespace, name } = &self.about;
        if !uid.is_empty() && !object.uid.is_empty() {
            return *uid == object.uid;
        }
        (&**kind, &**namespace, &**name) == (&*object.kind.kind, &*object.namespace, &*object.name)
    }
}

/// The newest of the times that the two forms of an event have.
fn last(event: &Value) -> Option<Timestamp> {
    const FIELDS: [&str; 6] = [
        "/series/lastObservedTime",
        "/lastTimestamp",
        "/deprecatedLastTimestamp",
        "/eventTime",
        "/firstTimestamp",
        "/metadata/creationTimestamp",
    ];
    FIELDS.iter().filter_map(|field| decode::time(event.pointer(field))).max()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_are_read() {
        let core = json!({"type": "Warning", "reason": "FailedMount", "message": "no\nsecret",
            "firstTimestamp": "2025-03-01T10:00:00Z", "lastTimestamp": "2025-03-01T10:05:00Z", "eventTime": null,
            "involvedObject": {"kind": "Pod", "namespace": "lab", "name": "web", "uid": "1"}});
        let new = json!({"type": "Warning", "reason": "FailedMount", "note": "no secret",
            "eventTime": "2025-03-01T10:00:00.123456Z", "series": {"count": 3, "lastObservedTime": "2025-03-01T10:05:00.000000Z"},
            "regarding": {"kind": "Pod", "namespace": "lab", "name": "web", "uid": "1"}});
        let core = Event::read(&core).expect("an event");
        assert_eq!(core, Event::read(&new).expect("an event"));
        assert_eq!(core.message, "no secret");
        assert_eq!(core.last.expect("a time").to_string(), "2025-03-01T10:05:00Z");
    }

    #[test]
    fn what_is_strange_is_as_if_it_were_not_there() {
        for nothing in [json!({}), json!(1), json!({"involvedObject": {"name": "x"}, "message": 3})] {
            assert_eq!(Event::read(&nothing), None, "{nothing}");
        }
        let event = Event::read(&json!({"involvedObject": [], "reason": "Odd", "lastTimestamp": "soon"}));
        let event = event.expect("an event");
        assert_eq!((event.about, event.is_warning, event.last), (About::default(), false, None));
    }
}
