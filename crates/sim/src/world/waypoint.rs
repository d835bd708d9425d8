//! Where bodies were at their blows.

use nalgebra::Isometry3;

/// Where a body was at a blow within a frame: its way bends there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// Share of the frame that was over then, above 0 to 1.
    pub share: f64,
    /// Its pose then.
    pub pose: Isometry3<f64>,
}

impl Waypoint {
    /// Limit of waypoints of a body in a frame, so that a recording grows by at most so many keys: of more blows the first seven and
    /// the last are kept.
    pub const MAX: usize = 8;

    /// `None` at the start of the frame, where no way was before it.
    pub(crate) fn new(share: f64, pose: Isometry3<f64>) -> Option<Self> {
        (share > 0.0 && share <= 1.0).then_some(Self { share, pose })
    }
}
