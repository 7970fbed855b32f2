//! The situations of the fixture set `grouping`, each from a public report, through `addonctl -f`.
//!
//! The fixtures lie beside the checkout, in `../shared/fixtures`, or where `ADDONS_FIXTURES` says.

#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

fn fixtures() -> Option<PathBuf> {
    let folder = match std::env::var_os("ADDONS_FIXTURES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"),
    }
    .join("grouping");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there are no fixtures at {}; set ADDONS_FIXTURES", folder.display());
    None
}

/// What `addonctl ARGUMENTS` prints. It must succeed.
fn addonctl(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_addonctl")).args(arguments).output().expect("addonctl runs");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "addonctl {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

struct Situation {
    folder: PathBuf,
}

impl Situation {
    fn list(&self, file: &str, format: &str) -> String {
        addonctl(&["list", "-o", format, "-f", &self.path(file)])
    }

    /// The items of the `AddonList`, by identifier.
    fn addons(&self, file: &str) -> BTreeMap<String, Value> {
        let list: Value = serde_json::from_str(&self.list(file, "json")).expect("JSON");
        assert_eq!(
            (list["apiVersion"].as_str(), list["kind"].as_str()),
            (Some("addons.x-k8s.io/v1alpha1"), Some("AddonList"))
        );
        let items = list["items"].as_array().expect("items");
        items
            .iter()
            .map(|item| (item["spec"]["identifier"].as_str().unwrap().to_owned(), item.clone()))
            .collect()
    }

    /// `group kind namespace name` of each component of an add-on, in its order.
    fn components(&self, file: &str, identifier: &str) -> Vec<String> {
        let addons = self.addons(file);
        let components = addons[identifier]["status"]["components"].as_array().expect("components");
        let text = |component: &Value, key: &str| component[key].as_str().unwrap_or("-").to_owned();
        components
            .iter()
            .map(|c| ["group", "kind", "namespace", "name"].map(|key| text(c, key)).join(" "))
            .collect()
    }

    fn describe(&self, file: &str, identifier: &str) -> String {
        addonctl(&["describe", identifier, "-f", &self.path(file)])
    }

    fn path(&self, file: &str) -> String {
        self.folder.join(file).to_str().expect("UTF-8").to_owned()
    }
}

fn allowed(expected: &Value, actual: &Value) -> bool {
    expected.as_array().map_or(expected == actual, |all| all.contains(actual))
}

#[test]
fn every_situation_has_the_expected_add_ons() {
    let Some(folder) = fixtures() else { return };
    let expected = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: BTreeMap<String, Value> = serde_json::from_str(&expected).expect("JSON");
    assert_eq!(expected.len(), 13);
    let situation = Situation { folder };
    for (number, case) in &expected {
        for file in case["files"].as_array().expect("files").iter().filter_map(Value::as_str) {
            let mut found = situation.addons(file);
            for (identifier, wanted) in case["addons"].as_object().expect("addons") {
                let addon = found
                    .remove(identifier)
                    .unwrap_or_else(|| panic!("{number} {file}: {identifier} is missing"));
                let status = &addon["status"];
                let (total, health) = (&status["counts"]["total"], &status["health"]);
                assert!(
                    allowed(&wanted["components"], total),
                    "{number} {file} {identifier}: {total} components"
                );
                assert!(
                    wanted["overall"].is_null() || allowed(&wanted["overall"], health),
                    "{number} {file} {identifier}: {health}, {}",
                    status["message"]
                );
            }
            let optional = case["optional"].as_array().expect("optional");
            found.retain(|identifier, _| !optional.iter().any(|known| known == identifier.as_str()));
            assert!(found.is_empty(), "{number} {file}: {:?} should not be there", found.keys());
        }
    }
}

#[test]
fn s01_copies_are_told_apart_by_namespace() {
    let Some(folder) = fixtures() else { return };
    let kind = "operators.coreos.com ClusterServiceVersion";
    assert_eq!(
        Situation { folder }.components("01-copied-objects.yaml", "tidepool"),
        ["team-a", "team-b", "tidepool-system"]
            .map(|namespace| format!("{kind} {namespace} tidepool.v1.2.0"))
    );
}

#[test]
fn s02_order_changes_nothing() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    for format in ["table", "wide", "json", "yaml", "name"] {
        let [a, b] = ["02-order-a.yaml", "02-order-b.yaml"].map(|file| situation.list(file, format));
        assert_eq!(a, b, "{format}");
    }
    let [a, b] = ["02-order-a.yaml", "02-order-b.yaml"].map(|file| situation.describe(file, "reef"));
    assert_eq!(a, b);
}

#[test]
fn s03_no_identifier_is_cut_or_merged() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let wide = situation.list("03-long-identifiers.yaml", "wide");
    for (identifier, name) in [("v1.2_Beta", "four"), ("x", "three")] {
        assert!(wide.lines().any(|line| line.split_whitespace().last() == Some(identifier)), "{wide}");
        let text = situation.describe("03-long-identifiers.yaml", identifier);
        assert!(text.contains(&format!("ConfigMap default/{name}")), "{text}");
    }
    for last in ["a", "b"] {
        let identifier = format!("openshift-style-very-long-addon-identifier-observability-oper-{last}");
        assert!(wide.contains(&identifier), "{wide}");
    }
}

