//! Poses between two frames, for display at another rate than that of the physics.

use nalgebra::{Isometry3, Translation3};

use crate::world::waypoint::Waypoint;
use crate::{BodyId, World};

/// Sine of half the angle between two orientations below which the nearer one is taken.
const NO_ARC: f64 = 1e-9;

impl World {
    /// All bodies with poses interpolated at `t` between the end of the frame before the last, 0,
    /// and the end of the last, 1: positions along a line, rotations along the shorter arc, both
    /// through [`World::waypoints`]. Values beyond are clamped. A body added in the last frame
    /// starts at its first pose, a piece at its pose as a part of its parent, and one placed by
    /// [`World::set_pose`] is at that pose.
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
        (0..self.len()).map(move |i| (self.ids[i], self.pose_at(i, t)))
    }

    /// The pose of one body by [`World::interpolated`]; `None` if there is no such body.
    pub fn interpolated_pose(&self, id: BodyId, t: f64) -> Option<Isometry3<f64>> {
        let i = self.ids.binary_search(&id).ok()?;
        Some(self.pose_at(i, t))
    }

    /// The poses of a body at its collisions in the last frame, in order of time and at most
    /// [`Waypoint::MAX`], so that interpolation shows each touch. A piece includes the collisions
    /// of its parent. Empty for resting contact, with [`contact::Solver::Ku07`], and if there is no
    /// such body.
    pub fn waypoints(&self, id: BodyId) -> &[Waypoint] {
        self.ids.binary_search(&id).map_or(&[], |i| &self.display.waypoints[i])
    }

    /// The pose of a body at a share of the last frame.
    fn pose_at(&self, i: usize, t: f64) -> Isometry3<f64> {
        let (mut from, mut start) = (&self.display.previous[i], 0.0);
        for Waypoint { share, pose } in &self.display.waypoints[i] {
            if t < *share {
                return between(from, pose, (t - start) / (share - start));
            }
            (from, start) = (pose, *share);
        }
        between(from, &self.poses[i], (t - start) / (1.0 - start))
    }

    /// Stores the poses of bodies at the collisions of a pass.
    pub(crate) fn add_waypoints(&mut self, waypoints: &[contact::Waypoint]) {
        let dt = self.settings.dt;
        for contact::Waypoint { body, time, pose } in waypoints {
            self.display.waypoints[*body as usize].extend(Waypoint::new(time / dt, *pose));
        }
    }

    /// Removes the last waypoints, those of a discarded pass.
    pub(crate) fn remove_waypoints(&mut self, waypoints: &[contact::Waypoint]) {
        for contact::Waypoint { body, time, .. } in waypoints {
            if *time > 0.0 {
                self.display.waypoints[*body as usize].pop();
            }
        }
    }

    /// Completes the waypoints of this frame at the last collision of bodies, while it is known.
    pub(crate) fn close_waypoints(&mut self) {
        for i in 0..self.len() {
            let since = self.flights[i].since / self.settings.dt;
            let found = std::mem::take(&mut self.display.waypoints[i]);
            let Some(last) = Waypoint::new(since, self.state_at_collision(i).0) else { continue };
            let waypoints = &mut self.display.waypoints[i];
            for waypoint in found.into_iter().chain([last]) {
                // several bodies may strike one at the same time, and an impact moves it off the
                // path of later ones
                waypoints.retain(|before| before.share < waypoint.share);
                waypoints.push(waypoint);
            }
            if waypoints.len() > Waypoint::MAX {
                waypoints.drain(Waypoint::MAX - 1..waypoints.len() - 1);
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
