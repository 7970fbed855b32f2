//! The same objects from files instead of a cluster: YAML, JSON, lists and folders of them.
//!
//! Dumps are made by many tools and by hand, so reading is forgiving: what isn't meant to be a
//! Kubernetes object is passed over, a broken document or object is reported with its place and the
//! rest is read.
//! Nothing that a file holds can make reading fail as a whole, run out of bounds or panic.

mod clock;
mod definitions;
mod document;
mod files;
mod items;
mod keep;
mod kinds;
mod node;
mod problem;
mod reader;
mod split;
mod unique;
mod value;

pub use definitions::Definitions;
pub use keep::{Each, Keep, Once};
pub use problem::{Fault, Place, Problem};
pub use reader::{Dump, Reader};

/// The most bytes that one file may have.
pub const MAX_FILE_BYTES: usize = 256 << 20;

/// How deep folders are read.
pub const MAX_FOLDERS: usize = 32;

/// How many broken documents one file may have before the rest of it is left unread.
pub const MAX_BROKEN: usize = 100;

#[cfg(test)]
mod tests;
