#![allow(clippy::expect_used, clippy::unwrap_used)]

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray,
};
use proptest::{collection::vec, option, prelude::*};
use serde_json::Value;

use super::*;

fn status_schema() -> JSONSchemaProps {
    let version = crate::api::crd().spec.versions.remove(0);
    let schema = version.schema.unwrap().open_api_v3_schema.unwrap();
    schema.properties.unwrap().remove("status").unwrap()
}

/// What `schema` has against `value`; a bound that is only just kept counts too.
fn objections(schema: &JSONSchemaProps, value: &Value, path: &str, found: &mut Vec<String>) {
    match (value, schema.type_.as_deref()) {
        (Value::Object(fields), Some("object")) => {
            let properties = schema.properties.as_ref().unwrap();
            for missing in schema.required.iter().flatten().filter(|name| !fields.contains_key(*name)) {
                found.push(format!("{path}: {missing} is missing"));
            }
            for (name, value) in fields {
                match properties.get(name) {
                    Some(schema) => objections(schema, value, &format!("{path}.{name}"), found),
                    None => found.push(format!("{path}: {name} isn't in the schema")),
                }
            }
        }
        (Value::Array(items), Some("array")) => {
            let Some(JSONSchemaPropsOrArray::Schema(schema_of_items)) = &schema.items else { unreachable!() };
            if items.len() as i64 >= schema.max_items.unwrap() || items.is_empty() {
                found.push(format!("{path}: {} items", items.len()));
            }
            for key in schema.x_kubernetes_list_map_keys.iter().flatten() {
                let mut values: Vec<_> = items.iter().map(|item| item[key].as_str()).collect();
                values.sort_unstable();
                if values.windows(2).any(|pair| pair[0] == pair[1]) {
                    found.push(format!("{path}: {key} stands twice"));
                }
            }
            items.iter().for_each(|item| objections(schema_of_items, item, path, found));
        }
        (Value::String(text), Some("string")) => {
            let characters = text.chars().count() as i64;
            let is_time = schema.format.as_deref() == Some("date-time");
            if is_time && (text.len() != 20 || text.parse::<Timestamp>().is_err())
                || !is_time && characters >= schema.max_length.unwrap()
                || characters < schema.min_length.unwrap_or(0)
            {
                found.push(format!("{path}: {characters} characters"));
            }
        }
        (Value::Number(number), Some("integer")) => {
            if number.as_f64() < schema.minimum {
                found.push(format!("{path}: {number}"));
            }
        }
        (value, kind) => found.push(format!("{path}: {value} isn't {kind:?}")),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-zA-Z0-9/. -]{0,40}",
        1 => Just(String::new()),
        2 => (any::<char>(), 0..1500_usize).prop_map(|(c, n)| c.to_string().repeat(n)),
        1 => (prop_oneof![Just('<'), Just('\0'), Just('"'), Just('容')], 0..1500_usize)
            .prop_map(|(c, n)| c.to_string().repeat(n)),
    ]
}

fn health() -> impl Strategy<Value = String> {
    prop_oneof![Just("Healthy".to_owned()), Just("Degraded".to_owned()), text()]
}

fn any_time() -> impl Strategy<Value = Time> {
    let seconds = Timestamp::MIN.as_second()..Timestamp::MAX.as_second();
    prop_oneof![Just(0..2_000_000_000_i64), Just(seconds)]
        .prop_flat_map(|seconds| (seconds, 0..1_000_000_000_i32))
        .prop_map(|(second, nanosecond)| Time(Timestamp::new(second, nanosecond).unwrap_or(Timestamp::MIN)))
}

fn any_condition() -> impl Strategy<Value = AddonCondition> {
    (text(), text(), text(), text(), any_time(), option::of(any::<i64>())).prop_map(
        |(kind, status, reason, message, last_transition_time, observed_generation)| AddonCondition {
            kind,
            status,
            reason,
            message,
            last_transition_time,
            observed_generation,
        },
    )
}

