//! Deduplicated, indexed values.

use std::collections::BTreeMap;

/// Distinct values with indices in order of first occurrence.
pub(super) struct Interned<T> {
    indices: BTreeMap<T, u32>,
    pub(super) all: Vec<T>,
}

impl<T: Ord + Clone> Interned<T> {
    pub(super) fn new() -> Self {
        Self { indices: BTreeMap::new(), all: Vec::new() }
    }

    pub(super) fn index_of(&mut self, one: T) -> u32 {
        if let Some(index) = self.indices.get(&one) {
            return *index;
        }
        let index = self.all.len() as u32;
        self.indices.insert(one.clone(), index);
        self.all.push(one);
        index
    }
}
