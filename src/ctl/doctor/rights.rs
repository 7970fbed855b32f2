//! What the user may do, and what the controller may.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, future::join_all, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    NAMED,
    ask::{Asker, Trouble},
    cluster::not_installed,
    controller::Watches,
    finding::{Finding, Verdict},
    kinds::{Kinds, roles},
    shell::quoted,
};
use crate::{
    api::GROUP,
    ctl::args::{ACCOUNT, Doctor, NAMESPACE},
    model::text,
};

const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";

/// The name of a namespace that isn't there: rules for it are those that hold in every namespace.
const NO_NAMESPACE: &str = "addonctl-doctor-asks-for-all";

/// How many reviews are asked for at the same time.
const CONCURRENT: usize = 16;

/// The most rights that are asked for one by one.
const MAX_REVIEWED: usize = 1000;

/// What makes the roles, and leaves everything else as it is.
const ROLES: &str = "kubectl apply --server-side -k deploy/rbac";

/// What the controller writes and reads of our own resources: verb, resource, subresource.
const OWN: [(&str, &str, &str); 9] = [
    ("list", "addons", ""),
    ("watch", "addons", ""),
    ("create", "addons", ""),
    ("delete", "addons", ""),
    ("patch", "addons", "status"),
    ("update", "addons", "status"),
    ("list", "statusrules", ""),
    ("watch", "statusrules", ""),
    ("patch", "statusrules", "status"),
];

/// One thing to be allowed, in every namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ask {
    verb: &'static str,
    group: String,
    resource: String,
    subresource: &'static str,
}

impl Ask {
    fn own((verb, resource, subresource): (&'static str, &str, &'static str)) -> Self {
        Self { verb, group: GROUP.to_owned(), resource: resource.to_owned(), subresource }
    }

    fn attributes(&self) -> Value {
        let Self { verb, group, resource, subresource } = self;
        json!({"verb": verb, "group": group, "resource": resource, "subresource": subresource})
    }

    fn path(&self) -> String {
        match self.subresource {
            "" => self.resource.clone(),
            sub => format!("{}/{sub}", self.resource),
        }
    }
}

/// Whether the user may read what `addonctl` shows.
pub(super) async fn mine(asker: &Asker) -> Finding {
    let asks = [
        ("list", "addons", ""),
        ("get", "addons", ""),
        ("list", "statusrules", ""),
        ("get", "statusrules", ""),
    ];
    let asks = asks.map(Ask::own);
    let review = |ask: Ask| async move {
        let body = json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
            "spec": {"resourceAttributes": ask.attributes()}});
        let answer = asker.post(&format!("{AUTHORIZATION}/selfsubjectaccessreviews"), &body, None).await;
        (ask, answer.map(|answer| answer["status"]["allowed"] == true))
    };
    let answers = join_all(asks.map(review)).await;
    let who = json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"});
    let who = asker.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &who, None).await;
    let who = who.ok().and_then(|who| Some(who["status"]["userInfo"]["username"].as_str()?.to_owned()));
    mine_of(&answers, who.as_deref())
}

fn mine_of(answers: &[(Ask, Result<bool, Trouble>)], who: Option<&str>) -> Finding {
    let check = "your rights";
    if let Some(trouble) = answers.iter().find_map(|(_, answer)| answer.as_ref().err()) {
        return Finding::warn(check, format!("what you may do can't be told: {trouble}"));
    }
    let missing: Vec<&Ask> = answers.iter().filter(|(_, may)| *may != Ok(true)).map(|(ask, _)| ask).collect();
    if missing.is_empty() {
        return Finding::ok(check, "you may read add-ons and rules");
    }
    let verdict = if missing.iter().any(|ask| (ask.verb, &*ask.resource) == ("list", "addons")) {
        Verdict::Fail
    } else {
        Verdict::Warn
    };
    let names: Vec<String> = missing.iter().map(|ask| format!("{} {}", ask.verb, ask.resource)).collect();
    let account = who.and_then(|who| who.strip_prefix("system:serviceaccount:"));
    let subject = match (account, who) {
        (Some(account), _) => format!("--serviceaccount={}", quoted(account)),
        (None, Some(who)) => format!("--user={}", quoted(who)),
        (None, None) => "--user=YOU".to_owned(),
    };
    let slug: String = who
        .unwrap_or("me")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let command = format!(
        "kubectl create clusterrolebinding addons-viewer-{slug} --clusterrole=addons-viewer {subject}"
    );
    Finding::new(check, verdict, format!("you may not {}", names.join(", "))).command(command)
}

