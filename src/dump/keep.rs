//! What becomes of the objects that a [`Reader`](super::Reader) reads.

use super::unique::{Link, Unique};
use crate::model::Object;

/// Takes what a reader reads.
pub trait Keep: Send {
    /// Whether an object needs no name, and nobody asks for its labels.
    const ONLY_JUDGED: bool;

    /// Whether these labels alone make something an object that is asked for.
    fn wants(&self, labels: &[(String, String)]) -> bool;

    /// Takes an object. `resource_version` is 0 where it has none.
    fn take(&mut self, object: Object, resource_version: u64);

    /// The wanted objects that were held, and the links of the others.
    fn into_parts(self) -> (Vec<Object>, Vec<Link>);
}

/// Holds the wanted objects, each once.
pub struct Selected<W> {
    wanted: W,
    /// Whether the others are held, too.
    all: bool,
    unique: Unique,
}

impl<W> Selected<W> {
    pub(super) fn new(wanted: W, all: bool) -> Self {
        Self { wanted, all, unique: Unique::default() }
    }
}

impl<W: Fn(&[(String, String)]) -> bool + Send> Keep for Selected<W> {
    const ONLY_JUDGED: bool = false;

    fn wants(&self, labels: &[(String, String)]) -> bool {
        (self.wanted)(labels)
    }

    fn take(&mut self, object: Object, resource_version: u64) {
        let wanted = self.all || self.wants(&object.labels);
        self.unique.insert(object, resource_version, wanted);
    }

    fn into_parts(self) -> (Vec<Object>, Vec<Link>) {
        self.unique.into_parts()
    }
}

/// Passes every object on, however often it stands there, and holds none.
pub struct Each<F>(pub(super) F);

impl<F: FnMut(Object) + Send> Keep for Each<F> {
    const ONLY_JUDGED: bool = true;

    fn wants(&self, _: &[(String, String)]) -> bool {
        false
    }

    fn take(&mut self, object: Object, _: u64) {
        (self.0)(object);
    }

    fn into_parts(self) -> (Vec<Object>, Vec<Link>) {
        (Vec::new(), Vec::new())
    }
}
