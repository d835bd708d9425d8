//! The bodies of a step.

use std::sync::Arc;

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3};

use crate::groups::Groups;
use crate::shape::Shape;
use crate::solve::impulse::Material;

/// The bodies of a pass as a structure of arrays of equal length.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// Mass properties or motion of each body.
    pub bodies: &'a [Body],
    /// Collision shapes, in body coordinates.
    pub shapes: &'a [Arc<Shape>],
    /// Surface properties.
    pub materials: &'a [Material],
    /// Collision groups of each body.
    pub groups: &'a [Groups],
}

/// Inverse mass properties and velocity of a body, as the passes use them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    pub(crate) inverse_mass: f64,
    pub(crate) inverse_inertia: Matrix3<f64>,
    pub(crate) velocity: Velocity,
}

impl Mover {
    pub(crate) fn new(body: &Body, pose: &Isometry3<f64>, momentum: &Momentum) -> Self {
        let (inverse_mass, inverse_inertia) = match body.mass_properties() {
            Some(mass) => (1.0 / mass.mass(), mass.inverse_inertia(&pose.rotation)),
            None => (0.0, Matrix3::zeros()),
        };
        let velocity = body.velocity(&pose.rotation, momentum);
        Self { inverse_mass, inverse_inertia, velocity }
    }

    /// The same body with infinite mass.
    pub(crate) fn frozen(self) -> Self {
        Self { inverse_mass: 0.0, inverse_inertia: Matrix3::zeros(), ..self }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }
}
