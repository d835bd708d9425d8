//! A spinning body in its own axes, where its inertia is diagonal.

use crate::MassProperties;
use nalgebra::{UnitQuaternion, Vector3};

/// Rotation of a free body, in the body axes of one moment.
pub(crate) struct Spin {
    pub(crate) inverse_inertia: Vector3<f64>,
    /// Angular momentum, kg m^2/s.
    pub(crate) momentum: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub(crate) velocity: Vector3<f64>,
    /// Rotational kinetic energy, J.
    pub(crate) energy: f64,
}

impl Spin {
    pub(crate) fn new(
        mass: &MassProperties,
        rotation: &UnitQuaternion<f64>,
        angular_momentum: &Vector3<f64>,
    ) -> Self {
        let inverse_inertia = mass.inverse_principal_inertia();
        let momentum = rotation.inverse_transform_vector(angular_momentum);
        let velocity = momentum.component_mul(&inverse_inertia);
        Self { inverse_inertia, momentum, velocity, energy: 0.5 * momentum.dot(&velocity) }
    }
}
