//! What the fracture of a body is checked against.

use std::collections::BTreeMap;

use super::check::{at, positive, require, stress};
use super::error::nearest;
use super::{InvalidValue, Pattern};

/// What a fracture is checked against.
pub(super) struct Breakable<'a> {
    /// Whether the material of the body says what it bears.
    pub(super) has_strength: bool,
    /// Edge lengths of the box around the body, m; `None` where the scene does not give it.
    pub(super) extents: Option<[f64; 3]>,
    /// Those of the scene.
    pub(super) patterns: &'a BTreeMap<String, Pattern>,
}

impl Breakable<'_> {
    /// That a pattern exists.
    pub(super) fn check_pattern(&self, key: &str, name: &str) -> Result<(), InvalidValue> {
        require(self.patterns.contains_key(name), key, || {
            match nearest(name, self.patterns.keys().map(String::as_str)) {
                Some(other) => format!("names no pattern `{name}`, did you mean `{other}`?"),
                None => format!(
                    "names no pattern `{name}`: add a table [pattern.{name}.voronoi] or name another"
                ),
            }
        })
    }

    /// A stress that its fracture names, Pa, or that of its material.
    pub(super) fn check_strength(
        &self,
        key: &str,
        name: &str,
        own: Option<f64>,
    ) -> Result<(), InvalidValue> {
        match own {
            Some(own) => stress(&at(key, name), own),
            None => require(self.has_strength, key, || {
                format!("lacks the key `{name}`, in Pa: give it, or name the body's `material`")
            }),
        }
    }

    /// Tetrahedra neither larger than the body nor too many.
    pub(super) fn check_tetrahedra(&self, key: &str, spacing: f64) -> Result<(), InvalidValue> {
        let key = at(key, "spacing");
        positive(&key, spacing, "m")?;
        let Some(extents) = self.extents else { return Ok(()) };
        // two lattice cells, six tetrahedra each at the least
        let count: f64 = extents.iter().map(|x| (x / spacing).max(1.0)).product::<f64>() * 12.0;
        require(count <= 1e6, &key, || {
            format!(
                "makes about {count:.0} tetrahedra, but at most 1000000 are allowed: use larger ones"
            )
        })
    }
}
