//! Names of prims.

use std::collections::BTreeSet;

/// The names of prims so far: valid identifiers, all distinct.
#[derive(Default)]
pub(in crate::format) struct Names(BTreeSet<String>);

impl Names {
    pub(in crate::format) fn taken(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// A new identifier like `name`.
    pub(in crate::format) fn of(&mut self, name: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut plain: String = name.chars().map(letter).collect();
        if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() {
            plain.insert(0, '_');
        }
        let numbered = (2..).map(|n: usize| format!("{plain}_{n}"));
        let mut all = [plain.clone()].into_iter().chain(numbered);
        let free = all.find(|name| !self.0.contains(name)).unwrap_or(plain);
        self.0.insert(free.clone());
        free
    }
}
