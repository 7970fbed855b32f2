//! What rooms count for those who operate the controller.
//!
//! Every label is bounded: by the kinds that are watched right now, or by an enumeration here.

mod discovery;

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelValue, LabelValueEncoder, MetricEncoder, NoLabelSet},
    metrics::{MetricType, counter::Counter, gauge::Gauge},
};

pub use self::discovery::Discovery;
use crate::model::{Kind, Timestamp};

/// The counters of a whole process. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    watches: Mutex<BTreeMap<Resource, Weak<WatchMetrics>>>,
    watch_events: Counter,
    status_writes: [Counter; WriteResult::ALL.len()],
    writes_held: Gauge,
    rules: [Gauge; RuleState::ALL.len()],
    discovery: ArcSwap<Discovery>,
    discovery_errors: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Resource {
    group: String,
    plural: String,
}

/// The counters of one watched kind. They are shown for as long as somebody holds them.
#[derive(Debug, Default)]
pub struct WatchMetrics {
    /// Of all kinds.
    all_events: Counter,
    events: AtomicU64,
    /// Milliseconds since 1970; 0 before anything was.
    heard: AtomicI64,
    is_whole: AtomicBool,
    reads: Counter,
    relists: Counter,
    drift: Counter,
    errors: Mutex<BTreeMap<WatchErrorCode, u64>>,
}

/// What was counted of one kind so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchCounts {
    /// Changes that its watch delivered, wanted or not.
    pub events: u64,
    /// Lists that had to be made again after the first one.
    pub relists: u64,
    /// Objects that were otherwise than the watch had told.
    pub drift: u64,
    /// Whether whole objects are asked for, and not their metadata alone.
    pub is_whole: bool,
    /// Objects that were read one by one, while only metadata was asked for.
    pub reads: u64,
    /// Failed lists and watches by what they failed with.
    pub errors: BTreeMap<WatchErrorCode, u64>,
    /// When a whole list, an event or a bookmark came last.
    pub heard: Option<Timestamp>,
}

/// What a watch failed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchErrorCode {
    /// The API server answered, or sent in an event, a status of 400 to 599. Another number
    /// counts as `other`.
    Status(u16),
    /// No connection, or it broke.
    Connection,
    /// No answer in time.
    Timeout,
    /// An answer that can't be read.
    Decode,
}

/// What became of one write of an `Addon` or of its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// An `Addon` was created, and its status written.
    Created,
    /// A status was written.
    Updated,
    /// An `Addon` was deleted.
    Deleted,
    /// The API server refuses the status.
    Refused,
    /// It failed and is tried again.
    Failed,
}

/// What became of a `StatusRule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleState {
    /// It is in force.
    Accepted,
    /// It makes no sense, is in conflict with another or is one too many.
    Refused,
    /// One of its expressions was slow or failed again and again.
    SwitchedOff,
}

impl Metrics {
    /// The counters of a kind. Whoever asks for the same kind while they are held gets the same
    /// ones; dropped by all holders, the kind's series vanish.
    pub fn watch(&self, kind: &Kind) -> Arc<WatchMetrics> {
        let resource = Resource { group: kind.group.clone(), plural: kind.plural.clone() };
        let mut watches = lock(&self.0.watches);
        watches.retain(|_, watch| watch.strong_count() > 0);
        if let Some(watch) = watches.get(&resource).and_then(Weak::upgrade) {
            return watch;
        }
        let watch =
            Arc::new(WatchMetrics { all_events: self.0.watch_events.clone(), ..WatchMetrics::default() });
        watches.insert(resource, Arc::downgrade(&watch));
        watch
    }

    /// The counts of every kind that is watched, by group and resource.
    pub fn watches(&self) -> BTreeMap<(String, String), WatchCounts> {
        let held = self.held();
        held.into_iter().map(|(name, watch)| ((name.group, name.plural), watch.counts())).collect()
    }

    fn held(&self) -> Vec<(Resource, Arc<WatchMetrics>)> {
        let watches = lock(&self.0.watches);
        watches.iter().filter_map(|(resource, watch)| Some((resource.clone(), watch.upgrade()?))).collect()
    }

    /// Counts one write of an `Addon` or of its status.
    pub fn status_write(&self, result: WriteResult) {
        self.0.status_writes[result as usize].inc();
    }

    /// Notes whether `Addon` objects stay as they are for now, because what would be written may be wrong soon.
    pub fn hold_writes(&self, held: bool) {
        self.0.writes_held.set(held.into());
    }

    /// Whether `Addon` objects stay as they are for now.
    pub fn writes_are_held(&self) -> bool {
        self.0.writes_held.get() != 0
    }

    /// How many `StatusRule` objects there are of each state, in the order of [`RuleState::ALL`].
    pub fn rules(&self, counts: [i64; RuleState::ALL.len()]) {
        for (gauge, count) in self.0.rules.iter().zip(counts) {
            gauge.set(count);
        }
    }
}

