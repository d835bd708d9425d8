//! Levels of a hierarchy of pieces.

use serde::Deserialize;

use super::breakable::Breakable;
use super::check::{at, positive, require, share};
use super::{Bonds, InvalidValue};

/// `levels = [{ break_impulse = 8 }]`: how the clusters of the level above break.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Name of the pattern that divides clusters; by default the next finer one of the body's
    /// pattern, which is nested, or radial with splinters. Either all levels name one, or none.
    pub pattern: Option<String>,
    /// The impulse at one contact that breaks a cluster, N s; by default it follows from its
    /// material, its shape around the impact and the striking body.
    pub break_impulse: Option<f64>,
    /// Pieces with a smaller share of the cluster's volume are merged with the neighbor they share
    /// most area with; an eighth of the mean share of the pattern's pieces by default.
    pub min_share: Option<f64>,
    /// Bonds that join the pieces of a cluster if the impact is too weak to separate them; none by
    /// default.
    pub bonds: Option<Bonds>,
}

impl Level {
    pub(super) fn check(&self, key: &str, body: &Breakable<'_>) -> Result<(), InvalidValue> {
        if let Some(name) = &self.pattern {
            body.check_pattern(&at(key, "pattern"), name)?;
        }
        match self.break_impulse {
            Some(impulse) => positive(&at(key, "break_impulse"), impulse, "N s")?,
            None => require(
                body.has_strength,
                key,
                || "lacks the key `break_impulse`, in N s: give it, or name the body's `material`",
            )?,
        }
        share(&at(key, "min_share"), self.min_share)?;
        self.bonds.as_ref().map_or(Ok(()), |bonds| bonds.check(&at(key, "bonds"), body))
    }
}
