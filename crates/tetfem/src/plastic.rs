//! Yield criterion and plastic state.

use nalgebra::Matrix3;

/// Yield criterion: a von Mises stress of `strength + hardening * strain`, where `strain` is the
/// accumulated equivalent plastic strain (isotropic linear hardening).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yielding {
    /// Initial yield stress, Pa (von Mises).
    pub strength: f64,
    /// Increase of the yield stress per equivalent plastic strain, Pa; 0 for ideal plasticity.
    pub hardening: f64,
}

/// Plastic state of a tetrahedron.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlasticState {
    /// Accumulated equivalent plastic strain of all impacts, the sum of `sqrt(2/3 e : e)`.
    pub strain: f64,
    /// Residual stress, Pa.
    pub stress: Matrix3<f64>,
}
