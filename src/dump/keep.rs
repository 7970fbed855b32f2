//! What becomes of the objects that a [`Reader`](super::Reader) reads.

use super::unique::Unique;
use crate::model::Object;

/// Takes what a reader reads.
pub trait Keep: Send {
    /// Whether an object needs no name, and nobody asks for its labels.
    const ONLY_JUDGED: bool;

    /// Whether these labels alone make something an object that is asked for.
    fn wants(&self, labels: &[(String, String)]) -> bool;

    /// Takes an object. `resource_version` is 0 where it has none.
    fn take(&mut self, object: Object, resource_version: u64);

    /// The objects that were held.
    fn into_objects(self) -> Vec<Object>;
}

/// Holds every object once.
pub struct Once<W> {
    wanted: W,
    unique: Unique,
}

impl<W> Once<W> {
    pub(super) fn new(wanted: W) -> Self {
        Self { wanted, unique: Unique::default() }
    }
}

impl<W: Fn(&[(String, String)]) -> bool + Send> Keep for Once<W> {
    const ONLY_JUDGED: bool = false;

    fn wants(&self, labels: &[(String, String)]) -> bool {
        (self.wanted)(labels)
    }

    fn take(&mut self, object: Object, resource_version: u64) {
        self.unique.insert(object, resource_version);
    }

    fn into_objects(self) -> Vec<Object> {
        self.unique.into_objects()
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

    fn into_objects(self) -> Vec<Object> {
        Vec::new()
    }
}