impl WatchMetrics {
    /// Counts changes that a watch delivered, wanted or not.
    pub fn events(&self, count: u64) {
        self.all_events.inc_by(count);
        self.events.fetch_add(count, Ordering::Relaxed);
    }

    /// Notes that a whole list, an event or a bookmark came.
    pub fn heard(&self) {
        self.heard.store(Timestamp::now().as_millisecond(), Ordering::Relaxed);
    }

    /// What was counted so far.
    pub fn counts(&self) -> WatchCounts {
        let heard = self.heard.load(Ordering::Relaxed);
        WatchCounts {
            events: self.events.load(Ordering::Relaxed),
            relists: self.relists.get(),
            drift: self.drift.get(),
            is_whole: self.is_whole.load(Ordering::Relaxed),
            reads: self.reads.get(),
            errors: lock(&self.errors).clone(),
            heard: Timestamp::from_millisecond(heard).ok().filter(|_| heard != 0),
        }
    }

    /// Notes whether whole objects are asked for from now on, or their metadata alone.
    pub fn whole(&self, is_whole: bool) {
        self.is_whole.store(is_whole, Ordering::Relaxed);
    }

    /// Counts an object that is read by itself.
    pub fn read(&self) {
        self.reads.inc();
    }

    /// Counts a list that had to be made again after the first one.
    pub fn relist(&self) {
        self.relists.inc();
    }

    /// Counts objects that were otherwise than the watch had told.
    pub fn drift(&self, objects: usize) {
        self.drift.inc_by(u64::try_from(objects).unwrap_or(u64::MAX));
    }

    /// How many objects [drifted](Self::drift) so far.
    pub fn drifted(&self) -> u64 {
        self.drift.get()
    }

    /// Counts a failed list or watch.
    pub fn error(&self, code: WatchErrorCode) {
        *lock(&self.errors).entry(code.bounded()).or_default() += 1;
    }
}

impl WatchErrorCode {
    fn bounded(self) -> Self {
        match self {
            Self::Status(400..=599) | Self::Connection | Self::Timeout | Self::Decode => self,
            Self::Status(_) => Self::Status(0),
        }
    }
}

impl fmt::Display for WatchErrorCode {
    /// The label: `410`, `connection`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bounded() {
            Self::Status(0) => f.write_str("other"),
            Self::Status(status) => write!(f, "{status}"),
            Self::Connection => f.write_str("connection"),
            Self::Timeout => f.write_str("timeout"),
            Self::Decode => f.write_str("decode"),
        }
    }
}

impl RuleState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Accepted, Self::Refused, Self::SwitchedOff];

    /// The label: `accepted`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::SwitchedOff => "switched_off",
        }
    }
}

impl WriteResult {
    const ALL: [Self; 5] = [Self::Created, Self::Updated, Self::Deleted, Self::Refused, Self::Failed];

    /// The label: `created`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let watches = self.held();
        let help = "Failed lists and watches of a kind, by HTTP status or other cause.";
        let mut errors = counter(&mut encoder, "addons_controller_watch_errors", help)?;
        for (resource, watch) in &watches {
            let [group, plural] = resource.labels();
            for (code, count) in &*lock(&watch.errors) {
                let code = code.to_string();
                add(&mut errors, &[group, plural, ("code", Label(&code))], *count)?;
            }
        }
        let help = "Lists of a kind that had to be made again after the first one.";
        let mut relists = counter(&mut encoder, "addons_controller_relists", help)?;
        for (resource, watch) in &watches {
            add(&mut relists, &resource.labels(), watch.relists.get())?;
        }
        let help = "Objects that were read one by one, while only metadata was asked for.";
        let mut reads = counter(&mut encoder, "addons_controller_watch_reads", help)?;
        for (resource, watch) in &watches {
            add(&mut reads, &resource.labels(), watch.reads.get())?;
        }
        let help = "Objects that a list showed otherwise than the watch had told; should stay 0.";
        let mut drift = counter(&mut encoder, "addons_controller_watch_drift", help)?;
        for (resource, watch) in &watches {
            add(&mut drift, &resource.labels(), watch.drift.get())?;
        }
        let help = "When a whole list, an event or a bookmark of a kind came last.";
        let name = "addons_controller_watch_heard_timestamp_seconds";
        let mut heard = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (resource, watch) in &watches {
            if let Some(at) = watch.counts().heard {
                heard.encode_family(&resource.labels())?.encode_gauge(&at.as_second())?;
            }
        }
        let help = "Changes that the watches of all kinds delivered.";
        counter(&mut encoder, "addons_controller_watch_events", help)?
            .encode_counter::<NoLabelSet, _, u64>(&self.0.watch_events.get(), None)?;

        let help = "Writes of Addon objects and their status, by what became of them.";
        let mut writes = counter(&mut encoder, "addons_controller_status_writes", help)?;
        for (result, count) in WriteResult::ALL.into_iter().zip(&self.0.status_writes) {
            add(&mut writes, &[("result", Label(result.as_str()))], count.get())?;
        }

