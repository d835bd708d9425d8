//! Poses of bodies at their collisions.

use nalgebra::Isometry3;

/// Pose of a body at a collision within a frame, where its path bends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Elapsed share of the frame, above 0 to 1.
    pub share: f64,
    /// Its pose at that time.
    pub pose: Isometry3<f64>,
}

impl Waypoint {
    /// Limit of waypoints of a body in a frame, which bounds the keys of a recording: of more
    /// collisions the first seven and the last are kept.
    pub const MAX: usize = 8;

    /// `None` at the start of the frame, where the path has no bend.
    pub(crate) fn new(share: f64, pose: Isometry3<f64>) -> Option<Self> {
        (share > 0.0 && share <= 1.0).then_some(Self { share, pose })
    }
}
