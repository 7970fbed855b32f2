//! What the engine hears.

use tokio::time::Instant;

use super::{
    super::{
        addons::{AddonNews, Seen, Written},
        memory,
        owners::Found,
    },
    Engine,
    start::Stage,
};
use crate::{
    api::Identifier,
    explain::Explained,
    model::{GroupKind, Owner, Timestamp},
    publish::{self, Command},
    summary::{Remembered, Summary, WatchState},
    watch::{Controller, News, Report, addon_kind},
};

impl Engine {
    pub(super) fn report(&mut self, Report { kind, news }: Report) {
        let name = kind.group_kind();
        match news {
            // A watch that was told to end may have had a last word on its way.
            News::State(state) if state != WatchState::Syncing && !self.kinds.follows(&name) => {}
            News::State(state) => {
                if state == WatchState::Synced {
                    let is_of = |owner: &Owner| (&owner.group, &owner.kind) == (&name.group, &name.kind);
                    self.index.ask_again_where(is_of);
                }
                self.blackout.note(&name, &state, Instant::now());
                self.kinds.set(&kind, state, &mut self.index);
                self.recount_unseen();
                self.covered = false;
            }
            News::Left => {
                self.blackout.leave(&name);
                self.kinds.leave(&name, &mut self.index);
                self.recount_unseen();
                self.covered = false;
            }
            _ if !self.kinds.follows(&name) => {}
            news => self.objects(&name, news),
        }
    }

    fn objects(&mut self, kind: &GroupKind, news: News) {
        let before = self.index.count(kind);
        match news {
            News::Listed(observations, unread) => {
                self.index.replace(kind, observations, &unread, Timestamp::now());
            }
            News::Changed(observation) => self.index.upsert(*observation, Timestamp::now()),
            News::Gone(key) => self.index.remove(kind, &key),
            News::State(_) | News::Left => {}
        }
        self.covered &= self.index.count(kind) == before;
    }

    pub(super) async fn addons(&mut self, news: AddonNews) {
        let (seen, components) = match news {
            AddonNews::State(state) => {
                self.covered = false;
                self.blackout.note(&addon_kind().group_kind(), &state, Instant::now());
                return self.memory.set_state(state);
            }
            AddonNews::Seen(seen, components) => (seen, components),
        };
        if let Some(news) = components {
            self.objects(&addon_kind().group_kind(), news);
        }
        let Some(seen) = seen else { return };
        match &seen {
            Seen::Listed(addons) => {
                let is_first = !self.memory.is_known();
                self.memory.listed(addons);
                if is_first {
                    memory::remembered(addons).for_each(|component| self.remember(component));
                    self.settle_at = Some(Instant::now());
                    self.recall().await;
                    if self.stage == Stage::Settled {
                        // What they remember, before anything is written without it.
                        self.flush().await;
                    }
                }
            }
            Seen::Changed(addon) => self.memory.changed(addon),
            Seen::Gone(name) => self.memory.gone(name),
        }
        let orphans = self.orphans(&seen);
        self.tell(Command::Seen(seen.into())).await;
        if self.stage == Stage::Settled {
            self.vanish(orphans);
        }
    }

    /// Gives what is shown already the times that the `Addon` objects have: they were listed late.
    async fn recall(&mut self) {
        for shown in self.out.board.all() {
            let mut summary = Summary::clone(&shown);
            publish::settle(&mut summary.status, self.memory.status(&shown.identifier));
            self.show(summary).await;
        }
    }

    /// Where the kind was listed, an `Addon` tells nothing but the past.
    fn remember(&mut self, remembered: Remembered) {
        if self.kinds.is_synced(&remembered.observation.group_kind()) {
            self.index.recall(&remembered);
        } else {
            self.index.remember(remembered, Timestamp::now());
        }
    }

    /// The add-ons among what was seen that have no component.
    fn orphans(&self, seen: &Seen) -> Vec<Identifier> {
        let addons: Vec<&Written> = match seen {
            Seen::Listed(addons) => addons.iter().collect(),
            Seen::Changed(addon) => vec![addon],
            Seen::Gone(_) => Vec::new(),
        };
        let identifiers = addons.into_iter().filter_map(|addon| addon.held.identifier());
        identifiers.filter(|identifier| !self.index.contains(identifier)).collect()
    }

    pub(super) fn found(&mut self, found: &Found) {
        self.out.owners.answered(found);
        let Found { owner, namespace, controller } = found;
        match controller {
            Controller::Is(controller) => self.index.link(&owner.uid, Some(controller), namespace),
            Controller::Nobody => self.index.link(&owner.uid, None, namespace),
            Controller::Unknown => self.index.put_off(owner, namespace),
        }
    }

    pub(super) fn explained(&mut self, explained: Explained) {
        if let Some((key, explanation)) = self.out.explainer.take(explained) {
            self.index.explain(&key, explanation);
        }
    }
}
