//! External actions on a world.
//!
//! They act between two frames, so that the energy of an explosion or the wind does not count as a
//! gain of contacts.

use std::f64::consts::PI;

use dynamics::{Body, Velocity};
use nalgebra::{Unit, Vector3};

use crate::script::event::Trigger;
use crate::script::timeline::{Action, Path, PathKey, TimedAction, Timeline, Wind};
use crate::world::steering::{SteeringError, check, check_pose};
use crate::{Report, World};

impl World {
    /// Replaces the timeline from now on.
    ///
    /// # Errors
    ///
    /// [`SteeringError::NotFinite`], [`SteeringError::NotARotation`] or
    /// [`SteeringError::PathOrder`] if a path has such keys; the timeline is then unchanged. Wind and
    /// explosions with unusable numbers are no error and have no effect.
    pub fn set_timeline(&mut self, timeline: Timeline) -> Result<(), SteeringError> {
        for Path { body, keys, in_frame } in &timeline.paths {
            check_pose(in_frame)?;
            for PathKey { time, pose } in keys {
                check([time])?;
                check_pose(pose)?;
            }
            if !keys.is_sorted_by(|from, to| from.time <= to.time) {
                return Err(SteeringError::PathOrder(*body));
            }
        }
        self.script.timeline = timeline;
        Ok(())
    }

    /// Schedules an action for the start of the next frame, after the actions of the timeline. Its
    /// index in recorded events follows those of the timeline.
    ///
    /// ```
    /// use brisance_sim::nalgebra::Point3;
    /// use brisance_sim::{Action, Explosion, Settings, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let blast = Explosion { at: Point3::origin(), radius: 2.0, impulse: 50.0 };
    /// world.schedule(Action::Explode(blast));
    /// world.step();
    /// ```
    pub fn schedule(&mut self, action: Action) {
        self.script.timeline.actions.push(TimedAction { frame: self.frame, action });
    }

    /// Projected area of a body along a direction, m^2: that of the ellipsoid in its bounding box.
    pub(super) fn projected_area(&self, i: usize, direction: &Unit<Vector3<f64>>) -> f64 {
        let half = self.shapes[i].bounds().extents() / 2.0;
        let d = self.poses[i].inverse_transform_vector(direction);
        let across = Vector3::new(half.y * half.z, half.z * half.x, half.x * half.y);
        PI * d.component_mul(&across).norm()
    }

    /// Applies the actions that are due before this frame.
    pub(crate) fn apply_actions(&mut self, report: &mut Report) {
        self.break_overloaded_anchors(report);
        let before = self.mechanical_energy();
        let numbered = self.script.timeline.actions.iter().copied().enumerate();
        let due: Vec<(usize, TimedAction)> =
            numbered.filter(|(_, timed)| timed.frame == self.frame).collect();
        for (n, TimedAction { action, .. }) in due {
            let has_effect = match action {
                Action::Cut { from, to } => self.cut_all(from, to, &mut report.events),
                Action::Explode(explosion) => {
                    let cause = Trigger::Explosion(n);
                    explosion.is_usable() && self.explode(&explosion, cause, report)
                }
                Action::Push { body, impulse, at } => {
                    self.apply_impulse(body, &impulse, at.as_ref()).is_ok()
                }
            };
            report.events.idle_actions.extend((!has_effect).then_some(n));
        }
        self.apply_torques();
        self.apply_wind_drag();
        self.set_path_velocities();
        self.approach_targets();
        report.energy.work += self.mechanical_energy() - before;
    }

    /// The drag of the wind in a frame. Quadratic drag slows a speed u to `u / (1 + c u dt)`, for
    /// any time step.
    fn apply_wind_drag(&mut self) {
        let Some(wind) = self.script.timeline.wind.filter(Wind::is_usable) else { return };
        let dt = self.settings.dt;
        for i in 0..self.len() {
            let Body::Dynamic(mass) = self.acting[i] else { continue };
            let past = wind.velocity - self.momenta[i].linear / mass.mass();
            let Some(direction) = Unit::try_new(past, 0.0) else { continue };
            let drag = 0.5 * wind.density * wind.drag * self.projected_area(i, &direction);
            let share = drag * past.norm() * dt / mass.mass();
            self.momenta[i].linear += past * (mass.mass() * share / (1.0 + share));
        }
    }

    /// Sets the velocity of bodies on paths that takes them to their poses at the end of the frame.
    fn set_path_velocities(&mut self) {
        let dt = self.settings.dt;
        let end = (self.frame + 1) as f64 * dt;
        for path in &self.script.timeline.paths {
            let Ok(i) = self.ids.binary_search(&path.body) else { continue };
            let (Some(pose), Body::Kinematic(_)) = (path.at(end), self.bodies[i]) else { continue };
            let velocity = Velocity::between(&self.poses[i], &pose, dt);
            self.bodies[i] = Body::Kinematic(velocity);
            self.acting[i] = self.bodies[i];
        }
    }
}
