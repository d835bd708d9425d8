//! The energy balance of a frame.

use serde::{Deserialize, Serialize};

/// Mechanical energy at the end of a frame, and its changes in the frame, J.
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
    /// Energy dissipated in the frame, J.
    pub dissipation: Dissipation,
    /// Growth of `kinetic + potential` over the frame, after the actions of the timeline and before pieces were
    /// retired, J.
    pub gain: f64,
}

/// Mechanical energy dissipated in a frame, by cause, J. Negative numbers are gains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dissipation {
    /// Collisions, less the plastic work of dents and the kinetic energy that dents add: a body of
    /// less inertia has more at the same angular momentum. It is negative if a body dents before
    /// its impact is over and the plastic work exceeds the energy that collisions dissipate by the
    /// end of the frame.
    pub collision: f64,
    /// Plastic work of dents: a part of the energy dissipated by collisions.
    pub plastic: f64,
    /// Fracture of bodies.
    pub fracture: f64,
    /// Contact and friction.
    pub contact: f64,
    /// Bodies that fell asleep.
    pub sleep: f64,
    /// Retired pieces and crumbs: their kinetic and potential energy.
    pub retirement: f64,
}

impl Dissipation {
    /// The total, J.
    pub fn total(&self) -> f64 {
        self.collision + self.plastic + self.fracture + self.contact + self.sleep + self.retirement
    }

    /// Mechanical energy that the frame gained and no external work explains, J: an error of the simulation. Negative
    /// if the frame dissipated energy.
    pub fn unexplained_gain(&self) -> f64 {
        self.retirement - self.total()
    }
}