#[test]
fn s04_no_secret_data_is_shown() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let file = "04-labels-copied-to-many-namespaces.yaml";
    assert_eq!(situation.components(file, "pearl").len(), 4, "{:?}", situation.components(file, "pearl"));
    for text in
        [situation.list(file, "json"), situation.list(file, "yaml"), situation.describe(file, "pearl")]
    {
        assert!(!text.contains("SU5WRU5URUQ=") && !text.contains("INVENTED"), "{text}");
    }
    assert_ne!(situation.addons(file)["pearl"]["status"]["health"], "Degraded");
}

#[test]
fn s05_labels_in_templates_are_no_labels() {
    let Some(folder) = fixtures() else { return };
    assert_eq!(
        Situation { folder }.components("05-labels-in-templates.yaml", "shoal"),
        [" PersistentVolumeClaim shoal data-shoal-0", " Pod shoal shoal-0"]
    );
}

#[test]
fn s06_the_served_version_is_shown() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let addons = situation.addons("06-one-object-two-versions.yaml");
    let components = addons["kelp"]["status"]["components"].as_array().expect("components");
    let of = |kind: &str| {
        let found: Vec<&Value> = components.iter().filter(|component| component["kind"] == kind).collect();
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        (found[0]["group"].as_str().unwrap().to_owned(), found[0]["version"].as_str().unwrap().to_owned())
    };
    assert_eq!(of("Deployment"), ("apps".to_owned(), "v1".to_owned()));
    assert_eq!(of("HorizontalPodAutoscaler"), ("autoscaling".to_owned(), "v2".to_owned()));
}

#[test]
fn s07_kinds_are_told_apart_by_group() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let addons = situation.addons("07-one-kind-two-groups.yaml");
    let components = addons["lagoon"]["status"]["components"].as_array().expect("components");
    let degraded: Vec<_> = components.iter().filter(|component| component["health"] == "Degraded").collect();
    assert_eq!(degraded.len(), 1, "{degraded:?}");
    assert_eq!(
        (&degraded[0]["group"], &degraded[0]["kind"]),
        (&"serving.knative.dev".into(), &"Service".into())
    );
    assert!(degraded[0].to_string().contains("Revision web-00001 failed"), "{}", degraded[0]);
    let text = situation.describe("07-one-kind-two-groups.yaml", "lagoon");
    for title in [
        "Service.serving.knative.dev lagoon/",
        "Application.argoproj.io lagoon/",
        "Application.app.k8s.io lagoon/",
    ] {
        assert!(text.contains(title), "{text}");
    }
}

#[test]
fn s08_leftovers_are_shown_with_what_holds_them() {
    let Some(folder) = fixtures() else { return };
    let text = Situation { folder }.describe("08-leftovers.yaml", "cave");
    assert!(text.contains("Terminating") && text.contains("Grotto default/g1"), "{text}");
    assert!(text.contains("cave.example/cleanup"), "{text}");
}

#[test]
fn s10_lists_are_opened_and_only_lists() {
    let Some(folder) = fixtures() else { return };
    assert_eq!(
        Situation { folder }.components("10-list-kinds.yaml", "atoll"),
        [
            " ConfigMap default a",
            " ConfigMap default b",
            " Pod default c",
            "ec2.cloud.example ManagedPrefixList - d"
        ]
    );
}

#[test]
fn s11_the_last_of_equal_keys_wins() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let names: Vec<String> = situation.components("11-duplicate-keys.yaml", "skerry");
    assert_eq!(
        names,
        ["after", "before", "twice", "two-label-maps"].map(|name| format!(" ConfigMap default {name}"))
    );
}

#[test]
fn s12_line_ends_and_marks_change_nothing() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let [crlf, lf] = ["12-crlf.yaml", "12-lf.yaml"].map(|file| situation.components(file, "surf"));
    assert_eq!(
        crlf,
        ["in-a-bare-list", "inline", "one", "two---three"].map(|name| format!(" ConfigMap default {name}"))
    );
    assert_eq!(crlf, lf);
}

#[test]
fn s13_no_terminal_sequence_reaches_the_terminal() {
    let Some(folder) = fixtures() else { return };
    let situation = Situation { folder };
    let file = "13-escape-sequences.yaml";
    let prints = ["table", "wide", "json", "yaml", "name"].map(|format| situation.list(file, format));
    let described = situation.describe(file, "siren");
    for text in prints.iter().chain([&described]) {
        let unsafe_text: Vec<char> = text
            .chars()
            .filter(|c| {
                c.is_control() && *c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            })
            .collect();
        assert!(unsafe_text.is_empty(), "{unsafe_text:?} in {text}");
    }
    assert!(
        prints
            .iter()
            .chain([&described])
            .skip(5)
            .all(|text| text.contains("Größe überschritten – 容量不足 🐙 e\u{301}")),
        "{described}"
    );
    assert!(prints[2].contains("All add-ons are Healthy") && prints[3].contains("Größe überschritten"));
    assert_eq!(
        described.lines().filter(|line| line.contains("Reef default/") && line.contains("Broken")).count(),
        2,
        "{described}"
    );
    assert_eq!(prints[0].lines().count(), 2, "{}", prints[0]);
}
