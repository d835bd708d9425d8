//! Body data for the checks of a fracture table.

use std::collections::BTreeMap;

use super::check::{at, lacks_strength, positive, require, stress};
use super::error::nearest;
use super::{InvalidValue, Pattern};

/// Body data for the checks of a fracture table.
pub(super) struct FractureContext<'a> {
    /// Whether the material of the body has a strength.
    pub(super) has_strength: bool,
    /// Edge lengths of the bounding box, m; `None` if the scene does not give it.
    pub(super) extents: Option<[f64; 3]>,
    /// The patterns of the scene.
    pub(super) patterns: &'a BTreeMap<String, Pattern>,
}

impl FractureContext<'_> {
    /// Checks that a pattern exists.
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

    /// Checks the strength `own` of the fracture, Pa; without it, the material must have a
    /// strength.
    pub(super) fn check_strength(
        &self,
        key: &str,
        name: &str,
        own: Option<f64>,
    ) -> Result<(), InvalidValue> {
        match own {
            Some(own) => stress(&at(key, name), own),
            None => require(self.has_strength, key, || lacks_strength(name, "Pa")),
        }
    }

    /// Checks the edge length of tetrahedra, and that they are not too many.
    pub(super) fn check_tetrahedra(&self, key: &str, spacing: f64) -> Result<(), InvalidValue> {
        let key = at(key, "spacing");
        positive(&key, spacing, "m")?;
        let Some(extents) = self.extents else { return Ok(()) };
        // at least two lattice cells of six tetrahedra each
        let count: f64 = extents.iter().map(|x| (x / spacing).max(1.0)).product::<f64>() * 12.0;
        require(count <= 1e6, &key, || {
            format!(
                "makes about {count:.0} tetrahedra, but at most 1000000 are allowed: use larger ones"
            )
        })
    }
}
