//! The `Addon` and `StatusRule` resources, labels, names and bounds.

mod addon;
pub mod bounds;
mod crd;
mod identifier;
mod marker;
mod name;
mod status_rule;

pub use addon::{
    Addon, AddonCondition, AddonSpec, AddonStatus, ComponentCause, ComponentCondition, ComponentFlapping,
    ComponentStatus, Counts, Fact, InstallStatus, condition, importance,
};
pub use crd::{crd, status_rule_crd};
pub use identifier::{Identifier, LabelPrefix, PrefixError};
pub use marker::{MarkerError, MarkerLabel};
pub use name::{identifier_of_name, object_name};
pub use status_rule::{
    CauseRule, Combine, ConditionRoles, CountBy, FactRule, Items, KindMatch, OneOrMany, PhaseTable, Quorum,
    ReasonTones, Row, Select, StatusRule, StatusRuleSpec, StatusRuleStatus, Suspension, Test, Word, accepted,
};

/// The API group of our resources.
pub const GROUP: &str = "addons.x-k8s.io";

/// The version of our resources.
pub const VERSION: &str = "v1alpha1";
