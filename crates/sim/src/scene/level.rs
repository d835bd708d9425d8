//! What divides the pieces of a body in turn.

use serde::Deserialize;

use super::breakable::Breakable;
use super::check::{at, positive, require, share};
use super::{Bonds, InvalidValue};

/// `levels = [{ break_impulse = 8 }]`: how the clusters of the level above come apart.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Name of the pattern that divides clusters; unless given, the next finer one of the body's pattern, which
    /// is nested, or radial with splinters. All levels name one, or none.
    pub pattern: Option<String>,
    /// The impulse at one contact that breaks a cluster, N s; unless given, its material, its shape around the blow
    /// and what strikes it decide.
    pub break_impulse: Option<f64>,
    /// Pieces of a smaller share of the volume of the cluster stay with the neighbor they touch most; an 8th of the
    /// mean share of the pattern's pieces unless given.
    pub min_share: Option<f64>,
    /// What holds the pieces of a cluster together where the blow is too weak to part them; nothing unless given.
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
