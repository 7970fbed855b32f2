use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::Value;

use crate::model::{Kind, Object, StatusReporting, text};

/// What the CustomResourceDefinitions of a dump say of their kinds. They may stand after the
/// objects that they define.
#[derive(Debug, Default)]
pub struct Definitions {
    /// Group, version and kind of those with a status subresource.
    reporting: HashSet<(String, String, String)>,
    told: HashMap<Arc<Kind>, Arc<Kind>>,
}

impl Definitions {
    /// Learns from `object`, where it defines a kind.
    pub(super) fn learn(&mut self, object: &Object) {
        let kind = &object.reference.kind;
        if (&*kind.group, &*kind.kind) != ("apiextensions.k8s.io", "CustomResourceDefinition") {
            return;
        }
        let spec = &object.spec;
        let reports = |of: &Value| of["subresources"]["status"].is_object();
        // Before v1 they stood beside the versions, for all of them.
        let all_report = reports(spec);
        let versions = spec["versions"].as_array().into_iter().flatten();
        let named = versions
            .filter(|version| all_report || reports(version))
            .map(|version| &version["name"])
            .chain(all_report.then_some(&spec["version"]));
        for version in named.filter_map(Value::as_str) {
            let field = |value: &Value| text::name(value.as_str().unwrap_or_default());
            self.reporting.insert((
                field(&spec["group"]),
                text::name(version),
                field(&spec["names"]["kind"]),
            ));
        }
    }

    /// Tells `object` whether its kind reports a status, where nobody else did and a definition says so.
    pub fn tell(&mut self, object: &mut Object) {
        let kind = &object.reference.kind;
        if let Some(told) = self.told.get(kind) {
            object.reference.kind = Arc::clone(told);
            return;
        }
        let key = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
        if kind.status == StatusReporting::Unsaid && self.reporting.contains(&key) {
            let told = Arc::new(Kind { status: StatusReporting::Yes, ..Kind::clone(kind) });
            self.told.insert(Arc::clone(kind), Arc::clone(&told));
            object.reference.kind = told;
        }
    }
}
