//! The rules of users with scripted news, under paused time.
#![allow(clippy::expect_used)]

use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;
use serde::Deserialize;

use crate::{api::AddonCondition, health::read_text, model::decode::Raw};

struct Bench {
    news: mpsc::Sender<RuleNews>,
    catalogue: watch::Sender<Option<Arc<Catalogue>>>,
    wishes: watch::Receiver<Arc<Vec<RuleWish>>>,
    combinations: watch::Receiver<Arc<BTreeMap<Identifier, Combination>>>,
    live: LiveRules,
}

const QUIET: Duration = Duration::from_millis(100);

impl Bench {
    fn new() -> Self {
        let live = LiveRules::default();
        let (news, heard) = mpsc::channel(64);
        let (catalogue, discovered) = watch::channel(None);
        let (wish, wishes) = watch::channel(Arc::default());
        let (combine, combinations) = watch::channel(Arc::default());
        let outputs = RuleOutputs {
            live: live.clone(),
            combinations: combine,
            wishes: wish,
            turns: Turns::new(1),
            metrics: Metrics::default(),
        };
        let from = RuleInputs { news: heard, catalogue: discovered };
        tokio::spawn(UserRules::new(outputs).run(from, CancellationToken::new()));
        Self { news, catalogue, wishes, combinations, live }
    }

    async fn list(&self, rules: &[Registered]) {
        let rules = rules.iter().map(|rule| (rule.name.clone(), rule.clone())).collect();
        self.say(RuleNews::Listed(rules)).await;
    }

    async fn say(&self, news: RuleNews) {
        self.news.send(news).await.expect("somebody listens");
    }

    /// What the rules are to say next; `None` where nothing is decided within the time.
    async fn wished(&mut self, within: Duration) -> Option<Vec<(String, &'static str)>> {
        timeout(within, self.wishes.changed()).await.ok()?.expect("somebody wishes");
        let wishes = self.wishes.borrow_and_update();
        Some(wishes.iter().map(|wish| (wish.name.clone(), wish.acceptance.reason())).collect())
    }

    /// Which rules of users judge gears.
    fn judging(&self) -> usize {
        self.live.shared().load().of_kind("lab.example", "Gear").users()
    }

    async fn settles(&self, within: Duration) -> bool {
        timeout(within, self.live.settled()).await.is_ok()
    }
}

fn rule(name: &str, kind: &str) -> Registered {
    let metadata = json!({"name": name, "uid": name, "generation": 1});
    let spec = json!({"match": {"group": "lab.example", "kind": kind}, "rows": [{"verdict": "Healthy"}]});
    read(&json!({"metadata": metadata, "spec": spec}))
}

fn read(object: &Value) -> Registered {
    Registered::read(object).expect("a rule")
}

fn in_force(name: &str) -> (String, &'static str) {
    (name.to_owned(), "Accepted")
}

