//! Bonds between the pieces of a body.

use serde::Deserialize;

use super::InvalidValue;
use super::check::{at, lacks_strength, positive, require, stress};
use super::defaults::millisecond;
use super::fracture_context::FractureContext;

/// `bonds = { strength = 3e6 }`: a cut opens only if its share of the impact exceeds strength x
/// area x duration. Pieces with intact bonds stay one body.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bonds {
    /// Stress at which a cut opens, Pa; that of the body's material by default.
    pub strength: Option<f64>,
    /// Duration of an impact, s; 0.001 by default.
    #[serde(default = "millisecond")]
    pub duration: f64,
}

impl Bonds {
    pub(super) fn check(&self, key: &str, body: &FractureContext<'_>) -> Result<(), InvalidValue> {
        positive(&at(key, "duration"), self.duration, "s")?;
        match self.strength {
            Some(strength) => stress(&at(key, "strength"), strength),
            None => require(body.has_strength, key, || lacks_strength("strength", "Pa")),
        }
    }
}
