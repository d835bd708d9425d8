//! Who moves bodies, and where keyframes lead them.

use nalgebra::Isometry3;
use serde::Deserialize;

use super::check::require;
use super::pose::placed;
use super::{InvalidValue, Rotation};

/// Largest time of an event or a keyframe, s.
const LARGEST_TIME: f64 = 1e6;

/// Who moves a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Motion {
    /// Forces and contacts do.
    #[default]
    Dynamic,
    /// Nobody.
    Static,
    /// It keeps the velocity it is given and nothing stops it.
    Kinematic,
}

/// Where a kinematic body is at a time: `keyframes = [{ time = 0, position = [0, 1, 0] }, ...]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// s.
    pub time: f64,
    /// Where the shape's origin is then, m.
    pub position: [f64; 3],
    /// How the shape is turned then; not at all unless given. Between two keyframes it turns the
    /// short way.
    #[serde(default)]
    pub rotation: Rotation,
}

impl Keyframe {
    /// Shape coordinates to world.
    pub fn pose(&self) -> Isometry3<f64> {
        placed(self.position, self.rotation)
    }
}

/// A time of the scene, s.
pub(super) fn time(key: &str, t: f64) -> Result<(), InvalidValue> {
    require((0.0..=LARGEST_TIME).contains(&t), key, || {
        format!("must be from 0 to {LARGEST_TIME:e} s, not {t:?}")
    })
}
