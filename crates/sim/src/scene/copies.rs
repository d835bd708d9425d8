//! Copies of bodies.

use serde::Deserialize;

use super::check::{MAX_PIECES, at, bounded, count, direction, require};
use super::{Axis, InvalidValue, Rotation};

/// Equal bodies in a grid: `copies = { count = [5, 1, 5], spacing = [0.3, 0.3, 0.3] }`. The body's
/// `position` is the middle of the lowest layer, and copies are named `NAME 1`, `NAME 2` and so on.
/// Mirror images come after all copies: `copies = { mirror = "x" }` is a body and its image.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// Number along x, y and z; 1 by default.
    #[serde(default = "one")]
    pub count: [usize; 3],
    /// Distance between neighbors, m; by default 0 along axes with one copy.
    #[serde(default)]
    pub spacing: [f64; 3],
    /// Largest random offset along each axis, m; 0 by default.
    #[serde(default)]
    pub jitter: f64,
    /// Rotation of each copy relative to the previous one, about its own origin; none by default.
    #[serde(default)]
    pub turn: Rotation,
    /// Largest random rotation about a random axis, degrees; 0 by default.
    #[serde(default)]
    pub turn_jitter: f64,
    /// Adds the mirror image of each copy in a plane of the world normal to this axis; none by
    /// default. Shapes, velocities, keyframes, anchors and weak regions of lattices are mirrored,
    /// patterns and solid textures are not.
    pub mirror: Option<Axis>,
    /// Position of the plane along its axis, m; 0 by default.
    #[serde(default)]
    pub mirror_at: f64,
}

fn one() -> [usize; 3] {
    [1; 3]
}

impl Copies {
    /// Number of bodies.
    pub fn total(&self) -> usize {
        self.count.iter().fold(self.solids(), |product, &n| product.saturating_mul(n))
    }

    /// Number of distinct solids: 2 with a mirror image, otherwise 1.
    pub(super) fn solids(&self) -> usize {
        1 + usize::from(self.mirror.is_some())
    }

    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        for n in self.count {
            count(&at(key, "count"), n, 1, MAX_PIECES)?;
        }
        require(self.total() <= MAX_PIECES, &at(key, "count"), || {
            let [x, y, z] = self.count;
            let images = if self.mirror.is_some() { " and their mirror images" } else { "" };
            format!(
                "makes {x} x {y} x {z} copies{images}, {} in all, more than {MAX_PIECES}: use fewer",
                self.total()
            )
        })?;
        bounded(&at(key, "spacing"), &self.spacing, "m")?;
        let apart = |k: usize| self.count[k] == 1 || self.spacing[k] != 0.0 || self.jitter != 0.0;
        require((0..3).all(apart), &at(key, "spacing"), || {
            format!("must not be 0 along an axis with several copies; `count` is {:?}", self.count)
        })?;
        require(
            self.mirror.is_some() || self.mirror_at == 0.0,
            &at(key, "mirror_at"),
            || "requires `mirror`: add `mirror`, or remove `mirror_at`",
        )?;
        bounded(&at(key, "mirror_at"), &[self.mirror_at], "m")?;
        bounded(&at(key, "jitter"), &[self.jitter], "m")?;
        bounded(&at(key, "turn.degrees"), &[self.turn.degrees], "degrees")?;
        direction(&at(key, "turn.axis"), &self.turn.axis)?;
        bounded(&at(key, "turn_jitter"), &[self.turn_jitter], "degrees")
    }
}
