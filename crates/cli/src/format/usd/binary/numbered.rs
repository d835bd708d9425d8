//! Deduplicated, indexed values.

use std::collections::BTreeMap;

/// Distinct values with indices in order of first occurrence.
pub(super) struct Numbered<T> {
    numbers: BTreeMap<T, u32>,
    pub(super) all: Vec<T>,
}

impl<T: Ord + Clone> Numbered<T> {
    pub(super) fn new() -> Self {
        Self { numbers: BTreeMap::new(), all: Vec::new() }
    }

    pub(super) fn of(&mut self, one: T) -> u32 {
        if let Some(number) = self.numbers.get(&one) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.numbers.insert(one.clone(), number);
        self.all.push(one);
        number
    }
}
