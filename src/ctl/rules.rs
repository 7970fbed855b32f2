//! What `--rules` reads.

use std::{path::PathBuf, sync::Arc};

use crate::health::{FileError, Rules, read_dir};

/// The built-in rules with those of `folders` before them, and what is wrong with these: a rule
/// that isn't right is left out.
pub(super) fn read(folders: &[PathBuf]) -> (Arc<Rules>, Vec<FileError>) {
    if folders.is_empty() {
        return (Rules::builtin(), Vec::new());
    }
    let mut rules = Vec::new();
    let mut faults = Vec::new();
    for folder in folders {
        let (written, unread) = read_dir(folder);
        faults.extend(unread);
        for written in written {
            match written.compile() {
                Ok(rule) => rules.push(Arc::new(rule)),
                Err(fault) => faults.push(fault),
            }
        }
    }
    (Arc::new(Rules::with(rules)), faults)
}
