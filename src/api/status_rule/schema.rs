//! Schemas of what rules are made of, where a derived one wouldn't do.

use schemars::{Schema, SchemaGenerator, json_schema};

/// Words, in order.
pub(super) fn words(_: &mut SchemaGenerator) -> Schema {
    texts(64)
}

/// Paths, in order.
pub(super) fn paths(_: &mut SchemaGenerator) -> Schema {
    texts(8)
}

fn texts(most: u32) -> Schema {
    json_schema!({"type": "array", "maxItems": most, "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"})
}

pub(super) fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

pub(super) fn any_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "maxItems": 64, "items": {"x-kubernetes-preserve-unknown-fields": true}, "x-kubernetes-list-type": "atomic"})
}

// A schema of a resource can't refer to itself: what is nested is checked by the controller.
pub(super) fn nested(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

pub(super) fn nested_list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "maxItems": 16, "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}, "x-kubernetes-list-type": "atomic"})
}
