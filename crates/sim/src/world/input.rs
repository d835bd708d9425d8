//! Inputs of a caller for the next frame.

use nalgebra::{Isometry3, Vector3};

use crate::BodyId;

/// What steers the bodies in the next frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steering {
    /// Target poses of kinematic bodies.
    pub(crate) targets: Vec<Target>,
    /// Forces and torques, sorted by body.
    pub(crate) loads: Vec<Load>,
}

/// Force and torque on a body in the next frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) body: BodyId,
    /// Force at the center of mass, N.
    pub(crate) force: Vector3<f64>,
    /// Torque, N m.
    pub(crate) torque: Vector3<f64>,
}

/// Target of a kinematic body at the end of the next frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) body: BodyId,
    pub(crate) pose: Isometry3<f64>,
}
