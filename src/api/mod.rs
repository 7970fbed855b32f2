//! The `Addon` resource, labels, names and bounds.

mod addon;
pub mod bounds;
mod crd;
mod identifier;
mod name;

pub use addon::{
    Addon, AddonCondition, AddonSpec, AddonStatus, ComponentCause, ComponentCondition, ComponentFlapping,
    ComponentStatus, Counts, Fact, InstallStatus, condition,
};
pub use crd::crd;
pub use identifier::{Identifier, LabelPrefix, PrefixError};
pub use name::{identifier_of_name, object_name};

/// The API group of our resources.
pub const GROUP: &str = "addons.x-k8s.io";

/// The version of our resources.
pub const VERSION: &str = "v1alpha1";
