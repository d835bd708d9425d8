//! The motion of one body over a step.

use dynamics::Velocity;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};

use crate::narrow::flight::Turning;
use crate::shape::Shape;
use crate::shape::field::Field;

/// A body over the step; times are shares of it.
pub(crate) struct Motion<'a> {
    pub(crate) shape: &'a Shape,
    /// Pose at the virtual start of its free flight.
    pub(crate) start: &'a Isometry3<f64>,
    /// Pose at the start of the step or at the creation of the body.
    pub(crate) entry: &'a Isometry3<f64>,
    pub(crate) end: &'a Isometry3<f64>,
    /// Velocity at the middle of the step.
    pub(crate) velocity: &'a Velocity,
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// Displacement by forces over the step, m.
    pub(crate) fall: Vector3<f64>,
    /// Restitution threshold: approach speed below which the body does not collide, m/s.
    pub(crate) resting: f64,
    /// Time of its last collision.
    pub(crate) from: f64,
    /// Orientation at that time.
    pub(crate) rotation: UnitQuaternion<f64>,
    /// Orientations from that time on, if the body turns far.
    pub(crate) turning: Option<&'a Turning>,
}

impl Motion<'_> {
    /// The pose at a time from [`Self::from`] on.
    pub(crate) fn at(&self, time: f64) -> Isometry3<f64> {
        if time == 1.0 {
            return *self.end;
        }
        let place = self.place(time);
        if let Some(turning) = self.turning {
            let rotation = turning.rotation((time - self.from) * self.dt);
            return Isometry3::from_parts(place.into(), rotation);
        }
        let pose = Isometry3::from_parts(place.into(), self.rotation);
        if time == self.from {
            return pose;
        }
        let share = (time - self.from) / (1.0 - self.from);
        Velocity { linear: Vector3::zeros(), angular: self.turn() }.integrate(&pose, share)
    }

    /// Position of the center of mass at a time.
    pub(super) fn place(&self, time: f64) -> Vector3<f64> {
        let (from, to) = (&self.start.translation.vector, &self.end.translation.vector);
        from + (to - from) * time - self.fall * (time * (1.0 - time))
    }

    /// The rotation vector from the last collision to the end, rad.
    pub(super) fn turn(&self) -> Vector3<f64> {
        let start = Isometry3::from_parts(self.end.translation, self.rotation);
        Velocity::between(&start, self.end, 1.0).angular
    }

    /// The lever arm with which [`Self::velocity`] takes a point of the body along its chord
    /// between two times, m. `point` is in body coordinates, `arm` from the center of mass to it at
    /// the second time. The contact point of a rolling body moves over its surface: for a solid of
    /// revolution only the change of the angle between its axis and the contact `normal` counts, and
    /// for a ball nothing.
    ///
    /// It points to the middle of the chord, and its part across the axis is scaled by `tan(h) / h`
    /// for the half angle `h` (Cayley map), evaluated as a series. The tangent at the end of the
    /// arc would miss the chord.
    pub(super) fn chord_arm(
        &self,
        [since, time]: [f64; 2],
        [point, arm]: [&Vector3<f64>; 2],
        normal: &Vector3<f64>,
    ) -> Vector3<f64> {
        let spin = self.velocity.angular;
        let half = 0.5 * self.dt * (time - since);
        // points of the body move by less than round-off
        if half * half * spin.norm_squared() < f64::EPSILON {
            return *arm;
        }
        match self.shape.field() {
            Field::Ball { .. } => *arm,
            Field::Round(_) => {
                let axes = [since, time].map(|time| self.at(time).rotation * Vector3::y());
                // about the axis of tilting, with the azimuth at the second time
                let Some(across) = normal.cross(&axes[1]).try_normalize(f64::EPSILON.sqrt()) else {
                    return *arm;
                };
                let [from, to] = axes.map(|axis| libm::acos(axis.dot(normal).clamp(-1.0, 1.0)));
                let tilt = across * (to - from);
                if tilt.norm_squared() < f64::EPSILON {
                    return *arm;
                }
                let back = UnitQuaternion::from_scaled_axis(-tilt);
                middle_of_chord([back * arm, *arm], &(0.5 * tilt))
            }
            _ => middle_of_chord([self.at(since).rotation * point, *arm], &(spin * half)),
        }
    }

    /// Angle of rotation over the rest of the step, rad.
    pub(super) fn spin(&self) -> f64 {
        self.velocity.angular.norm() * (self.dt * (1.0 - self.from))
    }

    /// Velocity at a time.
    pub(super) fn velocity_at(&self, time: f64) -> Velocity {
        let angular = match self.turning {
            Some(turning) => turning.angular_velocity((time - self.from) * self.dt),
            None => self.velocity.angular,
        };
        Velocity { angular, ..*self.velocity }
    }

    /// Half the smallest extent, which another body must not skip in one move, m.
    pub(super) fn half_thickness(&self) -> f64 {
        self.shape.half_thickness()
    }
}

/// The middle of the chord between two positions of a point, m, with its part across the axis of
/// rotation scaled by `tan(h) / h`; `half_turn` is the vector of the half angle `h`, rad.
fn middle_of_chord(ends: [Vector3<f64>; 2], half_turn: &Vector3<f64>) -> Vector3<f64> {
    let square = half_turn.norm_squared();
    let middle = 0.5 * (ends[0] + ends[1]);
    let across = middle - half_turn * (half_turn.dot(&middle) / square);
    middle + across * (square * (1.0 / 3.0 + square * (2.0 / 15.0)))
}
