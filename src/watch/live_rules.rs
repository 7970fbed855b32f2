//! Rules that change while kinds are followed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};

use crate::{
    discover::ResourceName,
    health::{Rules, SharedRules},
    model::Kind,
};

/// How long the first lists wait for the rules of users. Without them a restart would judge by the
/// built-in rules first, and write what nobody wants.
const FIRST_RULES: Duration = Duration::from_secs(3);

/// The rules that followers judge by. Clones share them.
///
/// Objects aren't kept, so what changed rules say of those that are known already is found out by
/// listing their kinds anew.
#[derive(Clone)]
pub struct LiveRules {
    current: SharedRules,
    followers: Arc<Mutex<Followers>>,
    known: Arc<watch::Sender<bool>>,
}

/// Each followed kind, and how its follower is asked for a new list.
type Followers = BTreeMap<ResourceName, (Arc<Kind>, watch::Sender<()>)>;

/// Heard by one follower: that its kind is to be listed anew.
#[derive(Clone, Debug)]
pub(super) struct Asked(watch::Receiver<()>);

impl Default for LiveRules {
    /// The built-in rules, until it is known which others there are.
    fn default() -> Self {
        Self {
            current: SharedRules::new(Rules::builtin().into()),
            followers: Arc::default(),
            known: Arc::new(watch::Sender::new(false)),
        }
    }
}

impl LiveRules {
    /// The rules that hold, for who reads objects.
    pub fn shared(&self) -> SharedRules {
        Arc::clone(&self.current)
    }

    /// Lets `rules` hold from now on, and asks for a new list of every followed kind that `changed`
    /// names. Gives how many that are.
    pub fn replace(&self, rules: Rules, changed: impl Fn(&Kind) -> bool) -> usize {
        self.current.store(Arc::new(rules));
        let followers = self.followers();
        let concerned = followers.values().filter(|(kind, ask)| !ask.is_closed() && changed(kind));
        concerned.map(|(_, ask)| ask.send_replace(())).count()
    }

    /// It is known which rules users have, or that it can't be known.
    pub fn settle(&self) {
        self.known.send_replace(true);
    }

    /// Waits until the rules of users are known, but not for long.
    pub async fn settled(&self) {
        let mut known = self.known.subscribe();
        let _ = timeout(FIRST_RULES, known.wait_for(|known| *known)).await;
    }

    /// What the follower of `kind` hears. It takes the place of an earlier follower of the same kind.
    pub(super) fn followed(&self, kind: &Arc<Kind>) -> Asked {
        let (ask, asked) = watch::channel(());
        let name = ResourceName { group: kind.group.clone(), plural: kind.plural.clone() };
        let mut followers = self.followers();
        followers.retain(|_, (_, ask)| !ask.is_closed());
        followers.insert(name, (Arc::clone(kind), ask));
        Asked(asked)
    }

    fn followers(&self) -> std::sync::MutexGuard<'_, Followers> {
        // The map is whole after a panic elsewhere.
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// A list begins: what was asked for before is answered by it.
    pub(super) fn answered(&mut self) {
        self.0.mark_unchanged();
    }

    /// Waits until a list is asked for that hasn't begun. Nothing is lost where the future is dropped.
    pub(super) async fn heard(&mut self) {
        if self.0.changed().await.is_err() {
            // Another follower has taken over.
            std::future::pending::<()>().await;
        }
    }
}
