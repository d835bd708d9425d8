//! The bodies of a step.

use std::sync::Arc;

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::groups::Groups;
use crate::shape::Shape;
use crate::solve::impulse::Material;

/// The bodies of a pass as a structure of arrays of equal length.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// What each body is.
    pub bodies: &'a [Body],
    /// Collision shapes, in body coordinates.
    pub shapes: &'a [Arc<Shape>],
    /// Surface properties.
    pub materials: &'a [Material],
    /// Whom each may touch.
    pub groups: &'a [Groups],
}

/// A body as the passes see it: inverse mass, velocity, and the momentum it has been given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    pub(crate) inverse_mass: f64,
    pub(crate) inverse_inertia: Matrix3<f64>,
    pub(crate) velocity: Velocity,
    pub(crate) gained: Momentum,
}

impl Mover {
    pub(crate) fn new(body: &Body, pose: &Isometry3<f64>, momentum: &Momentum) -> Self {
        let (inverse_mass, inverse_inertia) = match body.mass_properties() {
            Some(mass) => (1.0 / mass.mass(), mass.inverse_inertia(&pose.rotation)),
            None => (0.0, Matrix3::zeros()),
        };
        let velocity = body.velocity(&pose.rotation, momentum);
        Self { inverse_mass, inverse_inertia, velocity, gained: Momentum::default() }
    }

    pub(crate) fn column(
        columns: Columns<'_>,
        poses: &[Isometry3<f64>],
        momenta: &[Momentum],
    ) -> Vec<Self> {
        let states = poses.iter().zip(momenta);
        columns.bodies.iter().zip(states).map(|(b, (x, m))| Self::new(b, x, m)).collect()
    }

    /// The same body as one that no impulse moves.
    pub(crate) fn frozen(self) -> Self {
        Self { inverse_mass: 0.0, inverse_inertia: Matrix3::zeros(), ..self }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }

    pub(crate) fn apply(&mut self, j: &Vector3<f64>, r: &Vector3<f64>) {
        self.gain(&Momentum { linear: *j, angular: r.cross(j) });
    }

    pub(crate) fn gain(&mut self, gain: &Momentum) {
        if self.is_fixed() {
            return;
        }
        self.gained.linear += gain.linear;
        self.gained.angular += gain.angular;
        self.velocity.linear += gain.linear * self.inverse_mass;
        self.velocity.angular += self.inverse_inertia * gain.angular;
    }
}

/// Adds to each dynamic body's momentum what its mover gained.
pub(crate) fn keep_gains(columns: Columns<'_>, movers: &[Mover], momenta: &mut [Momentum]) {
    for ((body, mover), momentum) in columns.bodies.iter().zip(movers).zip(momenta) {
        if body.mass_properties().is_some() {
            momentum.linear += mover.gained.linear;
            momentum.angular += mover.gained.angular;
        }
    }
}
