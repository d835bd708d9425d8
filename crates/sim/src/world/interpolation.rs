//! Poses between two frames, for display at another rate than that of the physics.

use nalgebra::{Isometry3, Translation3};

use crate::world::corner::Corner;
use crate::{BodyId, World};

/// Sine below which the way between two rotations is no arc.
const NO_ARC: f64 = 1e-9;

impl World {
    /// All bodies with their poses at a share `t` of the way from the end of the frame before the last, 0, to
    /// the end of the last, 1: places along a line, rotations along the shorter arc, both by way of
    /// [`World::corner`]. Shares beyond are taken as the nearer end. A body that was added in the last frame starts at
    /// its first pose, a piece at its pose as a part of its parent, and one that [`World::set_pose`] placed is at that
    /// pose.
    ///
    /// ```
    /// use brisance_sim::{Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let (physics, display) = (world.settings().dt, 1.0 / 60.0);
    /// let mut ahead = 0.0;
    /// for _ in 0..120 {
    ///     ahead += display;
    ///     while ahead >= physics {
    ///         world.step();
    ///         ahead -= physics;
    ///     }
    ///     for (_body, _pose) in world.interpolated(ahead / physics) {
    ///         // draw it
    ///     }
    /// }
    /// ```
    pub fn interpolated(
        &self,
        t: f64,
    ) -> impl DoubleEndedIterator<Item = (BodyId, Isometry3<f64>)> + ExactSizeIterator {
        (0..self.len()).map(move |i| (self.ids[i], self.passed(i, t)))
    }

    /// The pose of one body as [`World::interpolated`] has it; `None` if there is no such body.
    pub fn interpolated_pose(&self, id: BodyId, t: f64) -> Option<Isometry3<f64>> {
        let i = self.ids.binary_search(&id).ok()?;
        Some(self.passed(i, t))
    }

    /// Where a body was at its last blow in the last frame, and a piece at the blow that it came of, so that what shows
    /// them between two frames shows the touch; `None` without a blow, of contacts that last, with
    /// [`contact::Solver::Ku07`], and if there is no such body.
    pub fn corner(&self, id: BodyId) -> Option<&Corner> {
        let i = self.ids.binary_search(&id).ok()?;
        self.corners[i].as_ref()
    }

    /// The pose of a body at a share of the last frame.
    fn passed(&self, i: usize, t: f64) -> Isometry3<f64> {
        let (from, to) = (&self.previous[i], &self.poses[i]);
        match &self.corners[i] {
            Some(Corner { share, pose }) if t < *share => between(from, pose, t / share),
            Some(Corner { share, pose }) => between(pose, to, (t - share) / (1.0 - share)),
            None => between(from, to, t),
        }
    }

    /// Keeps where bodies are at their last blows in this frame, as long as they fly from these.
    pub(crate) fn mark_corners(&mut self) {
        for i in 0..self.len() {
            if self.corners[i].is_none() {
                let (pose, _) = self.state_at_blow(i);
                self.corners[i] = Corner::new(self.flights[i].since / self.settings.dt, pose);
            }
        }
    }
}

fn between(from: &Isometry3<f64>, to: &Isometry3<f64>, t: f64) -> Isometry3<f64> {
    if t <= 0.0 {
        return *from;
    }
    if t >= 1.0 || t.is_nan() || from == to {
        return *to;
    }
    let (p, q) = (from.translation.vector, to.translation.vector);
    let turned = from.rotation.try_slerp(&to.rotation, t, NO_ARC);
    let rotation = turned.unwrap_or(if t < 0.5 { from.rotation } else { to.rotation });
    Isometry3::from_parts(Translation3::from(p + (q - p) * t), rotation)
}
