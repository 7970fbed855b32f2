use std::{collections::HashSet, hash::Hash, sync::Arc};

/// Values that many hold, each once. What nobody holds any more goes when as many again have come.
#[derive(Debug)]
pub(super) struct Shared<T> {
    values: HashSet<Arc<T>>,
    /// How many there may be before it is looked who holds them.
    most: usize,
}

/// So few aren't worth a look.
const FEW: usize = 64;

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { values: HashSet::new(), most: FEW }
    }
}

impl<T: Eq + Hash> Shared<T> {
    /// The one that is like `value`.
    pub(super) fn get(&mut self, value: T) -> Arc<T> {
        if let Some(known) = self.values.get(&value) {
            return Arc::clone(known);
        }
        if self.values.len() >= self.most {
            self.values.retain(|value| Arc::strong_count(value) > 1);
            self.values.shrink_to_fit();
            self.most = FEW.max(2 * self.values.len());
        }
        let value = Arc::new(value);
        self.values.insert(Arc::clone(&value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_stands_once_for_as_long_as_it_is_held() {
        let mut shared = Shared::default();
        let held: Vec<Arc<usize>> = (0..200).map(|n| shared.get(n % 100)).collect();
        assert!(Arc::ptr_eq(&held[0], &held[100]));
        for n in 1000..2000 {
            shared.get(n);
        }
        assert!(shared.values.len() <= 300, "{}", shared.values.len());
        assert!(Arc::ptr_eq(&held[7], &shared.get(7)));
    }
}
