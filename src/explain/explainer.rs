use std::{sync::Arc, time::Duration};

use kube::Client;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::{
    Limits, Lookup, Named, Pace, Refusal, Server, Source, Step, explain,
    schedule::{Look, Schedule},
};
use crate::{
    discover::Catalogue,
    health::{Rules, SharedRules},
    model::{Explanation, ObjectRef, Timestamp, Verdict},
};

/// How many components are looked at at the same time.
const CONCURRENT: usize = 4;

/// The most requests a second, whatever is ill.
const REQUESTS: u32 = 10;

/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// What came of looking at a component.
#[derive(Debug)]
pub struct Explained {
    key: Arc<str>,
    round: u64,
    /// `None` where asking failed.
    explanation: Option<Explanation>,
}

/// Looks for the causes of components in the background, for as long as they are ill, and sends what
/// it finds.
pub struct Explainer {
    client: Client,
    catalogue: watch::Receiver<Option<Arc<Catalogue>>>,
    rules: SharedRules,
    explained: mpsc::Sender<Explained>,
    pace: Pace,
    schedule: Schedule,
}

impl Explainer {
    /// Asks through `client`. What is found goes to `explained`, and is to come back by
    /// [`Explainer::take`].
    pub fn new(
        client: Client,
        catalogue: watch::Receiver<Option<Arc<Catalogue>>>,
        rules: SharedRules,
        explained: mpsc::Sender<Explained>,
    ) -> Self {
        let (pace, schedule) = (Pace::new(REQUESTS), Schedule::default());
        Self { client, catalogue, rules, explained, pace, schedule }
    }

    /// Notes that a component is ill and how, by a key that names it.
    pub fn ill(&mut self, key: &Arc<str>, object: ObjectRef, verdict: &Verdict) {
        self.schedule.ill(key, object, verdict, Instant::now());
    }

    /// Notes that a component is well, or gone.
    pub fn well(&mut self, key: &str) {
        self.schedule.well(key);
    }

    /// Begins the looks that are due. Gives the time at which this is to be called again, where it isn't
    /// an answer that there is to wait for.
    pub fn advance(&mut self) -> Option<Instant> {
        while self.schedule.under_way() < CONCURRENT {
            let Some(look) = self.schedule.start(Instant::now()) else { return self.schedule.next_due() };
            self.begin(look);
        }
        None
    }

    /// What an answer says of which component; `None` where it says nothing new.
    pub fn take(&mut self, explained: Explained) -> Option<(Arc<str>, Explanation)> {
        let Explained { key, round, explanation } = explained;
        let is_wanted = self.schedule.finished(&key, round, Instant::now());
        explanation.filter(|_| is_wanted).map(|explanation| (key, explanation))
    }

    fn begin(&self, look: Look) {
        let catalogue = self.catalogue.borrow().clone().unwrap_or_default();
        let server = Server::new(self.client.clone(), catalogue, PATIENCE).paced(self.pace.clone());
        let (rules, answers) = (self.rules.load_full(), self.explained.clone());
        tokio::spawn(async move {
            let explanation = match explain_by_name(&server, &look.object, &rules, Limits::BEST).await {
                // What was found counts, even where something else could not be looked at.
                Ok(Some(step)) if step.has_failed() && step.below.is_empty() => None,
                Ok(Some(step)) => Some(step.explanation()),
                Ok(None) => Some(Explanation::default()),
                Err(Refusal::Failed { what, why }) => {
                    tracing::debug!(object = %look.object, %what, %why, "can't look for a cause");
                    None
                }
                Err(_) => Some(Explanation::default()),
            };
            // Nobody hears it only while everything ends.
            let _ = answers.send(Explained { key: look.key, round: look.round, explanation }).await;
        });
    }
}

/// Looks an object up and explains it as it is now; `None` where it isn't there any more.
///
/// # Errors
/// Where the object can't be looked up.
pub async fn explain_by_name<S: Source>(
    source: &S,
    reference: &ObjectRef,
    rules: &Rules,
    limits: Limits,
) -> Result<Option<Step>, Refusal> {
    let kind = &reference.kind;
    let named = Named::new(&kind.group, &kind.kind, &reference.namespace, &reference.name);
    match source.get(&named).await? {
        Lookup::Found(object) if object.reference.uid == reference.uid => {
            Ok(Some(explain(source, &object, rules, limits, Timestamp::now()).await))
        }
        _ => Ok(None),
    }
}
