use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use kube::CustomResourceExt;

use super::{Addon, StatusRule};

/// The `CustomResourceDefinition` of `Addon`, as it stands in `crds/`.
pub fn crd() -> CustomResourceDefinition {
    tidy(Addon::crd())
}

/// The `CustomResourceDefinition` of `StatusRule`, as it stands in `crds/`.
pub fn status_rule_crd() -> CustomResourceDefinition {
    tidy(StatusRule::crd())
}

fn tidy(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    let schemas = crd.spec.versions.iter_mut().filter_map(|version| version.schema.as_mut());
    for schema in schemas.filter_map(|schema| schema.open_api_v3_schema.as_mut()) {
        schema.title = None;
        plain(schema);
    }
    crd
}

/// Takes out of a derived schema what the API conventions advise against or nobody reads: `null` as
/// a value of its own, defaults in a status, line breaks where the source code breaks its lines.
fn plain(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.default = None;
    // Unknown fields are pruned, and told by kubectl.
    schema.additional_properties =
        schema.additional_properties.take().filter(|_| schema.properties.is_none());
    schema.description = schema.description.take().map(|text| text.replace('\n', " "));
    schema.properties.iter_mut().flat_map(|properties| properties.values_mut()).for_each(plain);
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        plain(items);
    }
}