/// What the controller may, as far as that is known.
#[derive(Debug, Default)]
pub(super) struct Rights {
    finding: Option<Finding>,
    /// The kinds that it may not list or watch, by group and resource.
    missing: BTreeSet<(String, String)>,
}

impl Rights {
    /// Whether it is named already that a kind may not be watched.
    pub fn are_missing(&self, name: &(String, String)) -> bool {
        self.missing.contains(name)
    }

    pub fn into_parts(self) -> (Option<Finding>, BTreeSet<(String, String)>) {
        (self.finding, self.missing)
    }

    fn only(finding: Finding) -> Self {
        Self { finding: Some(finding), missing: BTreeSet::new() }
    }
}

/// A rule of a role, as the API server tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

impl Rule {
    fn allows(&self, ask: &Ask) -> bool {
        let has = |all: &[String], wanted: &str| all.iter().any(|item| item == "*" || item == wanted);
        let path = ask.path();
        let any_of_sub = format!("*/{}", ask.subresource);
        let fits = has(&self.resources, &path)
            || (!ask.subresource.is_empty() && self.resources.contains(&any_of_sub));
        self.resource_names.is_empty()
            && has(&self.verbs, ask.verb)
            && has(&self.api_groups, &ask.group)
            && fits
    }
}

const CHECK: &str = "its rights";

/// Whether the controller's service account may watch `kinds` and write add-ons.
pub(super) async fn of_controller(
    asker: &Asker,
    args: &Doctor,
    kinds: &Kinds,
    known: Option<&Watches>,
) -> Rights {
    let (namespace, account) = (&args.namespace, &args.service_account);
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}");
    if asker.get(&path).await.is_err_and(|trouble| trouble.is(404)) {
        let what = format!("there is no service account {namespace}/{account}");
        return Rights::only(if args.controller.is_some() {
            Finding::warn(CHECK, format!("{what}: what the controller may do can't be told ahead"))
        } else {
            not_installed(CHECK, what, args)
        });
    }
    let user = format!("system:serviceaccount:{namespace}:{account}");
    let kinds: Vec<(String, String)> =
        kinds.0.iter().map(|kind| (kind.group.clone(), kind.plural.clone())).collect();
    let of_kinds = kinds.iter().flat_map(|(group, resource)| {
        ["list", "watch"].map(|verb| Ask {
            verb,
            group: group.clone(),
            resource: resource.clone(),
            subresource: "",
        })
    });
    let own = OWN.map(Ask::own);
    let of_others = of_kinds.filter(|ask| !own.contains(ask));
    let asks: Vec<Ask> = own.iter().cloned().chain(of_others).collect();
    let refused = match rules(asker, &user).await {
        Ok((rules, is_whole)) => {
            let refused: Vec<Ask> =
                asks.into_iter().filter(|ask| !rules.iter().any(|rule| rule.allows(ask))).collect();
            // Others than RBAC may allow what no rule does.
            if is_whole {
                Ok(Refused { asks: refused, unasked: 0 })
            } else {
                let reviewed = reviewed(asker, &user, namespace, refused.clone()).await;
                reviewed.or(Ok(Refused { asks: refused, unasked: 0 }))
            }
        }
        Err(_) => reviewed(asker, &user, namespace, asks).await,
    };
    let held = |name: &(String, String)| {
        let mut watches = known.into_iter().flat_map(|known| &known.watches);
        watches.any(|watch| (&watch.group, &watch.resource) == (&name.0, &name.1) && watch.components > 0)
    };
    match refused {
        Ok(Refused { asks, unasked }) => {
            let mut rights = of_refused((namespace, account), kinds.len(), &asks, held);
            let unasked = (unasked > 0).then(|| format!("{unasked} more rights weren't asked for"));
            rights.finding = rights.finding.map(|finding| finding.details(unasked));
            rights
        }
        Err(trouble) => {
            let what = format!("what {namespace}/{account} may do can't be told with your rights: {trouble}");
            Rights::only(Finding::warn(CHECK, what).command(format!("kubectl auth can-i --list --as={user}")))
        }
    }
}