fn any_component() -> impl Strategy<Value = ComponentStatus> {
    let condition = (text(), text(), text(), text(), option::of(any_time())).prop_map(
        |(kind, status, reason, message, last_transition_time)| ComponentCondition {
            kind,
            status,
            reason,
            message,
            last_transition_time,
        },
    );
    let cause =
        (text(), text(), text(), text(), text()).prop_map(|(kind, namespace, name, reason, message)| {
            ComponentCause { kind, namespace, name, reason, message }
        });
    let flapping = (any::<i32>(), any_time(), any_time())
        .prop_map(|(changes, first, last)| ComponentFlapping { changes, first, last });
    let names = [(); 11].map(|()| text());
    let times = (option::of(any_time()), option::of(flapping));
    (names, health(), text(), times, vec(condition, 0..20), option::of(cause)).prop_map(
        |(
            [group, kind, resource, version, namespace, name, uid, install, reason, message, rule],
            health,
            importance,
            (since, flapping),
            conditions,
            cause,
        )| ComponentStatus {
            group,
            kind,
            resource,
            version,
            namespace,
            name,
            uid,
            install,
            health,
            reason,
            message,
            since,
            rule,
            importance: Some(importance),
            flapping,
            conditions,
            cause,
        },
    )
}

fn any_status() -> impl Strategy<Value = AddonStatus> {
    let install =
        (text(), health(), text()).prop_map(|(name, health, ready)| InstallStatus { name, health, ready });
    let fact = (text(), text()).prop_map(|(name, value)| Fact { name, value });
    let counts = any::<[i32; 8]>().prop_map(
        |[total, healthy, progressing, degraded, suspended, terminating, unknown, informational]| Counts {
            total,
            healthy,
            progressing,
            degraded,
            suspended,
            terminating,
            unknown,
            informational,
        },
    );
    // A few components many times over: as large as hundreds of them, and quick to make.
    let components = (vec(any_component(), 1..6), prop_oneof![3 => 0..20_usize, 1 => 450..550_usize])
        .prop_map(|(some, count)| some.iter().cycle().take(count).cloned().collect::<Vec<_>>());
    (
        (text(), text(), text(), text(), option::of(text())),
        vec(any_condition(), 0..20),
        counts,
        vec(fact, 0..140),
        vec(install, 0..120),
        components,
        any::<i32>(),
    )
        .prop_map(
            |(
                (health, reason, message, ready, version),
                conditions,
                counts,
                facts,
                installs,
                components,
                omitted,
            )| {
                AddonStatus {
                    conditions,
                    health,
                    reason,
                    message,
                    ready,
                    counts,
                    version,
                    facts,
                    installs,
                    components,
                    omitted,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_status_fits(status in any_status()) {
        let schema = status_schema();
        for fitted in [fit(&status), headline(&status)] {
            prop_assert!(size(&fitted) <= STATUS_BYTES, "{} bytes", size(&fitted));
            let mut found = Vec::new();
            objections(&schema, &serde_json::to_value(&fitted).unwrap(), "status", &mut found);
            prop_assert!(found.is_empty(), "{:#?}", found);
        }
    }

    #[test]
    fn what_fits_stays_as_it_is(status in any_status()) {
        let fitted = fit(&status);
        prop_assert_eq!(&fit(&fitted), &fitted);
        let read: AddonStatus = serde_json::from_str(&serde_json::to_string(&fitted).unwrap()).unwrap();
        prop_assert_eq!(&read, &fitted);
    }

    #[test]
    fn nothing_is_lost_from_the_counts(mut status in any_status()) {
        status.omitted = 0;
        let fitted = fit(&status);
        prop_assert_eq!(fitted.components.len() + fitted.omitted as usize, status.components.len());
    }
}

fn plain_component(name: &str, health: &str, conditions: usize) -> ComponentStatus {
    let condition = ComponentCondition {
        kind: "Ready".into(),
        status: "True".into(),
        reason: "Fine".into(),
        message: "x".repeat(MESSAGE_BYTES),
        last_transition_time: None,
    };
    ComponentStatus {
        group: "apps".into(),
        kind: "Deployment".into(),
        resource: "deployments".into(),
        version: "v1".into(),
        namespace: "ns".into(),
        name: name.into(),
        uid: String::new(),
        install: String::new(),
        health: health.into(),
        reason: "Available".into(),
        message: String::new(),
        since: None,
        rule: "builtin/apps.Deployment".into(),
        importance: None,
        flapping: None,
        conditions: vec![condition; conditions],
        cause: None,
    }
}

#[test]
fn an_ordinary_status_is_left_alone() {
    let status = AddonStatus {
        health: "Degraded".into(),
        components: vec![plain_component("a", "Degraded", 2), plain_component("b", "Healthy", 2)],
        ..AddonStatus::default()
    };
    assert_eq!(fit(&status), status);
}

#[test]
fn the_worst_are_kept_and_the_healthy_lose_their_conditions_first() {
    let mut components = vec![plain_component("bad", "Degraded", 2); 100];
    components.extend(vec![plain_component("good", "Healthy", 2); 1000]);
    let fitted = fit(&AddonStatus { components, ..AddonStatus::default() });
    assert_eq!(fitted.components.len(), COMPONENTS);
    assert_eq!(fitted.omitted, 600);
    assert!(fitted.components[..100].iter().all(|c| c.name == "bad" && c.conditions.len() == 2));
    assert!(fitted.components[100..].iter().all(|c| c.name == "good" && c.conditions.is_empty()));
}

#[test]
fn facts_that_do_not_fit_are_counted() {
    let all = |count: usize, bytes: usize| -> Vec<Fact> {
        (0..count).map(|n| Fact { name: format!("n{n}"), value: "x".repeat(bytes) }).collect()
    };
    assert_eq!(facts(&all(FACTS, 10)), all(FACTS, 10));
    for (count, bytes) in [(FACTS + 1, 10), (60, 4000)] {
        let kept = facts(&all(count, bytes));
        let more = Fact { name: "...".into(), value: format!("and {} more", count + 1 - kept.len()) };
        assert_eq!(kept.last(), Some(&more));
        assert!(kept.len() <= FACTS && size(&kept) <= ALL_FACTS_BYTES);
        assert_eq!(facts(&kept), kept);
    }
}

#[test]
fn of_many_installs_the_worst_are_kept_in_their_order() {
    let install = |n: usize, health: &str| InstallStatus {
        name: format!("{n:03}"),
        health: health.into(),
        ready: "1/1".into(),
    };
    let installs = (0..150).map(|n| install(n, if n > 140 { "Degraded" } else { "Healthy" })).collect();
    let fitted = fit(&AddonStatus { installs, ..AddonStatus::default() });
    let names: Vec<_> = fitted.installs.iter().map(|install| install.name.as_str()).collect();
    assert_eq!(names.len(), INSTALLS);
    assert!(names.is_sorted() && names.contains(&"149"));
}

#[test]
fn what_the_store_escapes_is_measured_as_it_is_stored() {
    assert_eq!(size(&"<&>"), "\"\\u003c\\u0026\\u003e\"".len());
}

#[test]
fn a_headline_says_how_it_is_and_leaves_the_rest_out() {
    let counts = Counts { total: 2, degraded: 1, healthy: 1, ..Counts::default() };
    let status = AddonStatus {
        health: "Degraded".into(),
        reason: "ImagePullBackOff".into(),
        ready: "1/2".into(),
        counts,
        version: Some("1".into()),
        components: vec![plain_component("a", "Degraded", 2), plain_component("b", "Healthy", 2)],
        ..AddonStatus::default()
    };
    let headline = headline(&status);
    assert_eq!(
        headline,
        AddonStatus {
            health: "Degraded".into(),
            reason: "ImagePullBackOff".into(),
            message: WITHOUT_COMPONENTS.into(),
            ready: "1/2".into(),
            counts,
            omitted: 2,
            ..AddonStatus::default()
        }
    );
}
