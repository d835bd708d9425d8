//! Rigid bodies that keep their energy and angular momentum at one time step per frame.
//!
//! **Conventions.** SI units, right-handed frames. A pose maps body coordinates, whose origin is
//! the centre of mass and whose axes are the principal axes, to the world. State is pose and
//! *momentum*: angular momentum is stored, so it is conserved to the bit in free flight, and
//! velocity is derived from it.

mod advance;
mod body;
mod energy_fix;
mod integrate;
mod mass;
mod moments;
mod principal;
mod rotation;
mod spin;

pub use advance::{OrientationStep, advance, advance_all};
pub use body::{Body, Load, Momentum, Velocity};
pub use energy_fix::{EnergyFix, energy_fix};
pub use integrate::{IntegrateError, Integrator, Motion, State, integrate};
pub use mass::{MassError, MassProperties};
pub use moments::MassMoments;
