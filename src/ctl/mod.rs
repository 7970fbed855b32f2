//! The commands of addonctl.
