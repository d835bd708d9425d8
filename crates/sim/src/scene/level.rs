//! Levels of a hierarchy of pieces.

use serde::Deserialize;

use super::check::{at, lacks_strength, positive, require, share};
use super::fracture_context::FractureContext;
use super::{Bonds, InvalidValue};

/// `levels = [{ break_impulse = 8 }]`: how the clusters of the level above break.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Name of the pattern that divides clusters. The default is the next finer part of the body's
    /// pattern, which must then be nested, or radial with splinters. Either all levels have a
    /// pattern, or none has.
    pub pattern: Option<String>,
    /// Impulse at one contact that breaks a cluster, N s; the default follows from the material,
    /// the shape around the impact and the striking body.
    pub break_impulse: Option<f64>,
    /// The neighbor with the largest contact area absorbs pieces with a smaller share of the
    /// cluster's volume. The default is an eighth of the mean share of the pattern's pieces.
    pub min_share: Option<f64>,
    /// Bonds that hold the pieces of a cluster together where the impact is too weak; none by
    /// default.
    pub bonds: Option<Bonds>,
}

impl Level {
    pub(super) fn check(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        if let Some(name) = &self.pattern {
            body.check_pattern(&at(key, "pattern"), name)?;
        }
        match self.break_impulse {
            Some(impulse) => positive(&at(key, "break_impulse"), impulse, "N s")?,
            None => require(body.has_strength, key, || lacks_strength("break_impulse", "N s"))?,
        }
        share(&at(key, "min_share"), self.min_share)?;
        self.bonds.as_ref().map_or(Ok(()), |bonds| bonds.check(&at(key, "bonds"), body))
    }
}
