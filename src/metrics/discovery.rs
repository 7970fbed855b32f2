use std::{fmt, sync::Arc};

use prometheus_client::{encoding::DescriptorEncoder, metrics::MetricType};

use super::{Metrics, counter};
use crate::model::{Kind, Timestamp};

/// What reading which kinds the API server serves told.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// When it was read last.
    pub read: Option<Timestamp>,
    /// The groups of which it isn't known what they serve now.
    pub stale: Vec<String>,
    /// The kinds that could be watched and are left out, by default or on demand.
    pub excluded: Vec<Arc<Kind>>,
    /// The kinds that can be listed and can't be watched, and why.
    pub unwatchable: Vec<(Arc<Kind>, &'static str)>,
    /// The label that objects must carry to be seen; `None` where all are.
    pub marker: Option<String>,
    /// Why it couldn't be read since, cleaned.
    pub error: Option<String>,
}

impl Metrics {
    /// Shows what was read.
    pub fn discovered(&self, discovery: Discovery) {
        self.0.discovery.store(Arc::new(discovery));
    }

    /// Counts a reading that failed, and shows why beside what was read before.
    pub fn undiscovered(&self, error: &str) {
        self.0.discovery_errors.inc();
        let before = Discovery::clone(&self.discovery());
        self.discovered(Discovery { error: Some(error.to_owned()), ..before });
    }

    /// What was shown last.
    pub fn discovery(&self) -> Arc<Discovery> {
        self.0.discovery.load_full()
    }
}

pub(super) fn encode(encoder: &mut DescriptorEncoder<'_>, discovery: &Discovery, errors: u64) -> fmt::Result {
    let help = "API groups of which it isn't known what they serve now.";
    let stale = i64::try_from(discovery.stale.len()).unwrap_or(i64::MAX);
    encoder
        .encode_descriptor("addons_controller_discovery_stale_groups", help, None, MetricType::Gauge)?
        .encode_gauge(&stale)?;
    let help = "Failed readings of which kinds the API server serves.";
    counter(encoder, "addons_controller_discovery_errors", help)?
        .encode_counter::<prometheus_client::encoding::NoLabelSet, _, u64>(&errors, None)
}