        let help = "Whether Addon objects stay as they are for now: the API server is out for everybody.";
        encoder
            .encode_descriptor("addons_controller_status_writes_held", help, None, MetricType::Gauge)?
            .encode_gauge(&self.0.writes_held.get())?;

        let help = "StatusRule objects, by whether they are in force.";
        let mut rules =
            encoder.encode_descriptor("addons_controller_status_rules", help, None, MetricType::Gauge)?;
        for (state, count) in RuleState::ALL.into_iter().zip(&self.0.rules) {
            let labels = [("state", Label(state.as_str()))];
            rules.encode_family(&labels)?.encode_gauge(&count.get())?;
        }
        discovery::encode(&mut encoder, &self.discovery(), self.0.discovery_errors.get())
    }
}

impl Resource {
    fn labels(&self) -> [(&'static str, Label<'_>); 2] {
        [("group", Label(&self.group)), ("resource", Label(&self.plural))]
    }
}

/// A label's value. `prometheus-client` writes text as it is, and group names come from whoever
/// serves an API: what ends a value is escaped here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label<'a>(pub &'a str);

impl EncodeLabelValue for Label<'_> {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\\' => encoder.write_str("\\\\")?,
                '"' => encoder.write_str("\\\"")?,
                '\n' => encoder.write_str("\\n")?,
                c => encoder.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn counter<'a>(
    encoder: &'a mut DescriptorEncoder<'_>,
    name: &'a str,
    help: &str,
) -> Result<MetricEncoder<'a>, fmt::Error> {
    encoder.encode_descriptor(name, help, None, MetricType::Counter)
}

fn add<const N: usize>(
    family: &mut MetricEncoder<'_>,
    labels: &[(&str, Label<'_>); N],
    count: u64,
) -> fmt::Result {
    family.encode_family(labels)?.encode_counter::<NoLabelSet, _, u64>(&count, None)
}

/// Counters are whole after a panic elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use prometheus_client::{encoding::text, registry::Registry};

    use super::*;
    use crate::model::StatusReporting;

    fn kind(group: &str, plural: &str) -> Kind {
        Kind {
            group: group.into(),
            version: "v1".into(),
            kind: "Thing".into(),
            plural: plural.into(),
            namespaced: true,
            status: StatusReporting::Yes,
        }
    }

    fn scrape(metrics: &Metrics) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(metrics.clone()));
        let mut out = String::new();
        text::encode(&mut out, &registry).expect("text");
        out
    }

    #[test]
    fn a_kind_is_shown_while_its_counters_are_held() {
        let metrics = Metrics::default();
        let held = metrics.watch(&kind("apps", "deployments"));
        let again = metrics.watch(&kind("apps", "deployments"));
        held.relist();
        again.relist();
        held.events(5);
        held.error(WatchErrorCode::Status(410));
        held.error(WatchErrorCode::Status(7));
        let text = scrape(&metrics);
        let labels = r#"group="apps",resource="deployments""#;
        assert!(text.contains(&format!("addons_controller_relists_total{{{labels}}} 2\n")), "{text}");
        assert!(text.contains(&format!("watch_errors_total{{{labels},code=\"410\"}} 1\n")), "{text}");
        assert!(text.contains(&format!("watch_errors_total{{{labels},code=\"other\"}} 1\n")), "{text}");

        held.heard();
        let counts = &metrics.watches()[&("apps".to_owned(), "deployments".to_owned())];
        assert_eq!((counts.events, counts.relists, counts.errors.len()), (5, 2, 2));
        assert!(counts.heard.is_some(), "{counts:?}");

        drop((held, again));
        let text = scrape(&metrics);
        assert!(!text.contains("deployments"), "{text}");
        assert!(text.contains("addons_controller_watch_events_total 5\n"), "{text}");
    }

    #[test]
    fn every_result_of_a_write_is_shown_from_the_start() {
        let metrics = Metrics::default();
        metrics.status_write(WriteResult::Updated);
        let text = scrape(&metrics);
        for (result, count) in [("created", 0), ("updated", 1), ("deleted", 0), ("refused", 0), ("failed", 0)]
        {
            let line = format!("addons_controller_status_writes_total{{result=\"{result}\"}} {count}\n");
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn rules_are_counted_by_their_state() {
        let metrics = Metrics::default();
        metrics.rules([3, 0, 1]);
        let text = scrape(&metrics);
        for (state, count) in [("accepted", 3), ("refused", 0), ("switched_off", 1)] {
            let line = format!("addons_controller_status_rules{{state=\"{state}\"}} {count}\n");
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn a_hostile_group_cannot_add_a_series() {
        let metrics = Metrics::default();
        let _held = metrics.watch(&kind("a\"} 1\nfake 1\n\\", "things"));
        let text = scrape(&metrics);
        assert!(text.contains(r#"group="a\"} 1\nfake 1\n\\""#), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("fake")), "{text}");
    }
}
