//! The tables of add-ons: those that were computed here look like those of the API server.

use kube::ResourceExt;

use super::{
    age::age,
    computed::Computed,
    table::{Cell, NONE, Table},
};
use crate::model::{Health, Timestamp};

/// The name of the column that is coloured and that rows are ordered by.
pub(super) const HEALTH: &str = "HEALTH";

/// The rank of a health for worst-first order.
pub(super) fn rank(word: &str) -> u8 {
    Health::parse(word).rank()
}

/// A table of computed add-ons as they are ordered. What was computed has no age.
pub(super) fn of(addons: &[Computed], wide: bool, now: Timestamp) -> Table {
    let mut header = vec!["NAME", HEALTH, "READY", "REASON", "SINCE"];
    if wide {
        header.extend(["COMPONENTS", "VERSION", "MESSAGE", "IDENTIFIER"]);
    }
    let mut table = Table::new(header);
    for Computed { addon, since } in addons {
        let status = addon.status.clone().unwrap_or_default();
        let mut row: Vec<Cell> = vec![
            addon.name_any().into(),
            Cell::health(&status.health),
            status.ready.into(),
            status.reason.into(),
            since.map_or(NONE.to_owned(), |since| age(since, now)).into(),
        ];
        if wide {
            row.push(status.counts.total.to_string().into());
            row.push(status.version.unwrap_or_default().into());
            row.push(status.message.into());
            row.push(addon.spec.identifier.clone().into());
        }
        table.push(row);
    }
    table
}