#[tokio::test(start_paused = true)]
async fn rules_hold_from_the_first_list_on() {
    let mut bench = Bench::new();
    bench.list(&[rule("a", "Gear"), rule("b", "Lever")]).await;
    assert_eq!(bench.wished(QUIET).await.expect("wishes"), [in_force("a"), in_force("b")]);
    assert_eq!(bench.judging(), 1);
    assert!(bench.settles(Duration::ZERO).await, "kinds needn't wait any more");

    bench.say(RuleNews::Gone("a".to_owned())).await;
    assert_eq!(bench.wished(GAP * 2).await.expect("wishes"), [in_force("b")]);
    assert_eq!(bench.judging(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_broken_rule_is_refused_and_changes_nothing() {
    let mut bench = Bench::new();
    let broken = json!({"metadata": {"name": "b", "uid": "b"}, "spec": {"rows": [{"verdict": "Fine"}]}});
    bench.list(&[rule("a", "Gear")]).await;
    bench.wished(QUIET).await;
    let before = bench.live.shared().load_full();
    bench.say(RuleNews::Changed(Box::new(read(&broken)))).await;
    let wished = bench.wished(GAP * 2).await.expect("wishes");
    assert_eq!(wished, [in_force("a"), ("b".to_owned(), "Invalid")]);
    assert!(Arc::ptr_eq(&before, &bench.live.shared().load_full()), "the rules were exchanged");
}

#[tokio::test(start_paused = true)]
async fn what_a_status_says_changes_no_rule() {
    let mut bench = Bench::new();
    bench.list(&[rule("a", "Gear")]).await;
    bench.wished(QUIET).await;
    let before = bench.live.shared().load_full();
    let mut told = rule("a", "Gear");
    told.accepted = serde_json::from_value::<AddonCondition>(json!({
        "type": "Accepted", "status": "True", "reason": "Accepted", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
    }))
    .ok();
    bench.say(RuleNews::Changed(Box::new(told))).await;
    bench.wished(GAP * 2).await.expect("wishes");
    assert!(bench.wishes.borrow()[0].says.is_some());
    assert!(Arc::ptr_eq(&before, &bench.live.shared().load_full()));
}

#[tokio::test(start_paused = true)]
async fn what_combines_is_told_where_it_changes() {
    let mut bench = Bench::new();
    let combine = json!({
        "metadata": {"name": "c", "uid": "c"},
        "spec": {"combine": {"identifiers": ["dns"], "quorums": [{"atLeast": 2}]}},
    });
    bench.list(&[read(&combine)]).await;
    assert_eq!(bench.wished(QUIET).await.expect("wishes"), [in_force("c")]);
    assert!(bench.combinations.has_changed().expect("somebody combines"));
    let named: Vec<String> = bench.combinations.borrow_and_update().keys().map(ToString::to_string).collect();
    assert_eq!(named, ["dns"]);
    bench.say(RuleNews::Changed(Box::new(rule("a", "Gear")))).await;
    bench.wished(GAP * 2).await.expect("wishes");
    assert!(!bench.combinations.has_changed().expect("somebody combines"), "another rule says nothing of it");
}

/// How gears are, by the rules that hold.
fn judge_gears(live: &LiveRules) -> Vec<String> {
    let rules = live.shared().load_full();
    let kind = Kind { group: "lab.example".into(), kind: "Gear".into(), ..rule_kind() };
    let kind = Arc::new(kind);
    let verdict = |n: usize| {
        let object = json!({"metadata": {"name": format!("g{n}")}, "status": {"zero": 0, "phase": "Ready"}});
        let raw: crate::model::decode::Raw = serde_json::from_value(object).expect("an object");
        let object = raw.into_object(Arc::clone(&kind)).expect("an object");
        crate::health::judge(&object, &rules).timeline.first.health.to_string()
    };
    (0..30).map(verdict).collect()
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_keeps_failing_is_switched_off_and_says_so() {
    let mut bench = Bench::new();
    let failing = json!({
        "metadata": {"name": "f", "uid": "f", "generation": 4},
        "spec": {
            "match": {"group": "lab.example", "kind": "Gear"},
            "rows": [{"verdict": "Degraded", "when": "1 / status.zero == 1"}, {"verdict": "Suspended"}],
        },
    });
    bench.list(&[read(&failing)]).await;
    assert_eq!(bench.wished(QUIET).await.expect("wishes"), [in_force("f")]);
    judge_gears(&bench.live);
    assert_eq!(bench.wished(CHECK * 2).await.expect("wishes"), [("f".to_owned(), "SwitchedOff")]);
    let message = bench.wishes.borrow()[0].acceptance.message().to_owned();
    assert!(message.starts_with("rows[0].when: switched off after 20 failures in a row"), "{message}");
    assert_eq!(bench.judging(), 0);
    assert!(judge_gears(&bench.live).iter().all(|health| health == "Healthy"), "the built-in verdict stands");
    assert_eq!(bench.wished(CHECK * 10).await, None, "it is told once");

    // A new spec is tried.
    let mut mended = failing;
    mended["metadata"]["generation"] = 5.into();
    mended["spec"]["rows"][0]["when"] = "status.zero == 0".into();
    bench.say(RuleNews::Changed(Box::new(read(&mended)))).await;
    assert_eq!(bench.wished(GAP * 2).await.expect("wishes"), [in_force("f")]);
    assert_eq!(judge_gears(&bench.live)[0], "Degraded");
}

#[tokio::test(start_paused = true)]
async fn changes_that_follow_each_other_take_effect_together() {
    let mut bench = Bench::new();
    bench.list(&[]).await;
    assert_eq!(bench.wished(QUIET).await.expect("wishes"), []);
    bench.say(RuleNews::Changed(Box::new(rule("r0", "Gear")))).await;
    assert_eq!(bench.wished(QUIET).await.expect("the first at once").len(), 1);
    for n in 1..20 {
        bench.say(RuleNews::Changed(Box::new(rule(&format!("r{n}"), &format!("Gear{n}"))))).await;
    }
    assert_eq!(bench.wished(GAP / 2).await, None);
    assert_eq!(bench.wished(GAP).await.expect("the others after a second").len(), 20);
    assert_eq!(bench.wished(GAP * 10).await, None, "and nothing more");
}

#[tokio::test(start_paused = true)]
async fn without_the_resource_or_the_right_to_it_nobody_waits() {
    for answer in [
        WatchState::Absent("the server could not find the requested resource (404)".to_owned()),
        WatchState::Forbidden("no (403)".to_owned()),
    ] {
        let bench = Bench::new();
        bench.say(RuleNews::State(answer)).await;
        assert!(bench.settles(QUIET).await);
    }
    let bench = Bench::new();
    bench.say(RuleNews::State(WatchState::Failing("overloaded (503)".to_owned()))).await;
    assert!(!bench.settles(Duration::from_secs(2)).await, "that isn't known yet");
    assert!(bench.settles(Duration::from_secs(4)).await, "but it isn't waited for for long");
}

#[tokio::test(start_paused = true)]
async fn rules_stand_while_they_cannot_be_read_and_go_with_their_resource() {
    let mut bench = Bench::new();
    let mut kinds = std::collections::BTreeMap::new();
    let name = ResourceName { group: api::GROUP.to_owned(), plural: rule_kind().plural };
    kinds.insert(name, Arc::new(rule_kind()));
    bench.catalogue.send_replace(Some(Arc::new(Catalogue { kinds, ..Catalogue::default() })));
    bench.list(&[rule("a", "Gear")]).await;
    bench.wished(QUIET).await;
    bench.say(RuleNews::State(WatchState::Absent("not found (404)".to_owned()))).await;
    assert_eq!(bench.wished(GAP * 10).await, None, "a server that starts may not know it yet");
    assert_eq!(bench.judging(), 1);
    bench.catalogue.send_replace(Some(Arc::default()));
    assert_eq!(bench.wished(GAP * 2).await.expect("wishes"), []);
    assert_eq!(bench.judging(), 0);
}

#[test]
fn what_fails_is_said_once_in_built_in_rules_too() {
    let spec = serde_json::from_value(json!({"match": {"group": "lab.example", "kind": "Gear"},
        "rows": [{"verdict": "Degraded", "when": "status.x + 1 == 2"}]}));
    let rule = Arc::new(Rule::compile("rules/lab.example.Gear", &spec.expect("a spec")).expect("a rule"));
    let mut troubles = Troubles::default();
    assert!(troubles.found([&*rule].into_iter()).is_empty());
    let rules = Rules::with([Arc::clone(&rule)]);
    let object = json!({"metadata": {"name": "a"}, "status": {"x": "many"}});
    let judge = || {
        let object = Raw::deserialize(&object)
            .expect("an object")
            .into_nameless(Arc::new(Kind::named("lab.example/v1", "Gear")));
        crate::health::judge(&object, &rules);
    };
    judge();
    let found = troubles.found([&*rule, &*rule].into_iter());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("rows[0].when: ") && found[0].1.contains("can't add a text"), "{found:?}");
    judge();
    assert!(troubles.found([&*rule].into_iter()).is_empty());

    let written =
        crate::health::builtin_files().iter().flat_map(|(name, text)| read_text(name, text).expect("rules"));
    let names: BTreeSet<String> = written.map(|written| written.name).collect();
    let looked_at: BTreeSet<String> = Rules::builtin().own().map(|rule| rule.name().to_owned()).collect();
    assert_eq!(looked_at, names);
}
