//! Axes, turns and poses.

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::Deserialize;

use super::up;

/// An axis of the coordinates of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// A turn about an axis through the origin, right-handed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The axis, of any length but zero; `[0, 1, 0]` unless given.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// The angle, degrees.
    pub degrees: f64,
}

impl Default for Rotation {
    fn default() -> Self {
        Self { axis: up(), degrees: 0.0 }
    }
}

impl Rotation {
    /// The same turn as a unit quaternion.
    pub fn to_quaternion(self) -> UnitQuaternion<f64> {
        let axis = Unit::new_normalize(Vector3::from(self.axis));
        UnitQuaternion::from_axis_angle(&axis, self.degrees.to_radians())
    }
}

/// Shape coordinates to world.
pub(super) fn placed(position: [f64; 3], rotation: Rotation) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(Vector3::from(position)), rotation.to_quaternion())
}
