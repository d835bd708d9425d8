//! Strength of bodies under blows.

use serde::{Deserialize, Serialize};

use crate::BodyId;

/// When a collision breaks a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// By its material ([`World::set_substance`](crate::World::set_substance)), its shape around the blow and what
    /// strikes it; see [`fracture::Impact`].
    Material,
    /// At a fixed impulse, N s, wherever and by whatever it is hit.
    Impulse(f64),
}

/// The hardest blow to a body in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImpactLoad {
    /// The body.
    pub body: BodyId,
    /// The impulse that it received, or would have received had it not broken, N s.
    pub impulse: f64,
    /// The impulse that breaks it there, N s.
    pub strength: f64,
}

impl ImpactLoad {
    /// How near the body came to breaking: it broke at 1.
    pub fn utilization(&self) -> f64 {
        self.impulse / self.strength
    }
}

/// The blows that a body withstands in a pass over the collisions of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Any blow.
    All,
    /// Those below its [`Strength`].
    Own(Strength),
    /// Those below its [`Strength`], and those up to this multiple of it: the body held a blow of that size in this
    /// frame.
    Above(Strength, f64),
}
