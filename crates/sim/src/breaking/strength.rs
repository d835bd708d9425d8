//! Strength of bodies under impacts.

use serde::{Deserialize, Serialize};

use crate::BodyId;

/// Criterion for a collision to break a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// By its material ([`World::set_solid_material`](crate::World::set_solid_material)), its
    /// shape around the impact and the striking body; see [`fracture::Impact`].
    Material,
    /// At a fixed impulse, N s, for any point and any striking body.
    Impulse(f64),
}

/// The hardest impact on a body in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImpactLoad {
    /// The body.
    pub body: BodyId,
    /// The impulse that it received, or would have received had it not broken, N s.
    pub impulse: f64,
    /// The breaking impulse at that point, N s.
    pub strength: f64,
}

impl ImpactLoad {
    /// Impulse over strength: the body broke at 1.
    pub fn utilization(&self) -> f64 {
        self.impulse / self.strength
    }
}

/// The impacts that a body withstands in a collision pass of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resistance {
    /// Any impact.
    Unbreakable,
    /// Impacts below its [`Strength`].
    Below(Strength),
    /// Impacts below its [`Strength`], and those up to this multiple of it. The body withstood an
    /// impact of that size in this frame.
    Withstood(Strength, f64),
}
