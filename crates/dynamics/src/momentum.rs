//! Momentum of a body, loads on it, and velocity.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use crate::rotation::{exp, log};

/// Momentum of a body about its center of mass, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear momentum, kg m/s.
    pub linear: Vector3<f64>,
    /// Angular momentum about the center of mass, kg m^2/s.
    pub angular: Vector3<f64>,
}

impl Momentum {
    /// Adds an impulse `j` N s that acts at lever arm `r` m from the center of mass.
    pub fn apply_impulse(&mut self, j: &Vector3<f64>, r: &Vector3<f64>) {
        self.linear += j;
        self.angular += r.cross(j);
    }

    /// Adds the momentum of `load` over `dt` s.
    pub fn push(&mut self, load: &Load, dt: f64) {
        self.linear += load.force * dt;
        self.angular += load.torque * dt;
    }

    /// The part in the xy plane: no motion along z, and rotation about z only.
    pub fn planar(&self) -> Self {
        Self {
            linear: Vector3::new(self.linear.x, self.linear.y, 0.0),
            angular: Vector3::new(0.0, 0.0, self.angular.z),
        }
    }
}

impl std::ops::Add for Momentum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl std::ops::AddAssign for Momentum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::ops::Sub for Momentum {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }
}

impl std::ops::Mul<f64> for Momentum {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { linear: self.linear * factor, angular: self.angular * factor }
    }
}

/// Force and torque on a body, about its center of mass, in world axes. Loads add.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force, N.
    pub force: Vector3<f64>,
    /// Torque about the center of mass, N m.
    pub torque: Vector3<f64>,
}

impl Load {
    /// A `force` N that acts at lever arm `r` m from the center of mass.
    pub fn at(force: Vector3<f64>, r: &Vector3<f64>) -> Self {
        Self { force, torque: r.cross(&force) }
    }
}

impl std::ops::Add for Load {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

/// Velocity of a rigid body, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Velocity of the center of mass, m/s.
    pub linear: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub angular: Vector3<f64>,
}

impl Velocity {
    /// The constant linear and angular velocity from `from` to `to` in `dt` s, with less than half
    /// a turn, for a kinematic body that follows given poses.
    pub fn between(from: &Isometry3<f64>, to: &Isometry3<f64>, dt: f64) -> Self {
        Self {
            linear: (to.translation.vector - from.translation.vector) / dt,
            angular: log(&(to.rotation * from.rotation.inverse())) / dt,
        }
    }

    /// The pose of a body at `pose` after `dt` s at constant linear and angular velocity: the
    /// inverse of [`Self::between`].
    pub fn integrate(&self, pose: &Isometry3<f64>, dt: f64) -> Isometry3<f64> {
        let turned = exp(&(self.angular * dt)) * pose.rotation;
        Isometry3::from_parts(
            Translation3::from(pose.translation.vector + self.linear * dt),
            UnitQuaternion::new_normalize(turned.into_inner()),
        )
    }

    /// Velocity of the body's point at lever arm `r` m from the center of mass, m/s.
    pub fn at(&self, r: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.angular.cross(r)
    }
}
