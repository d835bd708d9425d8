//! External influences on a world: wind, events and paths of kinematic bodies.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::BodyId;
use crate::world::limits::MAX_NUMBER;

/// Moving air. It has no effect if a number is not finite or beyond 1e30, or density or drag is
/// negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wind {
    /// Its velocity, m/s.
    pub velocity: Vector3<f64>,
    /// Its density, kg/m^3.
    pub density: f64,
    /// Drag coefficient of bodies.
    pub drag: f64,
}

impl Wind {
    pub(crate) fn is_usable(&self) -> bool {
        let mut numbers = self.velocity.iter().chain([&self.density, &self.drag]);
        numbers.all(|x| x.abs() <= MAX_NUMBER) && self.density >= 0.0 && self.drag >= 0.0
    }
}

/// A blast. It has no effect if a number but the radius is not finite or beyond 1e30.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explosion {
    /// Its center, m.
    pub at: Point3<f64>,
    /// Radius of its effect, m.
    pub radius: f64,
    /// Impulse per area at the center, Pa s; it falls linearly to zero at the radius.
    pub impulse: f64,
}

impl Explosion {
    pub(crate) fn is_usable(&self) -> bool {
        let mut numbers = self.at.iter().chain([&self.impulse]);
        numbers.all(|x| x.abs() <= MAX_NUMBER) && !self.radius.is_nan()
    }
}

/// A single action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// See [`World::cut`](crate::World::cut).
    Cut {
        /// The ends of the edge before, m.
        from: [Point3<f64>; 2],
        /// The ends of the edge after, m.
        to: [Point3<f64>; 2],
    },
    /// Pushes bodies within the radius away from the center. The impulse per area acts on the part of
    /// a body that is visible from the center, projected along the line to the center of mass. Bodies
    /// shield those behind them. Weaker bodies break first, at their point nearest to the center, and
    /// their pieces are pushed instead.
    Explode(Explosion),
    /// See [`World::apply_impulse`](crate::World::apply_impulse).
    Push {
        /// The body.
        body: BodyId,
        /// Impulse, N s.
        impulse: Vector3<f64>,
        /// Position in the world, m; `None` for the center of mass.
        at: Option<Point3<f64>>,
    },
}

/// The path of a kinematic body.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The body.
    pub body: BodyId,
    /// Poses of a coordinate frame in which the body is fixed, at ascending times. Between two keys
    /// the origin of the frame moves along a line, and the frame rotates, both at constant speed.
    /// Before the first and after the last key it rests.
    pub keys: Vec<PathKey>,
    /// The pose of the body in that frame. With the identity its center of mass moves along the
    /// lines; bodies with one frame in common move as one.
    pub in_frame: Isometry3<f64>,
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathKey {
    /// s.
    pub time: f64,
    /// Pose of the coordinate frame.
    pub pose: Isometry3<f64>,
}

impl Path {
    /// The pose of the body at a time; `None` if there are no keys.
    pub fn at(&self, time: f64) -> Option<Isometry3<f64>> {
        let next = self.keys.partition_point(|key| key.time <= time);
        let Some(to) = self.keys.get(next) else {
            return self.keys.last().map(|key| key.pose * self.in_frame);
        };
        let Some(from) = next.checked_sub(1).and_then(|n| self.keys.get(n)) else {
            return Some(to.pose * self.in_frame);
        };
        let share = (time - from.time) / (to.time - from.time);
        Some(from.pose.lerp_slerp(&to.pose, share) * self.in_frame)
    }
}

/// An action at the start of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedAction {
    /// Number of frames before it.
    pub frame: usize,
    /// The action.
    pub action: Action,
}

/// Wind, events and paths in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The wind, if any.
    pub wind: Option<Wind>,
    /// Actions, in order.
    pub actions: Vec<TimedAction>,
    /// Paths of kinematic bodies.
    pub paths: Vec<Path>,
}