/// What is refused of all that it needs. `held` says whether components of a kind are known.
fn of_refused(
    (namespace, name): (&str, &str),
    kinds: usize,
    refused: &[Ask],
    held: impl Fn(&(String, String)) -> bool,
) -> Rights {
    let account = format!("{namespace}/{name}");
    let (own, others): (Vec<&Ask>, Vec<&Ask>) =
        refused.iter().partition(|ask| ask.group == GROUP && OWN.iter().any(|own| Ask::own(*own) == **ask));
    let mut verbs: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for ask in others {
        verbs.entry((ask.group.clone(), ask.resource.clone())).or_default().push(ask.verb);
    }
    if own.is_empty() && verbs.is_empty() {
        let what = format!("{account} may watch all {kinds} kinds and write add-ons");
        return Rights::only(Finding::ok(CHECK, what));
    }
    let missing: BTreeSet<(String, String)> = verbs.keys().cloned().collect();
    let verdict = if own.is_empty() && !missing.iter().any(held) { Verdict::Warn } else { Verdict::Fail };
    let what = match (own.len(), missing.len()) {
        (0, 1) => format!("{account} may not watch 1 of {kinds} kinds"),
        (0, count) => format!("{account} may not watch {count} of {kinds} kinds"),
        _ => format!("{account} lacks rights that it can't do without"),
    };
    let own_lines = own.iter().map(|ask| format!("{} {}.{GROUP}", ask.verb, ask.path()));
    let lines = verbs.iter().map(|((group, resource), verbs)| {
        let name = if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
        format!("{} {}", verbs.join(", "), text::name(&name))
    });
    let mut finding = Finding::new(CHECK, verdict, what).details(own_lines).details(lines);
    let pods = (String::new(), "pods".to_owned());
    if !own.is_empty() || missing.contains(&pods) {
        finding = finding.commands(grants(namespace, name));
    } else {
        let first: BTreeSet<_> = missing.iter().take(NAMED).cloned().collect();
        finding = finding.commands(roles(&first));
    }
    Rights { finding: Some(finding), missing }
}

/// The commands that give an account all rights of the controller.
fn grants(namespace: &str, account: &str) -> Vec<String> {
    let mut commands = vec![ROLES.to_owned()];
    // The bindings of deploy/rbac are for that one.
    if (namespace, account) != (NAMESPACE, ACCOUNT) {
        commands.extend(["addon-controller-reader", "addon-controller-writer"].map(|role| {
            format!(
                "kubectl create clusterrolebinding {role}-{namespace}-{account} --clusterrole={role} \
                 --serviceaccount={namespace}:{account}"
            )
        }));
    }
    commands
}

/// The rights that a user lacks, and how many weren't asked for.
struct Refused {
    asks: Vec<Ask>,
    unasked: usize,
}

/// The rules that hold for a user in every namespace, asked for as that user, and whether they are all.
async fn rules(asker: &Asker, user: &str) -> Result<(Vec<Rule>, bool), Trouble> {
    let body = json!({"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1",
        "spec": {"namespace": NO_NAMESPACE}});
    let mut answer =
        asker.post(&format!("{AUTHORIZATION}/selfsubjectrulesreviews"), &body, Some(user)).await?;
    let is_whole = answer["status"]["incomplete"] != true;
    let rules = serde_json::from_value(answer["status"]["resourceRules"].take());
    let unread =
        |error: serde_json::Error| Trouble { code: None, message: text::message(&error.to_string()) };
    Ok((rules.map_err(unread)?, is_whole))
}

