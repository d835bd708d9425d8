//! Motion of bodies, and keyframes.

use nalgebra::Isometry3;
use serde::Deserialize;

use super::check::require;
use super::pose::placed;
use super::{InvalidValue, Rotation};

/// Largest time of an event or a keyframe, s.
const LARGEST_TIME: f64 = 1e6;

/// The kind of a body's motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Motion {
    /// Moves by forces and contacts.
    #[default]
    Dynamic,
    /// Does not move.
    Static,
    /// Moves at its initial velocity; forces and contacts have no effect.
    Kinematic,
}

/// Pose of a kinematic body at a time: `keyframes = [{ time = 0, position = [0, 1, 0] }, ...]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time, s.
    pub time: f64,
    /// Position of the shape's origin, m.
    pub position: [f64; 3],
    /// Rotation of the shape; none by default. Between two keyframes it rotates along the shorter
    /// arc.
    #[serde(default)]
    pub rotation: Rotation,
}

impl Keyframe {
    /// Shape coordinates to world.
    pub fn pose(&self) -> Isometry3<f64> {
        placed(self.position, self.rotation)
    }
}

/// Checks a time of the scene, s.
pub(super) fn time(key: &str, t: f64) -> Result<(), InvalidValue> {
    require((0.0..=LARGEST_TIME).contains(&t), key, || {
        format!("must be from 0 to {LARGEST_TIME:e} s, not {t:?}")
    })
}
