use std::collections::HashMap;

use super::Rule;

/// What rules judge, and who they are.
#[derive(Debug)]
pub struct Taken<N> {
    kinds: HashMap<(String, Option<String>), N>,
}

/// What a rule judges that another one judges already.
#[derive(Debug, PartialEq, Eq)]
pub struct Clash<N> {
    /// The other one.
    pub other: N,
    /// The kind, or that it is every one of a group.
    pub what: String,
}

impl<N> Default for Taken<N> {
    fn default() -> Self {
        Self { kinds: HashMap::new() }
    }
}

impl<N: Clone> Taken<N> {
    /// Notes what a rule judges. Rules that only extract facts or say where causes are found go together,
    /// and so do one for a kind and one for its whole group.
    ///
    /// # Errors
    /// What another one judges already; then nothing of this one is noted.
    pub fn take(&mut self, name: &N, rule: &Rule) -> Result<(), Clash<N>> {
        if !rule.judges() {
            return Ok(());
        }
        let targets = rule.targets();
        for target in &targets {
            if let Some(other) = self.kinds.get(target) {
                let what = match target {
                    (group, Some(kind)) if group.is_empty() => kind.clone(),
                    (group, Some(kind)) => format!("{kind}.{group}"),
                    (group, None) => format!("every kind of the group {group:?}"),
                };
                return Err(Clash { other: other.clone(), what });
            }
        }
        self.kinds.extend(targets.into_iter().map(|target| (target, name.clone())));
        Ok(())
    }
}
