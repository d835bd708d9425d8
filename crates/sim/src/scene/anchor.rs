//! Anchors of bodies.

use serde::Deserialize;

use super::check::{at, bounded, direction, positive, require};
use super::{InvalidValue, Plane};

/// Fixes the part of a body in a region until this part breaks off:
/// `anchor = [{ plane = { offset = -0.9 } }, { box = { half_extents = [0.1, 1, 1] }, to = "pier" }]`.
/// Lengths are in the coordinates of the body's shape. Without a region the whole body is fixed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The part of the body in a ball.
    pub sphere: Option<Ball>,
    /// The part of the body in a box along the axes.
    pub r#box: Option<Block>,
    /// The part of the body in the half-space `normal . x < offset`.
    pub plane: Option<Plane>,
    /// The supporting body, which must be static or anchored and touch the body in the region; the
    /// world by default.
    pub to: Option<String>,
}

/// A ball of a region.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Its center, m; `[0, 0, 0]` by default.
    #[serde(default, rename = "centre", alias = "center")]
    pub center: [f64; 3],
    /// Its radius, m.
    pub radius: f64,
}

/// A box of a region.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Its center, m; `[0, 0, 0]` by default.
    #[serde(default, rename = "centre", alias = "center")]
    pub center: [f64; 3],
    /// Half the edge lengths, m.
    pub half_extents: [f64; 3],
}

impl Anchor {
    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        let Self { sphere, r#box, plane, to: _ } = self;
        let regions = [sphere.is_some(), r#box.is_some(), plane.is_some()];
        require(
            regions.iter().filter(|given| **given).count() <= 1,
            key,
            || "must have one region at most, `sphere`, `box` or `plane`: add another anchor",
        )?;
        if let Some(ball) = sphere {
            bounded(&at(key, "sphere.centre"), &ball.center, "m")?;
            positive(&at(key, "sphere.radius"), ball.radius, "m")?;
        }
        if let Some(block) = r#box {
            bounded(&at(key, "box.centre"), &block.center, "m")?;
            for half in block.half_extents {
                positive(&at(key, "box.half_extents"), half, "m")?;
            }
        }
        if let Some(plane) = plane {
            direction(&at(key, "plane.normal"), &plane.normal)?;
            bounded(&at(key, "plane.offset"), &[plane.offset], "m")?;
        }
        Ok(())
    }
}
