//! Free flight between the collisions of a frame.
//!
//! A collision at time t leaves the body with a pose and a momentum at t. The world stores the
//! virtual start instead: the pose and momentum at the start of the step from which free flight
//! reaches the same state at t. All bodies then share one time, and later passes need no case for
//! collisions. The virtual start has the same mechanical energy, linear and angular momentum as the
//! state at t.

use dynamics::{Body, Momentum, Velocity, advance};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// The last collision of a body in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flight {
    /// Time of the collision, s since the start of the step; 0 without one.
    pub since: f64,
    /// Orientation of the body at the collision, if there was one.
    pub rotation: UnitQuaternion<f64>,
    /// Number of collisions of the body in this step.
    pub collisions: u32,
    /// Number of its collisions with bodies that are not dynamic.
    pub grounded_collisions: u32,
    /// Pose of the body at the start of the step or at its creation, if it collided since then.
    pub entry: Option<Isometry3<f64>>,
    /// Acceleration by contacts that still support the body after the collision, m/s^2. The virtual
    /// start does not include it.
    pub support: Vector3<f64>,
    /// The body's share of the energy dissipated by the collisions, J.
    pub dissipated: f64,
}

/// The free flight of each body over the step, as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Poses at the start of the step.
    pub poses: Vec<Isometry3<f64>>,
    /// Momenta at the start of the step.
    pub momenta: Vec<Momentum>,
    /// The last collision of each body.
    pub flights: Vec<Flight>,
}

impl Flight {
    /// The pose and momentum of a body at its collision, from its virtual start `pose` and
    /// `momentum` under a constant `acceleration` in m/s^2.
    pub fn state(
        &self,
        body: &Body,
        pose: &Isometry3<f64>,
        momentum: &Momentum,
        acceleration: &Vector3<f64>,
    ) -> (Isometry3<f64>, Momentum) {
        let Some(mass) = body.mass_properties().filter(|_| self.since > 0.0) else {
            return (*pose, *momentum);
        };
        let time = self.since;
        let velocity = momentum.linear / mass.mass();
        let place = pose.translation.vector + (velocity + acceleration * (0.5 * time)) * time;
        let linear = momentum.linear + acceleration * (mass.mass() * time);
        let pose = Isometry3::from_parts(Translation3::from(place), self.rotation);
        (pose, Momentum { linear, ..*momentum })
    }

    /// The flight, pose and momentum at the virtual start of a body with `pose` and `momentum` at
    /// time `since`, s.
    pub fn starting(
        since: f64,
        body: &Body,
        pose: &Isometry3<f64>,
        momentum: &Momentum,
        acceleration: &Vector3<f64>,
    ) -> (Self, Isometry3<f64>, Momentum) {
        let Some(mass) = body.mass_properties().filter(|_| since > 0.0) else {
            return (Self::default(), *pose, *momentum);
        };
        let velocity = momentum.linear / mass.mass();
        let place = pose.translation.vector - (velocity - acceleration * (0.5 * since)) * since;
        let rotation = advance(body, pose, momentum, -since).rotation;
        let linear = momentum.linear - acceleration * (mass.mass() * since);
        let start = Isometry3::from_parts(Translation3::from(place), rotation);
        let flight = Self { since, rotation: pose.rotation, entry: Some(*pose), ..Self::default() };
        (flight, start, Momentum { linear, ..*momentum })
    }
}

/// Rotation per piece of a [`Turning`], rad.
const PIECE: f64 = 0.25;
/// Largest number of pieces.
const MAX_PIECES: f64 = 1024.0;

/// The orientations of a turning body over a step: the angular velocity of a free body is not
/// constant.
#[derive(Clone, Debug)]
pub(crate) struct Turning {
    /// At equal intervals from the last collision to the end of the step.
    rotations: Vec<UnitQuaternion<f64>>,
    body: Body,
    momentum: Momentum,
    /// Time between consecutive orientations, s.
    interval: f64,
}

impl Turning {
    /// `None` if a body with `velocity` at the start of the step hardly turns. `pose` and
    /// `momentum` are those at the last collision, and `end` is the orientation after `rest` s.
    pub(crate) fn new(
        body: &Body,
        velocity: &Velocity,
        (pose, momentum): (&Isometry3<f64>, &Momentum),
        (end, rest): (&UnitQuaternion<f64>, f64),
    ) -> Option<Self> {
        let angle = velocity.angular.norm() * rest;
        if !(angle > PIECE && angle.is_finite()) {
            return None;
        }
        let pieces = (angle / PIECE).ceil().min(MAX_PIECES) as usize;
        let interval = rest / pieces as f64;
        let mut rotations = vec![pose.rotation];
        let mut at = *pose;
        for _ in 1..pieces {
            at = advance(body, &at, momentum, interval);
            rotations.push(at.rotation);
        }
        rotations.push(*end);
        Some(Self { rotations, body: *body, momentum: *momentum, interval })
    }

    /// Index of the piece at a time since the last collision, s, and the time within the piece.
    fn piece(&self, time: f64) -> (usize, f64) {
        let last = self.rotations.len() - 2;
        let piece = ((time / self.interval) as usize).min(last);
        (piece, time - piece as f64 * self.interval)
    }

    /// Orientation at a time since the last collision, s.
    pub(crate) fn rotation(&self, time: f64) -> UnitQuaternion<f64> {
        let (piece, within) = self.piece(time);
        let turn = self.rotations[piece].rotation_to(&self.rotations[piece + 1]).scaled_axis();
        UnitQuaternion::from_scaled_axis(turn * (within / self.interval)) * self.rotations[piece]
    }

    /// Angular velocity at a time since the last collision, rad/s.
    pub(crate) fn angular_velocity(&self, time: f64) -> Vector3<f64> {
        self.body.velocity(&self.rotation(time), &self.momentum).angular
    }
}
