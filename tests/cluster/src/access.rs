//! Namespaces for a test alone, and users with the rights that it gives them.

use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result};
use k8s_openapi::{
    api::{
        authentication::v1::{TokenRequest, TokenRequestSpec},
        authorization::v1::{
            NonResourceAttributes, ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
        },
        core::v1::{ConfigMap, Namespace, ServiceAccount},
        rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::{
    cluster::{Cluster, START},
    programs::Program,
    user::User,
    wait::until,
};

/// Where the service accounts of [`Cluster::user`] live.
const USERS: &str = "testbed-users";

/// Longer than any test; the API server allows it.
const TOKEN_SECONDS: i64 = 24 * 60 * 60;

impl Cluster {
    /// Makes a namespace whose name starts with `prefix` and that nobody else has, and gives its
    /// name. Pods can be created in it at once.
    ///
    /// # Errors
    /// When the prefix isn't valid in a name.
    pub async fn namespace(&self, prefix: &str) -> Result<String> {
        let client = self.client().await?;
        let metadata = ObjectMeta { generate_name: Some(format!("{prefix}-")), ..Default::default() };
        let namespace = Namespace { metadata, ..Default::default() };
        let namespaces = Api::<Namespace>::all(client.clone());
        let made = namespaces.create(&PostParams::default(), &namespace).await;
        let made = made.with_context(|| format!("can't create a namespace {prefix}-*"))?;
        let name = made.metadata.name.context("a namespace without a name")?;
        furnished(client, &name).await?;
        Ok(name)
    }

    /// Makes a user with exactly these rights, in every namespace, beside those that everybody has.
    ///
    /// It is a service account: `name` shows in [`User::name`], and calls with the same name make
    /// different users. The rights are in force when this returns.
    ///
    /// # Errors
    /// When the name or a rule is refused.
    pub async fn user(&self, name: &str, rules: Vec<PolicyRule>) -> Result<User> {
        let client = self.client().await?;
        let name = format!("{name}-{}", self.users.fetch_add(1, Ordering::Relaxed));
        let apply = PatchParams::apply("testbed");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": USERS}});
        Api::<Namespace>::all(client.clone()).patch(USERS, &apply, &Patch::Apply(namespace)).await?;

        let metadata = ObjectMeta { name: Some(name.clone()), ..Default::default() };
        let account = ServiceAccount { metadata, ..Default::default() };
        let accounts = Api::<ServiceAccount>::namespaced(client.clone(), USERS);
        let made = accounts.create(&PostParams::default(), &account).await;
        made.with_context(|| format!("can't create the service account {USERS}/{name}"))?;

        let probe = rules.first().map(review);
        grant(client, &name, rules).await.with_context(|| format!("can't give {name} its rights"))?;
        let user = self.service_account(USERS, &name).await?;
        if let Some(review) = probe {
            wait_until_allowed(&user, &review).await?;
        }
        Ok(user)
    }

    /// The user that an existing service account is, with the rights that it has already.
    ///
    /// # Errors
    /// When there is no such account.
    pub async fn service_account(&self, namespace: &str, name: &str) -> Result<User> {
        let accounts = Api::<ServiceAccount>::namespaced(self.client().await?, namespace);
        let spec = TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..Default::default() };
        let request = TokenRequest { spec: Some(spec), ..Default::default() };
        let answer = accounts.create_token_request(name, &PostParams::default(), &request).await;
        let answer =
            answer.with_context(|| format!("no token for the service account {namespace}/{name}"))?;
        let token =
            answer.status.and_then(|status| status.token).context("a token request without a token")?;
        User::create(
            format!("system:serviceaccount:{namespace}:{name}"),
            &token,
            &self.server,
            self.folder().join(format!("{namespace}.{name}.kubeconfig")),
            self.programs.path(Program::Kubectl),
        )
    }
}

/// Waits until the controllers have given a namespace what its pods need.
pub(crate) async fn furnished(client: Client, namespace: &str) -> Result<()> {
    let accounts = Api::<ServiceAccount>::namespaced(client.clone(), namespace);
    let what = format!("namespace {namespace} has its service account");
    until(START, &what, || accounts.get("default")).await?;
    let config_maps = Api::<ConfigMap>::namespaced(client, namespace);
    let what = format!("namespace {namespace} has its certificates");
    until(START, &what, || config_maps.get("kube-root-ca.crt")).await?;
    Ok(())
}

async fn grant(client: Client, account: &str, rules: Vec<PolicyRule>) -> kube::Result<()> {
    let name = format!("testbed:{account}");
    let metadata = ObjectMeta { name: Some(name.clone()), ..Default::default() };
    let role = ClusterRole { metadata: metadata.clone(), rules: Some(rules), ..Default::default() };
    Api::all(client.clone()).create(&PostParams::default(), &role).await?;
    let binding = ClusterRoleBinding {
        metadata,
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "ClusterRole".to_owned(),
            name,
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: account.to_owned(),
            namespace: Some(USERS.to_owned()),
            ..Default::default()
        }]),
    };
    Api::all(client).create(&PostParams::default(), &binding).await.map(drop)
}

/// The question whether something that the rule allows is allowed.
fn review(rule: &PolicyRule) -> SelfSubjectAccessReview {
    let first = |list: &Option<Vec<String>>| list.as_ref().and_then(|list| list.first().cloned());
    let verb = rule.verbs.first().cloned();
    let mut spec = SelfSubjectAccessReviewSpec::default();
    if let Some(path) = first(&rule.non_resource_urls) {
        spec.non_resource_attributes = Some(NonResourceAttributes { path: Some(path), verb });
    } else {
        // A subresource is asked for by a field of its own.
        let resource = first(&rule.resources).unwrap_or_default();
        let (resource, subresource) = match resource.split_once('/') {
            Some((resource, subresource)) => (resource.to_owned(), Some(subresource.to_owned())),
            None => (resource, None),
        };
        spec.resource_attributes = Some(ResourceAttributes {
            group: first(&rule.api_groups),
            name: first(&rule.resource_names),
            resource: Some(resource),
            subresource,
            verb,
            ..Default::default()
        });
    }
    SelfSubjectAccessReview { spec, ..Default::default() }
}

/// The API server learns of new rights from a watch, so a moment after they were written.
async fn wait_until_allowed(user: &User, review: &SelfSubjectAccessReview) -> Result<()> {
    let reviews = Api::<SelfSubjectAccessReview>::all(user.client().await?);
    let what = format!("{} has its rights", user.name());
    until(START, &what, || async {
        let answer =
            reviews.create(&PostParams::default(), review).await.map_err(|error| error.to_string())?;
        match answer.status {
            Some(status) if status.allowed => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await?;
    Ok(())
}