/// Those of `asks` that the API server refuses a user, each asked for alone, and no more than [`MAX_REVIEWED`].
async fn reviewed(
    asker: &Asker,
    user: &str,
    namespace: &str,
    mut asks: Vec<Ask>,
) -> Result<Refused, Trouble> {
    let unasked = asks.len().saturating_sub(MAX_REVIEWED);
    asks.truncate(MAX_REVIEWED);
    let groups = [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
        "system:authenticated".to_owned(),
    ];
    let groups = &groups;
    let mut answers = stream::iter(asks)
        .map(|ask| async move {
            let body = json!({"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
                "spec": {"user": user, "groups": groups, "resourceAttributes": ask.attributes()}});
            let answer = asker.post(&format!("{AUTHORIZATION}/subjectaccessreviews"), &body, None).await?;
            Ok((answer["status"]["allowed"] != true).then_some(ask))
        })
        .buffered(CONCURRENT);
    let mut refused = Vec::new();
    while let Some(answer) = answers.next().await {
        refused.extend(answer?);
    }
    Ok(Refused { asks: refused, unasked })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(verb: &'static str, group: &str, resource: &str, subresource: &'static str) -> Ask {
        Ask { verb, group: group.into(), resource: resource.into(), subresource }
    }

    fn rule(verbs: &[&str], groups: &[&str], resources: &[&str], names: &[&str]) -> Rule {
        let owned = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        Rule {
            verbs: owned(verbs),
            api_groups: owned(groups),
            resources: owned(resources),
            resource_names: owned(names),
        }
    }

    #[test]
    fn a_rule_allows_what_rbac_does() {
        let list = ask("list", "a.io", "gears", "");
        let status = ask("patch", "a.io", "gears", "status");
        for (rule, may_list, may_patch) in [
            (rule(&["*"], &["*"], &["*"], &[]), true, true),
            (rule(&["list"], &["a.io"], &["gears"], &[]), true, false),
            (rule(&["list"], &["a.io"], &["gears"], &["one"]), false, false),
            (rule(&["list"], &[""], &["*"], &[]), false, false),
            (rule(&["*"], &["a.io"], &["gears"], &[]), true, false),
            (rule(&["patch"], &["a.io"], &["gears/status"], &[]), false, true),
            (rule(&["patch"], &["a.io"], &["*/status"], &[]), false, true),
            (rule(&["watch"], &["a.io"], &["*"], &[]), false, false),
        ] {
            assert_eq!((rule.allows(&list), rule.allows(&status)), (may_list, may_patch), "{rule:?}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_its_command() {
        let all = of_refused((NAMESPACE, ACCOUNT), 90, &[], |_| false).finding;
        assert_eq!(
            all,
            Some(Finding::ok(
                CHECK,
                "addons-system/addon-controller may watch all 90 kinds and write add-ons"
            ))
        );

        let refused = [
            ask("list", "a.io", "gears", ""),
            ask("watch", "a.io", "gears", ""),
            ask("watch", "", "secrets", ""),
        ];
        let rights = of_refused((NAMESPACE, ACCOUNT), 90, &refused, |_| false);
        assert!(rights.are_missing(&("a.io".into(), "gears".into())));
        let finding = rights.finding.unwrap_or_else(|| Finding::ok(CHECK, ""));
        assert_eq!(
            (finding.verdict, finding.what.as_str()),
            (Verdict::Warn, "addons-system/addon-controller may not watch 2 of 90 kinds")
        );
        assert_eq!(finding.details, ["watch secrets", "list, watch gears.a.io"]);
        assert_eq!(
            finding.commands,
            [
                "kubectl create clusterrole addon-controller-reader-core-secrets --verb=list,watch --resource=secrets",
                "kubectl label clusterrole addon-controller-reader-core-secrets rbac.addons.x-k8s.io/aggregate-to-reader=true",
                "kubectl create clusterrole addon-controller-reader-a.io --verb=list,watch --resource='*.a.io'",
                "kubectl label clusterrole addon-controller-reader-a.io rbac.addons.x-k8s.io/aggregate-to-reader=true",
            ]
        );
        let held = of_refused((NAMESPACE, ACCOUNT), 90, &refused, |name| name.1 == "gears").finding;
        assert!(held.is_some_and(|finding| finding.is_failure()), "its components aren't seen");

        let write =
            of_refused((NAMESPACE, ACCOUNT), 90, &[Ask::own(("patch", "addons", "status"))], |_| false)
                .finding;
        let write = write.unwrap_or_else(|| Finding::ok(CHECK, ""));
        assert!(write.is_failure() && write.commands == [ROLES], "{write:?}");
        assert_eq!(write.details, ["patch addons/status.addons.x-k8s.io"]);
    }

    #[test]
    fn another_account_is_bound_to_the_roles() {
        assert_eq!(grants(NAMESPACE, ACCOUNT), [ROLES]);
        let commands = grants("ops", "watcher");
        assert_eq!(commands.len(), 3, "{commands:?}");
        assert_eq!(
            commands[2],
            "kubectl create clusterrolebinding addon-controller-writer-ops-watcher \
             --clusterrole=addon-controller-writer --serviceaccount=ops:watcher"
        );
    }

    #[test]
    fn a_user_without_rights_gets_a_binding_to_copy() {
        let answers =
            [(Ask::own(("list", "addons", "")), Ok(false)), (Ask::own(("get", "addons", "")), Ok(true))];
        let finding = mine_of(&answers, Some("O'Neil; rm"));
        assert!(finding.is_failure());
        assert_eq!(
            finding.commands,
            [
                r"kubectl create clusterrolebinding addons-viewer-o-neil--rm --clusterrole=addons-viewer --user='O'\''Neil; rm'"
            ]
        );
        let account = mine_of(&answers, Some("system:serviceaccount:ci:bot"));
        assert!(account.commands[0].ends_with("--serviceaccount=ci:bot"), "{account:?}");
    }
}
