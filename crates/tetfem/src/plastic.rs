//! When materials yield, and what yielding leaves.

use nalgebra::Matrix3;

/// When a material yields: at a von Mises stress of `strength + hardening * strain`, where `strain` is the
/// equivalent plastic strain so far (isotropic linear hardening).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yielding {
    /// Von Mises stress at which the material first yields, Pa.
    pub strength: f64,
    /// Growth of the yield stress per equivalent plastic strain, Pa; 0 of ideal plasticity.
    pub hardening: f64,
}

/// What yielding left in a tetrahedron.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlasticState {
    /// Equivalent plastic strain of all blows, the sum of `sqrt(2/3 e : e)`.
    pub strain: f64,
    /// Stress at rest, Pa.
    pub stress: Matrix3<f64>,
}
