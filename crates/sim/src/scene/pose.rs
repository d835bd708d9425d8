//! Axes, rotations and poses.

use std::fmt;

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use super::defaults::up;

/// An axis of the coordinates of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// Manual: a derived error would not list the axes for a value that is no string.
impl<'de> Deserialize<'de> for Axis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AxisName;
        impl Visitor<'_> for AxisName {
            type Value = Axis;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "\"x\", \"y\" or \"z\"")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Axis, E> {
                match name {
                    "x" => Ok(Axis::X),
                    "y" => Ok(Axis::Y),
                    "z" => Ok(Axis::Z),
                    _ => Err(E::unknown_variant(name, &["x", "y", "z"])),
                }
            }
        }
        deserializer.deserialize_str(AxisName)
    }
}

/// A right-handed rotation about an axis through the origin.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The axis, of any length but zero; `[0, 1, 0]` by default.
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
    /// The same rotation as a unit quaternion.
    pub fn to_quaternion(self) -> UnitQuaternion<f64> {
        let axis = Unit::new_normalize(Vector3::from(self.axis));
        UnitQuaternion::from_axis_angle(&axis, self.degrees.to_radians())
    }
}

/// Shape coordinates to world.
pub(super) fn placed(position: [f64; 3], rotation: Rotation) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(Vector3::from(position)), rotation.to_quaternion())
}
