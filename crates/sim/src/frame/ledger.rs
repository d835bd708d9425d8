//! Where the energy of a frame went.

use serde::{Deserialize, Serialize};

/// Mechanical energy at the end of a frame, and what changed it in the frame, J.
///
/// `kinetic + potential` grows over the frame by `work - dissipation.total()`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EnergyLedger {
    /// Kinetic energy at the end, J.
    pub kinetic: f64,
    /// Potential energy at the end, J, zero at the origin.
    pub potential: f64,
    /// Work of kinematic bodies, motors, forces and the timeline, J.
    pub work: f64,
    /// Energy that the frame took away, J.
    pub dissipation: Dissipation,
    /// Growth of `kinetic + potential` over the frame, before pieces were retired, J.
    pub gain: f64,
}

/// Mechanical energy that a frame took away, by what took it, J. A negative one was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dissipation {
    /// Collisions, less the plastic work of dents and what these gave to spin: a body of less inertia has more
    /// kinetic energy at the same angular momentum. If a body dents before its blow is over, the plastic work can
    /// be more than collisions took until the end of the frame, and this is negative.
    pub collision: f64,
    /// Plastic work: part of what the collisions took that left dents.
    pub plastic: f64,
    /// Bodies that became pieces.
    pub fracture: f64,
    /// Contact and friction.
    pub contact: f64,
    /// Falling asleep.
    pub sleep: f64,
    /// Pieces that were retired: the energy they had, potential energy included.
    pub retirement: f64,
}

impl Dissipation {
    /// All together, J.
    pub fn total(&self) -> f64 {
        self.collision + self.plastic + self.fracture + self.contact + self.sleep + self.retirement
    }
}
