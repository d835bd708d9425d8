//! Poses for display between frames.

use nalgebra::Isometry3;

use crate::world::waypoint::Waypoint;

/// The way of each body to its current pose.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplayPoses {
    /// Poses at the end of the frame before the last; for bodies added or placed since, their first
    /// poses; for pieces, their poses as parts of their parent.
    pub(crate) previous: Vec<Isometry3<f64>>,
    /// Pose of each body at its collisions in the last frame; for pieces, also at the impact that
    /// broke their parent.
    pub(crate) waypoints: Vec<Vec<Waypoint>>,
}

impl DisplayPoses {
    /// Adds a body.
    pub(crate) fn push(&mut self, pose: Isometry3<f64>) {
        self.previous.push(pose);
        self.waypoints.push(Vec::new());
    }

    /// Removes body `i`.
    pub(crate) fn remove(&mut self, i: usize) {
        self.previous.remove(i);
        self.waypoints.remove(i);
    }
}
